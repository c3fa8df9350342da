#include "counter_options.h"

#include "attnscope/error.h"

namespace attnscope::cli {

void declare_counters(CLI::App& app, CollectRequest& request, const std::string& by_default) {
    const std::string group = "Hardware counters";
    app.add_option(
           "--counters", request.counters,
           "none, or sets (core, tensor, memory, stalls) and metrics, separated by commas (default: " +
               by_default + ")")
        ->type_name("SETS")
        ->group(group);
    app.add_option("--range", request.range,
                   "what one value covers: kernel, implementation (attnscope's iterations) or nvtx "
                   "(outermost ranges)")
        ->check(CLI::IsMember({"kernel", "implementation", "nvtx"}))
        ->type_name("WHAT")
        ->capture_default_str()
        ->group(group);
    app.add_option_function<std::string>(
           "--replay", [&request](const std::string& what) { request.replay = what == "kernel"; },
           "kernel: run each kernel as often as the metrics need passes (default: none)")
        ->check(CLI::IsMember({"none", "kernel"}))
        ->type_name("WHAT")
        ->group(group);
    app.add_option("--timing", request.timing,
                   "same: one run of the program; separate: a second, undisturbed run measures time")
        ->check(CLI::IsMember({"same", "separate"}))
        ->type_name("WHICH")
        ->capture_default_str()
        ->group(group);
}

void check_counters(const CLI::App& app, const CollectRequest& request) {
    if (app.count("--counters") > 0 && request.counters.empty())
        throw Error("--counters is empty: name sets or metrics (core), or none");
    const bool off = request.counters.empty() || request.counters == "none";
    for (const char* option : {"--range", "--replay", "--timing"})
        if (off && app.count(option) > 0)
            throw Error(std::string(option) + " says how counters are collected: add --counters core");
}

}  // namespace attnscope::cli
