#include "collectors/virtual_gpu/observer.h"

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "collectors/virtual_gpu/core/entry.h"
#include "collectors/virtual_gpu/core/location.h"
#include "collectors/virtual_gpu/core/observer.h"

namespace attnscope::vgpu {

namespace {

using Event = std::function<void(const AttnscopeVgpuObserver&)>;

// A program that nobody observes must not fill its memory with events: the first ones are kept, the rest are
// counted.
constexpr size_t kept_events = 65536;

struct State {
    std::mutex mutex;
    AttnscopeVgpuObserver observer{};
    bool observed = false;
    std::vector<Event> kept;
    uint64_t lost = 0;
    std::set<std::pair<int, std::string>> assumed;
    std::map<std::pair<std::string, std::string>, uint64_t> said;
};
State& state() {
    static auto* s = new State();
    return *s;
}

// Callbacks are called with no lock held, so they may come in another order than the events: correlations
// tell it.
void tell(Event event) {
    State& s = state();
    AttnscopeVgpuObserver observer{};
    {
        std::lock_guard lock(s.mutex);
        if (!s.observed) {
            if (s.kept.size() < kept_events) {
                s.kept.push_back(std::move(event));
            } else {
                s.lost++;
            }
            return;
        }
        observer = s.observer;
    }
    event(observer);
}

bool has(const AttnscopeVgpuObserver& observer, size_t end_of_member) {
    return observer.size >= end_of_member;
}
#define ATTNSCOPE_HAS(observer, member) \
    (has(observer, offsetof(AttnscopeVgpuObserver, member) + sizeof(void*)) && (observer).member != nullptr)

}  // namespace

void report(const char* severity, const char* code, const std::string& message, const std::string& remedy) {
    {
        State& s = state();
        std::lock_guard lock(s.mutex);
        if (++s.said[{code, message}] > 1) return;
    }
    tell([severity = std::string(severity), code = std::string(code), message,
          remedy](const AttnscopeVgpuObserver& o) {
        if (!ATTNSCOPE_HAS(o, diagnostic)) return;
        const AttnscopeVgpuDiagnostic d{sizeof(d),     0, severity.c_str(), code.c_str(), message.c_str(),
                                        remedy.c_str()};
        o.diagnostic(o.user, &d);
    });
}

void report_unsupported(const char* library, const char* function) {
    report("warning", "unsupported-function",
           std::string(library) + ": " + function +
               " is not emulated; the program was given the not-supported error",
           "run this part of the program on a real GPU");
}

void report_assumed_figure(int device, const char* key) {
    {
        State& s = state();
        std::lock_guard lock(s.mutex);
        if (!s.assumed.insert({device, key}).second) return;
    }
    tell([device, key = std::string(key)](const AttnscopeVgpuObserver& o) {
        if (ATTNSCOPE_HAS(o, assumed_figure)) o.assumed_figure(o.user, device, key.c_str());
    });
}

void report_uncomputed_read(uint64_t bytes, const char* cause, const char* returned) {
    const std::string location = program_location();
    tell([bytes, cause, returned = std::string(returned), location](const AttnscopeVgpuObserver& o) {
        if (!ATTNSCOPE_HAS(o, uncomputed_read)) return;
        const AttnscopeUncomputedRead read{
            sizeof(read), 0, bytes, cause, returned.c_str(), location.empty() ? nullptr : location.c_str()};
        o.uncomputed_read(o.user, &read);
    });
}

void report_library_call(const LibraryCall& call, uint32_t correlation, int device, uint32_t stream_id) {
    auto pass = [correlation, device, stream_id](const LibraryCall& c, const AttnscopeVgpuObserver& o) {
        if (!ATTNSCOPE_HAS(o, library_call)) return;
        std::vector<AttnscopeAttribute> attributes;
        attributes.reserve(c.attributes.size());
        for (const Attribute& a : c.attributes)
            attributes.push_back({a.name.c_str(), a.text.empty() ? nullptr : a.text.c_str(), a.number});
        const AttnscopeLibraryCall out{
            sizeof(out), correlation,       device,
            stream_id,   c.library,         c.function,
            c.operation, attributes.data(), static_cast<uint32_t>(attributes.size())};
        o.library_call(o.user, &out);
    };
    tell([pass, call](const AttnscopeVgpuObserver& o) { pass(call, o); });
}

}  // namespace attnscope::vgpu

extern "C" ATTNSCOPE_VGPU_EXPORT int attnscopeVgpuSetObserver(const AttnscopeVgpuObserver* observer) {
    using namespace attnscope::vgpu;
    State& s = state();
    std::vector<Event> kept;
    uint64_t lost = 0;
    AttnscopeVgpuObserver copy{};
    {
        std::lock_guard lock(s.mutex);
        s.observed = observer != nullptr;
        if (!s.observed) return 0;
        const size_t known = sizeof(copy);
        __builtin_memcpy(&copy, observer, observer->size < known ? observer->size : known);
        s.observer = copy;
        kept.swap(s.kept);
        std::swap(lost, s.lost);
    }
    for (const Event& event : kept) event(copy);
    if (lost != 0)
        report("warning", "observer-late",
               std::to_string(lost) + " events before the observer came were not kept",
               "set the observer in InitializeInjection");
    return 0;
}
