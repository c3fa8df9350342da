#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnscope/error.h"
#include "command.h"

namespace attnscope::cli {
namespace {

const std::vector<Command> kCommands = {
// One line a subcommand, in the order of --help.
#ifdef ATTNSCOPE_HAVE_ATTENTION
    {"attention", "run every attention implementation and write a report",
     "attnscope attention --device virtual:H100-SXM5 -o out", define_attention},
#endif
#ifdef ATTNSCOPE_HAVE_COLLECT
    {"collect", "record the kernels of any CUDA program", "attnscope collect -o run -- python3 train.py",
     define_collect},
#endif
#ifdef ATTNSCOPE_HAVE_REPORT
    {"report", "explain a run: text, Markdown, HTML, JSON or a pull-request comment",
     "attnscope report run --format md", define_report},
#endif
#ifdef ATTNSCOPE_HAVE_IMPORT
    {"import", "PyTorch profiler, Nsight Compute and Nsight Systems files become runs",
     "attnscope import trace.json.gz -o run", define_import},
#endif
#ifdef ATTNSCOPE_HAVE_COMPARE
    {"compare", "runs side by side, launch by launch; a prediction against its measurement",
     "attnscope compare PREDICTED MEASURED", define_compare},
#endif
#ifdef ATTNSCOPE_HAVE_GATE
    {"gate", "hold a run against a baseline and limits: exit code 1 when something is worse",
     "attnscope gate run --baseline baseline.json", define_gate},
#endif
#ifdef ATTNSCOPE_HAVE_METRICS
    {"metrics", "what can be counted on a chip, what it means, in how many passes",
     "attnscope metrics --chip GH100 --set core", define_metrics},
#endif
#ifdef ATTNSCOPE_HAVE_KERNELS
    {"kernels", "registers, shared memory and occupancy of the kernels in a library",
     "attnscope kernels libtorch_cuda.so --match flash_fwd --device H100-SXM5", define_kernels},
#endif
#ifdef ATTNSCOPE_HAVE_DOCTOR
    {"doctor", "what is wrong with this machine for collecting counters, and the remedy", "attnscope doctor",
     define_doctor},
#endif
};

/// CLI11 would only say that a subcommand is required.
void check_command(int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '-') return;
    std::string known;
    for (const Command& command : kCommands) {
        if (std::string_view(argv[1]) == command.name) return;
        known += (known.empty() ? "" : ", ") + std::string(command.name);
    }
    throw Error("there is no command '" + std::string(argv[1]) + "'; there are " + known);
}

int run(int argc, char** argv) {
    CLI::App app{"attnscope: why is this attention kernel as fast, or as slow, as it is?", "attnscope"};
    app.set_version_flag("--version", "attnscope " ATTNSCOPE_VERSION);
    app.require_subcommand(1);
    app.failure_message(
        [](const CLI::App*, const CLI::Error& e) { return std::string("attnscope: ") + e.what() + "\n"; });
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const Command& command : kCommands) {
        CLI::App* sub = app.add_subcommand(command.name, command.summary);
        sub->footer(std::string("Example: ") + command.example);
        actions.emplace_back(sub, command.define(*sub));
    }
    check_command(argc, argv);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? static_cast<int>(Exit::success) : static_cast<int>(Exit::bad_input);
    }
    for (auto& [sub, action] : actions)
        if (sub->parsed()) return action();
    return static_cast<int>(Exit::internal);
}

}  // namespace
}  // namespace attnscope::cli

int main(int argc, char** argv) {
    try {
        return attnscope::cli::run(argc, argv);
    } catch (const attnscope::Error& e) {
        std::cerr << "attnscope: " << e.what() << '\n';
        return static_cast<int>(e.exit());
    } catch (const std::exception& e) {
        std::cerr << "attnscope: internal error: " << e.what()
                  << " (please report it with the command line)\n";
        return static_cast<int>(attnscope::Exit::internal);
    }
}
