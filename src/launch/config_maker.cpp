// What a process's ask is answered with: CUPTI's host API, asked through the very libcupti that the process
// has.
#include <algorithm>

#include "attnscope/counter_host.h"
#include "counter_setup.h"

namespace attnscope::launch {
namespace {

/// CUPTI's API version in CUDA 12.6, the first with the Range Profiler (cupti_version.h).
constexpr uint32_t kFirstCupti = 24;

const char* const kNewerCupti =
    "the program's own libraries bring this CUPTI: use ones for CUDA 12.6 or newer (12.6 to 13.x are served)";

std::vector<std::string> names_for(CounterSetup& setup, const CounterHost& host, const std::string& chip) {
    for (const ChipPlan& plan : setup.chips)
        if (plan.chip == chip) return plan.names;
    const ResolvedMetrics resolved = resolve_metrics(host, chip, setup.request);
    for (const auto& [name, reason] : resolved.absent)
        add_diagnostic(setup.diagnostics,
                       {DiagnosticLevel::warning, "counters-metric-absent",
                        name + " is not collected: not on " + chip + " (" + reason + ")",
                        "attnscope metrics --chip " + chip + " lists what can be collected", 1});
    return resolved.names;
}

/// A file that is gone at the end unless it was renamed.
struct Beside {
    std::filesystem::path path;
    explicit Beside(std::filesystem::path file) : path(std::move(file)) {}
    Beside(const Beside&) = delete;
    Beside& operator=(const Beside&) = delete;
    ~Beside() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

std::optional<Refusal> make(CounterSetup& setup, const std::string& tool, const ConfigAsk& ask,
                            const std::filesystem::path& config) {
    if (ask.cupti < kFirstCupti)
        return Refusal{"counters-no-cupti",
                       "CUPTI in this process is older than 12.6 (API version " + std::to_string(ask.cupti) +
                           ", " + ask.library + "): it has no Range Profiler",
                       kNewerCupti};
    const CounterHost host(ask.library, tool);
    std::vector<std::string> names;
    try {
        names = names_for(setup, host, ask.chip);
    } catch (const Error& e) {
        return Refusal{"counters-no-config", e.what(),
                       "attnscope metrics --chip " + ask.chip + " lists what is there"};
    }
    // Under another name first: the program must not find a config that it may not use.
    const Beside beside(config.string() + ".planned");
    const CounterPlan plan = host.plan(ask.chip, names, ask.availability, beside.path);
    if (plan.passes > 1 && !setup.replay)
        return Refusal{"counters-no-config",
                       "--counters " + setup.request + " needs " + std::to_string(plan.passes) +
                           " passes on " + ask.chip + " with this CUPTI, and a program runs in one",
                       "add --replay kernel, or ask for fewer metrics"};
    if (plan.metrics.empty())
        return Refusal{"counters-metric-absent",
                       "nothing of --counters " + setup.request + " is on this " + ask.chip,
                       "attnscope metrics --chip " + ask.chip + " lists what can be collected"};
    for (const std::string& name : plan.absent)
        add_diagnostic(setup.diagnostics,
                       {DiagnosticLevel::warning, "counters-metric-absent",
                        name + " is not collected: not on this " + ask.chip + " with " + ask.library,
                        "attnscope metrics --chip " + ask.chip + " lists what can be collected", 1});
    std::filesystem::rename(beside.path, config);
    const bool planned = std::any_of(setup.chips.begin(), setup.chips.end(),
                                     [&](const ChipPlan& known) { return known.chip == ask.chip; });
    if (!planned) setup.chips.push_back({ask.chip, plan.metrics, plan.passes});
    return std::nullopt;
}

}  // namespace

MakeConfig config_maker(CounterSetup& setup, std::string tool) {
    return [&setup, tool = std::move(tool)](const ConfigAsk& ask, const std::filesystem::path& config) {
        return make(setup, tool, ask, config);
    };
}

}  // namespace attnscope::launch
