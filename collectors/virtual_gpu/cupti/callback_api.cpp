#include "collectors/virtual_gpu/cupti/callback_api.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/listener.h"
#include "collectors/virtual_gpu/cupti/result.h"
#include "collectors/virtual_gpu/cupti/threads.h"

/// What a CUpti_SubscriberHandle points to. Kept after unsubscribing: a callback may still be running.
struct CUpti_Subscriber_st {
    CUpti_CallbackFunc function;
    void* user;
    std::string name;
};

namespace attnscope::vgpu::cupti {
namespace {

constexpr size_t cbid_count = 1024;
constexpr std::array<uint32_t, CUPTI_CB_DOMAIN_SIZE> domain_sizes = {0,
                                                                     CUPTI_DRIVER_TRACE_CBID_SIZE,
                                                                     CUPTI_RUNTIME_TRACE_CBID_SIZE,
                                                                     CUPTI_CBID_RESOURCE_SIZE,
                                                                     CUPTI_CBID_SYNCHRONIZE_SIZE,
                                                                     CUPTI_CBID_NVTX_SIZE,
                                                                     CUPTI_CBID_STATE_SIZE};

std::atomic<CUpti_SubscriberHandle> current{nullptr};
std::array<std::array<std::atomic<uint8_t>, cbid_count>, CUPTI_CB_DOMAIN_SIZE> enabled{};
std::mutex& subscribing = *new std::mutex;

bool wanted(uint32_t domain, uint32_t cbid) {
    return cbid < cbid_count && enabled[domain][cbid].load(std::memory_order_relaxed);
}

bool valid(CUpti_CallbackDomain domain) {
    return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE;
}
bool valid(CUpti_SubscriberHandle subscriber) {
    return subscriber && subscriber == current.load();
}

void set_domain(CUpti_CallbackDomain domain, bool on) {
    for (uint32_t cbid = 1; cbid < domain_sizes[domain]; ++cbid)
        enabled[domain][cbid].store(on, std::memory_order_relaxed);
}

bool strict() {
    static const bool value = std::getenv("ATTNSCOPE_VGPU_STRICT") != nullptr;
    return value;
}

/// The header: outside launches the symbol's name is not valid. A strict run makes a client that reads it
/// anyway fail at once.
const char* symbol_of(const ApiCall& call) {
    return call.symbol || !strict() ? call.symbol : reinterpret_cast<const char*>(uintptr_t{1});
}

/// The header calls callback 0 invalid. Triton 3.6's Proton enables it by accident (arrays one longer than
/// their initialisers) and throws at any answer but SUCCESS, and it works on real GPUs: so the real library
/// takes it.
bool callback_zero_tolerated() {
    if (strict()) return false;
    report("warning", "cupti-callback-zero",
           "callback 0 was enabled or disabled: CUPTI's header calls it invalid",
           "set ATTNSCOPE_VGPU_STRICT=1 to have it refused");
    return true;
}

CUptiResult refuse_second(const std::string& holder, const CUpti_SubscriberParams* params) {
    if (params && params->oldSubscriberName && params->oldSubscriberSize > 0) {
        const size_t length = std::min(holder.size(), params->oldSubscriberSize - 1);
        std::memcpy(params->oldSubscriberName, holder.data(), length);
        params->oldSubscriberName[length] = '\0';
    }
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc function, void* user,
                      CUpti_SubscriberParams* params) {
    if (!handle || !function || (params && !complete(params, CUpti_SubscriberParams_STRUCT_SIZE)))
        return CUPTI_ERROR_INVALID_PARAMETER;
    const std::lock_guard lock(subscribing);
    if (fault_happens(Fault::subscriber)) return refuse_second("CUPTI for another tool", params);
    if (const CUpti_SubscriberHandle holder = current.load()) return refuse_second(holder->name, params);
    std::string name = "CUPTI";
    if (params && params->subscriberName)
        name = "CUPTI for " + std::string(params->subscriberName,
                                          strnlen(params->subscriberName, CUPTI_SUBSCRIBER_NAME_MAX_LEN));
    *handle = new CUpti_Subscriber_st{function, user, name};
    for (auto& domain : enabled)
        for (auto& callback : domain) callback.store(0, std::memory_order_relaxed);
    current.store(*handle, std::memory_order_release);
    return CUPTI_SUCCESS;
}

}  // namespace

bool anybody_subscribed() {
    return current.load() != nullptr;
}

void drop_subscriber() {
    current.store(nullptr);
    refresh_hooks();
}

void call_back(ApiCall& call, CUpti_ApiCallbackSite site) {
    const auto domain = static_cast<CUpti_CallbackDomain>(call.domain);
    if (!wanted(domain, call.cbid)) return;
    const CUpti_SubscriberHandle subscriber = current.load(std::memory_order_acquire);
    if (!subscriber) return;
    CUpti_CallbackData data{};
    data.callbackSite = site;
    data.functionName = call.function;
    data.functionParams = call.parameters;
    data.functionReturnValue = site == CUPTI_API_EXIT ? &call.result : nullptr;
    data.symbolName = symbol_of(call);
    data.context = static_cast<CUcontext>(call.context);
    data.contextUid = call.context_id;
    data.correlationData = &call.correlation_data;
    data.correlationId = call.correlation;
    subscriber->function(subscriber->user, domain, call.cbid, &data);
}

void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
    if (!wanted(domain, cbid)) return;
    const CUpti_SubscriberHandle subscriber = current.load(std::memory_order_acquire);
    if (!subscriber) return;
    const Inside inside(this_thread().in_object_callback);
    subscriber->function(subscriber->user, domain, cbid, data);
}

}  // namespace attnscope::vgpu::cupti

using namespace attnscope::vgpu::cupti;

CUptiResult cuptiSupportedDomains(size_t* count, CUpti_DomainTable* table) {
    ATTNSCOPE_FAULT_POINT;
    static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                             CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE};
    if (!count || !table) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    *count = std::size(domains);
    *table = domains;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* user) {
    ATTNSCOPE_FAULT_POINT;
    return answer(subscribe(subscriber, callback, user, nullptr));
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* user,
                              CUpti_SubscriberParams* params) {
    ATTNSCOPE_FAULT_POINT;
    return answer(subscribe(subscriber, callback, user, params));
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
    ATTNSCOPE_FAULT_POINT;
    if (!valid(subscriber)) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    drop_subscriber();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle subscriber,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
    ATTNSCOPE_FAULT_POINT;
    if (!enable || !valid(subscriber) || !valid(domain) || cbid == 0 || cbid >= domain_sizes[domain])
        return answer(CUPTI_ERROR_INVALID_PARAMETER);
    *enable = wanted(domain, cbid);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
    ATTNSCOPE_FAULT_POINT;
    if (!valid(subscriber) || !valid(domain) || cbid >= domain_sizes[domain])
        return answer(CUPTI_ERROR_INVALID_PARAMETER);
    if (cbid == 0) return callback_zero_tolerated() ? CUPTI_SUCCESS : answer(CUPTI_ERROR_INVALID_PARAMETER);
    enabled[domain][cbid].store(enable != 0, std::memory_order_relaxed);
    refresh_hooks();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                              CUpti_CallbackDomain domain) {
    ATTNSCOPE_FAULT_POINT;
    if (!valid(subscriber) || !valid(domain)) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    if (enable && domain == CUPTI_CB_DOMAIN_NVTX)
        attnscope::vgpu::report_unsupported("CUPTI", "callbacks of the NVTX domain");
    set_domain(domain, enable != 0);
    refresh_hooks();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber) {
    ATTNSCOPE_FAULT_POINT;
    if (!valid(subscriber)) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; ++domain)
        set_domain(static_cast<CUpti_CallbackDomain>(domain), enable != 0);
    refresh_hooks();
    return CUPTI_SUCCESS;
}
