#include "collectors/virtual_gpu/cupti/activity_switches.h"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "collectors/virtual_gpu/cupti/listener.h"

namespace attnscope::vgpu::cupti {
namespace {

static_assert(CUPTI_ACTIVITY_KIND_COUNT <= 64);
constexpr size_t api_count = 1024;
static_assert(CUPTI_DRIVER_TRACE_CBID_SIZE <= api_count && CUPTI_RUNTIME_TRACE_CBID_SIZE <= api_count);

struct Override {
    uint64_t on = 0;
    uint64_t off = 0;
};

std::atomic<uint64_t> kinds{0};
std::array<std::atomic<uint8_t>, api_count> driver_calls{};
std::array<std::atomic<uint8_t>, api_count> runtime_calls{};
std::atomic<bool> any_override{false};
std::shared_mutex& override_mutex = *new std::shared_mutex;
std::map<uint32_t, Override>& overrides = *new std::map<uint32_t, Override>;

uint64_t bit(CUpti_ActivityKind kind) {
    return uint64_t{1} << kind;
}

std::array<std::atomic<uint8_t>, api_count>* calls_of(uint32_t domain) {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return &driver_calls;
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) return &runtime_calls;
    return nullptr;
}

void set_all(std::array<std::atomic<uint8_t>, api_count>& calls, bool on) {
    for (auto& call : calls) call.store(on, std::memory_order_relaxed);
}

bool any(const std::array<std::atomic<uint8_t>, api_count>& calls) {
    for (const auto& call : calls)
        if (call.load(std::memory_order_relaxed)) return true;
    return false;
}

/// -1 off, 1 on, 0 no word about this context.
int override_of(CUpti_ActivityKind kind, uint32_t context_id) {
    if (!any_override.load(std::memory_order_acquire)) return 0;
    const std::shared_lock lock(override_mutex);
    const auto found = overrides.find(context_id);
    if (found == overrides.end()) return 0;
    if (found->second.on & bit(kind)) return 1;
    return found->second.off & bit(kind) ? -1 : 0;
}

}  // namespace

CUptiResult check_kind(CUpti_ActivityKind kind) {
    if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
        return CUPTI_ERROR_INVALID_KIND;
    switch (kind) {
        case CUPTI_ACTIVITY_KIND_MEMCPY:
        case CUPTI_ACTIVITY_KIND_MEMSET:
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_DRIVER:
        case CUPTI_ACTIVITY_KIND_RUNTIME:
        case CUPTI_ACTIVITY_KIND_DEVICE:
        case CUPTI_ACTIVITY_KIND_CONTEXT:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        case CUPTI_ACTIVITY_KIND_OVERHEAD:
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
        case CUPTI_ACTIVITY_KIND_MODULE:
        case CUPTI_ACTIVITY_KIND_STREAM:
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            return CUPTI_SUCCESS;
        default:
            return CUPTI_ERROR_NOT_COMPATIBLE;
    }
}

void switch_kind(CUpti_ActivityKind kind, bool on) {
    if (on)
        kinds.fetch_or(bit(kind));
    else
        kinds.fetch_and(~bit(kind));
    // The kind overrides what was chosen function by function before.
    if (kind == CUPTI_ACTIVITY_KIND_DRIVER) set_all(driver_calls, on);
    if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) set_all(runtime_calls, on);
    refresh_hooks();
}

void switch_kind_of_context(uint32_t context_id, CUpti_ActivityKind kind, bool on) {
    {
        const std::unique_lock lock(override_mutex);
        Override& entry = overrides[context_id];
        (on ? entry.on : entry.off) |= bit(kind);
        (on ? entry.off : entry.on) &= ~bit(kind);
        any_override.store(true, std::memory_order_release);
    }
    refresh_hooks();
}

void switch_api(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool on) {
    if (auto* calls = calls_of(domain); calls && cbid < api_count)
        (*calls)[cbid].store(on, std::memory_order_relaxed);
    refresh_hooks();
}

void switch_everything_off() {
    kinds.store(0);
    set_all(driver_calls, false);
    set_all(runtime_calls, false);
    {
        const std::unique_lock lock(override_mutex);
        overrides.clear();
        any_override.store(false);
    }
    refresh_hooks();
}

bool kind_enabled(CUpti_ActivityKind kind) {
    return kinds.load(std::memory_order_relaxed) & bit(kind);
}

bool kind_wanted(CUpti_ActivityKind kind, uint32_t context_id) {
    const int word = override_of(kind, context_id);
    return word ? word > 0 : kind_enabled(kind);
}

bool api_wanted(uint32_t domain, uint32_t cbid, uint32_t context_id) {
    const auto* calls = calls_of(domain);
    if (!calls || cbid >= api_count) return false;
    const int word = override_of(
        domain == CUPTI_CB_DOMAIN_DRIVER_API ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME,
        context_id);
    return word ? word > 0 : (*calls)[cbid].load(std::memory_order_relaxed);
}

bool anything_enabled() {
    return kinds.load() != 0 || any_override.load() || any(driver_calls) || any(runtime_calls);
}

}  // namespace attnscope::vgpu::cupti
