// Host memory that the program registered (cuMemHostRegister).
#include <map>
#include <shared_mutex>

#include "collectors/virtual_gpu/core/memory.h"

namespace attnscope::vgpu {

namespace {
struct Registered {
    std::shared_mutex mutex;
    std::map<uintptr_t, RegisteredRange> ranges;  ///< by base; they do not overlap
    std::atomic<size_t> count{0};
};
Registered& registered() {
    static auto* r = new Registered();
    return *r;
}
}  // namespace

bool register_host_range(const RegisteredRange& range) {
    Registered& r = registered();
    std::unique_lock lock(r.mutex);
    auto next = r.ranges.lower_bound(range.base);
    if (next != r.ranges.end() && next->first < range.base + range.bytes) return false;
    if (next != r.ranges.begin() && std::prev(next)->second.base + std::prev(next)->second.bytes > range.base)
        return false;
    r.ranges.emplace(range.base, range);
    r.count = r.ranges.size();
    return true;
}

bool unregister_host_range(uintptr_t base) {
    Registered& r = registered();
    std::unique_lock lock(r.mutex);
    const bool found = r.ranges.erase(base) != 0;
    r.count = r.ranges.size();
    return found;
}

std::optional<RegisteredRange> registered_range(uintptr_t address) {
    Registered& r = registered();
    if (r.count.load(std::memory_order_relaxed) == 0) return std::nullopt;
    std::shared_lock lock(r.mutex);
    auto next = r.ranges.upper_bound(address);
    if (next == r.ranges.begin()) return std::nullopt;
    const RegisteredRange& range = std::prev(next)->second;
    if (address - range.base >= range.bytes) return std::nullopt;
    return range;
}

}  // namespace attnscope::vgpu
