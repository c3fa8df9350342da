// Programs with another LibTorch, with none, in C++, and with more operations than are kept apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/end_to_end/harness.h"

namespace attnscope::test {
namespace {

struct Recorded {
    Outcome outcome;
    Run run;
    uintmax_t bytes = 0;  ///< of the process's file
};

Recorded collect(std::vector<std::string> command) {
    Scratch scratch;
    command.insert(command.begin(),
                   {"collect", "--device", "virtual:A100-SXM4-80GB", "-o", scratch.path("run"), "--"});
    Recorded result;
    result.outcome = attnscope(command);
    for (const auto& file : std::filesystem::directory_iterator(scratch.path("run")))
        if (file.path().extension() == ".jsonl") result.bytes += file.file_size();
    result.run = read_run(scratch.path("run"));
    return result;
}

std::string built(const std::string& name) {
    return std::string(std::getenv("ATTNSCOPE_TEST_TORCH")) + '/' + name;
}

const Diagnostic* about_operations(const Process& process) {
    for (const Diagnostic& diagnostic : process.diagnostics)
        if (diagnostic.code.rfind("operations-", 0) == 0) return &diagnostic;
    return nullptr;
}

void expect_other(const std::string& folder, const std::string& words) {
    const Recorded recorded = collect({built("fake_libtorch_user"), built(folder)});
    ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.outcome.err;
    EXPECT_EQ(recorded.outcome.out, "done\n");
    const Process& process = recorded.run.processes.at(0);
    EXPECT_EQ(process.launches.size(), 1U);
    EXPECT_TRUE(process.operations.empty());
    const Diagnostic* said = about_operations(process);
    ASSERT_NE(said, nullptr);
    EXPECT_EQ(said->code, "operations-other-libtorch");
    EXPECT_NE(said->message.find(words), std::string::npos) << said->message;
    EXPECT_NE(said->remedy.find("ATTNSCOPE_TORCH_ROOT"), std::string::npos);
}

TEST(TorchVersions, ANewerLibTorchIsNotTouched) {
    expect_other("libtorch-2.12.0", "LibTorch 2.12.0");
}

TEST(TorchVersions, AnOlderLibTorchIsNotTouched) {
    expect_other("libtorch-2.8.0", "older than 2.9");
}

TEST(TorchVersions, AProgramWithoutLibTorchHearsNothingOfIt) {
    const Recorded recorded = collect({built("fake_libtorch_user")});
    ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.outcome.err;
    EXPECT_EQ(recorded.run.processes.at(0).launches.size(), 1U);
    EXPECT_EQ(about_operations(recorded.run.processes[0]), nullptr);
}

TEST(TorchVersions, ACppProgramsOperationsForwardAndBackwardOnTwoThreads) {
    const Recorded recorded = collect({built("operations_program")});
    ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.outcome.err;
    EXPECT_EQ(recorded.outcome.out, "done\n");
    const Process& process = recorded.run.processes.at(0);
    EXPECT_EQ(about_operations(process), nullptr);
    std::map<std::string, std::set<uint64_t>> forward, backward;  // by the query's text: calls
    for (const Launch& launch : process.launches) {
        if (launch.kind != LaunchKind::kernel) continue;
        ASSERT_NE(launch.operation, kNone) << process.names.at(launch.name);
        const std::string& name = process.names.at(launch.name);
        for (uint32_t at = launch.operation; at != kNone; at = process.operations[at].parent) {
            const Operation& operation = process.operations[at];
            if (operation.name == "aten::_scaled_dot_product_flash_attention" &&
                name.find("flash_fwd") != std::string::npos)
                forward[operation.inputs.at(0)].insert(launch.operation_call);
            if (operation.backward && name.find("flash_bwd_dq_dk_dv") != std::string::npos) {
                ASSERT_NE(operation.forward, kNone);
                backward[process.operations[operation.forward].inputs.at(0)].insert(launch.operation_call);
            }
        }
    }
    for (const char* heads : {"3", "5"}) {
        const std::string query = std::string("fp16[1,") + heads + ",64,64] strides (" +
                                  (heads[0] == '3' ? "12288" : "20480") + ",4096,64,1) requires_grad";
        EXPECT_EQ(forward[query].size(), 5U) << ::testing::PrintToString(forward);
        // Autograd's one thread runs both threads' backward; each function still names its own forward.
        EXPECT_EQ(backward[query].size(), 5U) << ::testing::PrintToString(backward);
    }
}

TEST(TorchVersions, ManyOperationsAreBounded) {
    if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
    const Recorded recorded = collect(
        {python(), std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/tests/torch/programs/many.py"});
    ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.outcome.err;
    const Process& process = recorded.run.processes.at(0);
    // 65,536 with inputs; the further ones by name: a handful.
    EXPECT_GE(process.operations.size(), 65536U);
    EXPECT_LT(process.operations.size(), 65600U);
    EXPECT_LT(recorded.bytes, 20U << 20);
    // Of the operation that differed in a number alone 16 have it, one stands for the others.
    size_t narrow = 0;
    for (const Operation& operation : process.operations) {
        if (operation.name != "aten::narrow") continue;
        ++narrow;
        EXPECT_EQ(operation.inputs.at(3) == "int", narrow == 17);
    }
    EXPECT_EQ(narrow, 17U);
    const Diagnostic* said = about_operations(process);
    ASSERT_NE(said, nullptr);
    EXPECT_EQ(said->code, "operations-many");
    // Launches have their operation to the end; the last one's shape came too late.
    const Launch& last = process.launches.back();
    ASSERT_NE(last.operation, kNone);
    EXPECT_EQ(process.operations[last.operation].inputs.size(), 0U);
    size_t relu = 0;
    for (const Launch& launch : process.launches)
        if (launch.kind == LaunchKind::kernel && launch.operation != kNone) ++relu;
    EXPECT_EQ(relu, 82U);
}

}  // namespace
}  // namespace attnscope::test
