#include "collectors/virtual_gpu/cupti/faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "collectors/virtual_gpu/core/api.h"

namespace attnscope::vgpu::cupti {
namespace {

struct ResultName {
    uint32_t number;
    std::string_view name;
};
constexpr ResultName results[] = {
#include "result_names.inc"
};
constexpr std::string_view functions[] = {
#include "function_names.inc"
};

/// Strikes at the n-th occasion; at each n-th with `every`.
struct Rule {
    uint64_t n = 1;
    bool every = true;
    std::atomic<uint64_t> seen{0};

    bool happens() {
        const uint64_t count = seen.fetch_add(1) + 1;
        return every ? count % n == 0 : count == n;
    }
};

struct CallRule : Rule {
    std::string_view function;
    CUptiResult result = CUPTI_SUCCESS;
};

struct Plan {
    bool any = false;
    std::list<CallRule> calls;
    std::array<Rule, fault_count> named;
    std::array<bool, fault_count> on{};
};

struct NamedFault {
    std::string_view name;
    Fault fault;
    bool every;         ///< each N-th, not the N-th alone
    bool needs_number;  ///< without one it would happen always
};
constexpr NamedFault named_faults[] = {
    {"subscriber", Fault::subscriber, true, false},
    {"unsupported-device", Fault::unsupported_device, true, false},
    {"drop-buffers", Fault::drop_buffers, true, true},
    {"drop-ranges", Fault::drop_ranges, true, true},
    {"undecodable", Fault::undecodable, false, false},
    {"extra-range", Fault::extra_range, false, true},
    {"hang-launch", Fault::hang_launch, false, true},
    {"gone-at-exit", Fault::gone_at_exit, false, false},
};

struct NamedCall {
    std::string_view name, function;
    CUptiResult result;
};
constexpr NamedCall named_calls[] = {
    {"privileges", "cuptiRangeProfilerEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES},
    {"busy", "cuptiRangeProfilerEnable", CUPTI_ERROR_HARDWARE_BUSY},
    {"out-of-memory", "cuptiRangeProfilerEnable", CUPTI_ERROR_OUT_OF_MEMORY},
    {"out-of-memory:Enable", "cuptiRangeProfilerEnable", CUPTI_ERROR_OUT_OF_MEMORY},
    {"out-of-memory:SetConfig", "cuptiRangeProfilerSetConfig", CUPTI_ERROR_OUT_OF_MEMORY},
    {"out-of-memory:Start", "cuptiRangeProfilerStart", CUPTI_ERROR_OUT_OF_MEMORY},
    // Seen of the real library on a machine without libcuda.
    {"no-driver", "cuptiSubscribe", CUPTI_ERROR_UNKNOWN},
    {"no-driver", "cuptiSubscribe_v2", CUPTI_ERROR_UNKNOWN},
    {"no-driver", "cuptiActivityEnable", CUPTI_ERROR_UNKNOWN},
    {"no-driver", "cuptiProfilerInitialize", CUPTI_ERROR_UNKNOWN},
    {"no-driver", "cuptiProfilerDeviceSupported", CUPTI_ERROR_UNKNOWN},
    {"no-driver", "cuptiActivityFlushAll", CUPTI_ERROR_UNKNOWN},
    {"no-driver", "cuptiActivityGetAttribute", CUPTI_ERROR_UNKNOWN},
};

std::optional<uint64_t> number(std::string_view text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0) return std::nullopt;
    return value;
}

std::optional<CUptiResult> result_named(std::string_view name) {
    constexpr std::string_view prefix = "CUPTI_ERROR_";
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    for (const ResultName& result : results)
        if (result.name.starts_with(prefix) && result.name.substr(prefix.size()) == name)
            return static_cast<CUptiResult>(result.number);
    return std::nullopt;
}

void add_call(Plan& plan, std::string_view function, uint64_t n, bool every, CUptiResult result) {
    CallRule& rule = plan.calls.emplace_back();
    rule.function = function;
    rule.n = n;
    rule.every = every;
    rule.result = result;
}

/// `function:n=RESULT`
bool take_call(Plan& plan, std::string_view item) {
    const size_t equals = item.find('='), colon = item.rfind(':', equals);
    if (equals == std::string_view::npos || colon == std::string_view::npos) return false;
    const std::string_view which = item.substr(colon + 1, equals - colon - 1);
    const auto* function = std::find(std::begin(functions), std::end(functions), item.substr(0, colon));
    const auto n = which == "*" ? std::optional<uint64_t>(1) : number(which);
    const auto result = result_named(item.substr(equals + 1));
    if (function == std::end(functions) || !n || !result) return false;
    add_call(plan, *function, *n, which == "*", *result);
    return true;
}

bool take_named(Plan& plan, std::string_view item) {
    bool found = false;
    for (const NamedCall& call : named_calls) {
        if (call.name != item) continue;
        add_call(plan, call.function, 1, true, call.result);
        found = true;
    }
    if (found) return true;
    const size_t colon = item.find(':');
    const bool numbered = colon != std::string_view::npos;
    const auto n = numbered ? number(item.substr(colon + 1)) : std::optional<uint64_t>(1);
    for (const NamedFault& fault : named_faults) {
        if (fault.name != item.substr(0, colon)) continue;
        if (!n || (fault.needs_number && !numbered)) return false;
        const auto index = static_cast<size_t>(fault.fault);
        plan.named[index].n = *n;
        plan.named[index].every = fault.every || !numbered;
        return plan.on[index] = true;
    }
    return false;
}

std::atomic<bool> gone{false};

Plan& plan() {
    static Plan& the_plan = []() -> Plan& {
        auto& made = *new Plan;
        const char* variable = std::getenv("ATTNSCOPE_VGPU_FAULT");
        std::string_view rest = variable ? variable : "";
        while (!rest.empty()) {
            const std::string_view item = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(item.size() + 1, rest.size()));
            if (item.empty()) continue;
            if (take_call(made, item) || take_named(made, item))
                made.any = true;
            else
                report("error", "vgpu-fault",
                       "ATTNSCOPE_VGPU_FAULT: \"" + std::string(item) + "\" is no fault; it is ignored",
                       "write FUNCTION:N=RESULT or a fault that collectors/virtual_gpu/cupti/faults.h names");
        }
        return made;
    }();
    return the_plan;
}

}  // namespace

bool any_faults() {
    static const bool any = plan().any;
    return any;
}

void prepare_exit_fault() {
    static std::once_flag once;
    if (fault_happens(Fault::gone_at_exit)) std::call_once(once, [] { std::atexit([] { gone = true; }); });
}

CUptiResult fault_at(const char* function) {
    CUptiResult result = gone ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
    for (CallRule& rule : plan().calls)
        if (rule.function == function && rule.happens() && result == CUPTI_SUCCESS) result = rule.result;
    return result;
}

bool fault_happens(Fault fault) {
    if (!any_faults()) return false;
    const auto index = static_cast<size_t>(fault);
    return plan().on[index] && plan().named[index].happens();
}

}  // namespace attnscope::vgpu::cupti
