#include "harness.h"

#include <cstdlib>
#include <filesystem>

namespace attnscope::test {

AttentionRun attention(const std::string& device, const std::vector<std::string>& arguments) {
    Scratch scratch;
    std::vector<std::string> command{"attention", "--device", device, "-o", scratch.path("out")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    AttentionRun result;
    result.outcome = attnscope(command);
    if (std::filesystem::exists(scratch.path("out/run/run.json"))) {
        result.run = read_run(scratch.path("out/run"));
        result.analysis = analyze(result.run);
    }
    return result;
}

std::string python() {
    const char* name = std::getenv("ATTNSCOPE_TEST_PYTHON");
    if (!name || !*name) return {};
    return run_program({name, "-c",
                        "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"})
                       .exit_code == 0
               ? name
               : "";
}

std::vector<KernelLaunch> kernels_of(const Run& run, const std::string& implementation) {
    std::vector<KernelLaunch> found;
    for (const Process& process : run.processes) {
        for (const Launch& launch : process.launches) {
            bool iteration = false, inside = false;
            for (uint32_t r = launch.range; r != kNone; r = process.ranges[r].parent) {
                iteration |= process.ranges[r].name == "attnscope.iteration";
                inside |= process.ranges[r].name == "attnscope.implementation/" + implementation;
            }
            if (launch.kind == LaunchKind::kernel && iteration && inside)
                found.push_back({process.names.at(launch.name), launch});
        }
    }
    return found;
}

}  // namespace attnscope::test
