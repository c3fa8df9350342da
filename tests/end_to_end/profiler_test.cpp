// PyTorch's own profiler on the virtual GPU, unmodified: its trace and our run agree, and under our collector
// it keeps its records.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "attnscope/names.h"
#include "harness.h"

namespace attnscope::test {
namespace {

using Kernel = std::tuple<std::string, std::vector<uint32_t>, std::vector<uint32_t>,
                          uint32_t>;  // name, grid, block, registers

std::vector<Kernel> kernels_of_run(const attnscope::Run& run) {
    std::vector<Kernel> kernels;
    for (const Process& process : run.processes)
        for (const Launch& l : process.launches)
            if (l.kind == LaunchKind::kernel)
                kernels.emplace_back(
                    demangle(process.names.at(l.name)), std::vector<uint32_t>(l.grid.begin(), l.grid.end()),
                    std::vector<uint32_t>(l.block.begin(), l.block.end()), l.registers.value_or(0));
    return kernels;
}

std::vector<Kernel> kernels_of_trace(const std::string& file) {
    const nlohmann::json trace = nlohmann::json::parse(std::ifstream(file));
    std::vector<std::pair<int64_t, Kernel>> found;
    for (const auto& event : trace.at("traceEvents")) {
        if (event.value("cat", "") != "kernel") continue;
        const auto& args = event.at("args");
        found.push_back(
            {args.at("correlation").get<int64_t>(),
             {event.at("name"), args.at("grid"), args.at("block"), args.at("registers per thread")}});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Kernel> kernels;
    for (auto& [correlation, kernel] : found) kernels.push_back(std::move(kernel));
    return kernels;
}

TEST(Profiler, TraceAndRunHoldTheSameKernels) {
    if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
    Scratch scratch;
    const std::string program =
        std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/tests/end_to_end/programs/profiled.py";
    auto collect = [&](const std::string& folder, std::vector<std::string> arguments) {
        std::vector<std::string> command{
            "collect", "--device", "virtual:H100-SXM5", "-o", scratch.path(folder), "--", python(), program};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return attnscope(command, {{"ATTNSCOPE_VGPU_TICKS", "1"}});
    };
    const Outcome plain = collect("plain", {});
    ASSERT_EQ(plain.exit_code, 0) << plain.err;
    const Outcome profiled = collect("profiled", {scratch.path("trace.json")});
    ASSERT_EQ(profiled.exit_code, 0) << profiled.err;
    const std::vector<Kernel> ours = kernels_of_run(read_run(scratch.path("plain")));
    const std::vector<Kernel> theirs = kernels_of_trace(scratch.path("trace.json"));
    ASSERT_GT(ours.size(), 20U);
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i], theirs[i]) << "launch " << i;
    // The profiler took the records over: that is said, not hidden.
    bool said = false;
    const attnscope::Run second = read_run(scratch.path("profiled"));
    for (const Process& process : second.processes)
        for (const Diagnostic& diagnostic : process.diagnostics)
            said |= diagnostic.code == "records-taken-over";
    EXPECT_TRUE(said);
}

}  // namespace
}  // namespace attnscope::test
