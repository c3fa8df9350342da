// attnscope collect [-o DIR] [--device D] [--counters SETS] -- CMD..., attnscope collect --evaluate RUN
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "attnscope/gpu.h"
#include "attnscope/launch.h"
#include "command.h"
#include "counter_options.h"

namespace attnscope::cli {
namespace {

/// What follows the first "--", as it was given. CLI11 takes an argument like "[a,b]" apart, and a program
/// must get its own arguments.
std::vector<std::string> arguments_after_dashes() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> after;
    bool seen = false;
    for (std::string argument; std::getline(file, argument, '\0');) {
        if (seen) after.push_back(argument);
        seen = seen || argument == "--";
    }
    return after;
}

}  // namespace

Action define_collect(CLI::App& app) {
    const auto request = std::make_shared<CollectRequest>();
    app.add_option("-o,--output", request->output, "the run's folder (default: attnscope-run-<time>)");
    app.add_option("--device", request->device,
                   "auto, real, or virtual:NAME[xN] with NAME one of " + known_gpus())
        ->capture_default_str();
    app.add_option("--uncomputed", request->uncomputed,
                   "virtual GPU: what a read of a result that was never computed gives (0x01, float:1, "
                   "int64:3); default zeros");
    app.add_flag("--force", request->replace, "replace an earlier run in the folder");
    declare_counters(app, *request, "none");
    const auto again = std::make_shared<std::string>();
    app.add_option("--evaluate", *again, "run nothing: evaluate the raw counter data of this run again")
        ->type_name("RUN");
    app.description(app.get_description() +
                    "\n\n  attnscope collect [OPTIONS] -- CMD...\n  attnscope collect --evaluate RUN");
    app.positionals_at_end();
    app.add_option("command", request->command, "the program and its arguments, after --")
        ->type_name("CMD...");
    return [request, again, &app] {
        if (std::vector<std::string> exact = arguments_after_dashes(); !exact.empty())
            request->command = std::move(exact);
        if (app.count("--evaluate") > 0) {
            if (app.get_options([](const CLI::Option* o) { return o->count() > 0; }).size() > 1)
                throw Error("--evaluate RUN runs nothing and takes no other option");
            return evaluate_again(*again);
        }
        check_counters(app, *request);
        return collect(*request).exit_code;
    };
}

}  // namespace attnscope::cli
