// Each launch names the chain of LibTorch's operations that made it, in an unmodified Python program; and the
// program notices nothing of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "attnscope/operation.h"
#include "tests/end_to_end/harness.h"

namespace attnscope::test {
namespace {

using Texts = std::vector<std::string>;

struct Recorded {
    Outcome outcome;
    Run run;
    const Process& process() const { return run.processes.at(0); }
};

Recorded collect(const std::string& program, const std::map<std::string, std::string>& environment = {}) {
    Scratch scratch;
    Recorded result;
    result.outcome =
        attnscope({"collect", "--device", "virtual:A100-SXM4-80GB", "-o", scratch.path("run"), "--", python(),
                   std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/tests/torch/programs/" + program},
                  environment);
    result.run = read_run(scratch.path("run"));
    return result;
}

/// One program, recorded once with operations and once without.
class Operations : public ::testing::Test {
  protected:
    void SetUp() override {
        if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
        if (with) return;
        with = new Recorded(collect("operations.py"));
        without = new Recorded(collect("operations.py", {{"ATTNSCOPE_OPERATIONS", "0"}}));
    }
    static Recorded *with, *without;
};
Recorded *Operations::with = nullptr, *Operations::without = nullptr;

/// From the outermost to the innermost: "aten::linear/aten::addmm".
std::string chain(const Process& process, uint32_t operation) {
    std::string names;
    for (uint32_t at = operation; at != kNone; at = process.operations.at(at).parent)
        names = process.operations[at].name + (names.empty() ? "" : "/") + names;
    return names;
}

const Operation* named(const Process& process, const std::string& name, size_t input,
                       const std::string& text) {
    for (const Operation& operation : process.operations)
        if (operation.name == name && operation.inputs.size() > input && operation.inputs[input] == text)
            return &operation;
    return nullptr;
}

/// Without attnscope's own lines, which name the run's folder.
std::string programs_words(const std::string& err) {
    std::string words;
    std::istringstream lines(err);
    for (std::string line; std::getline(lines, line);)
        if (line.rfind("attnscope: ", 0) != 0) words += line + '\n';
    return words;
}

bool has_diagnostic(const Process& process, const std::string& code) {
    return std::any_of(process.diagnostics.begin(), process.diagnostics.end(),
                       [&](const Diagnostic& d) { return d.code == code; });
}

TEST_F(Operations, TheProgramNoticesNothing) {
    EXPECT_EQ(with->outcome.exit_code, 5) << with->outcome.err;
    EXPECT_EQ(without->outcome.exit_code, 5) << without->outcome.err;
    EXPECT_NE(with->outcome.out.find("end:"), std::string::npos) << with->outcome.out << with->outcome.err;
    EXPECT_EQ(with->outcome.out, without->outcome.out);
    EXPECT_EQ(programs_words(with->outcome.err), programs_words(without->outcome.err));
}

TEST_F(Operations, AskingLaunchesAndCopiesNothing) {
    const auto sequence = [](const Process& process) {
        // Threads' launches come in any order: sorted.
        Texts all;
        for (const Launch& launch : process.launches) {
            std::string text = launch.name == kNone ? "" : process.names.at(launch.name);
            if (launch.call != kNone) text += process.calls.at(launch.call).function;
            for (const uint32_t n : launch.grid) text += ' ' + std::to_string(n);
            all.push_back(text + ' ' + std::to_string(launch.bytes.value_or(0)));
        }
        std::sort(all.begin(), all.end());
        return all;
    };
    EXPECT_GT(with->process().launches.size(), 100U);
    EXPECT_EQ(sequence(with->process()), sequence(without->process()));
}

TEST_F(Operations, SwitchedOffIsSaidAndRangesRemain) {
    EXPECT_TRUE(has_diagnostic(without->process(), "operations-off"));
    EXPECT_FALSE(has_diagnostic(with->process(), "operations-off"));
    EXPECT_TRUE(without->process().operations.empty());
    for (const Recorded* one : {with, without}) {
        size_t inside = 0;
        for (const Launch& launch : one->process().launches)
            if (launch.range != kNone && one->process().ranges.at(launch.range).name == "the user's range")
                ++inside;
        EXPECT_GE(inside, 3U);
    }
}

TEST_F(Operations, EachKernelHasItsChain) {
    const Process& process = with->process();
    std::set<std::string> flash;
    size_t kernels = 0, in_operation = 0;
    for (const Launch& launch : process.launches) {
        if (launch.kind != LaunchKind::kernel) continue;
        ++kernels;
        if (launch.operation == kNone) continue;
        ++in_operation;
        EXPECT_NE(launch.operation_call, 0U);
        if (process.names.at(launch.name).find("flash_fwd") != std::string::npos)
            flash.insert(chain(process, launch.operation));
    }
    // LibTorch launches nothing outside its operations here.
    EXPECT_EQ(in_operation, kernels);
    EXPECT_TRUE(
        flash.count("aten::scaled_dot_product_attention/aten::_scaled_dot_product_flash_attention/"
                    "aten::_flash_attention_forward"))
        << ::testing::PrintToString(flash);
}

TEST_F(Operations, InputsHaveTypeShapeStridesAndGradients) {
    const Process& process = with->process();
    const Operation* attention = named(process, "aten::scaled_dot_product_attention", 0,
                                       "bf16[2,4,64,32] strides (8192,2048,32,1) requires_grad");
    ASSERT_NE(attention, nullptr);
    EXPECT_EQ(attention->inputs.size(), 8U);
    EXPECT_EQ(attention->inputs[3], "none");
    EXPECT_EQ(attention->inputs[5], "false");
    // x[::2]: every second row.
    const Operation* linear = named(process, "aten::linear", 0, "fp32[24,96] strides (192,1)");
    ASSERT_NE(linear, nullptr);
    EXPECT_EQ(linear->inputs[1], "fp32[80,96] strides (96,1) requires_grad");
    const Operation* norm = named(process, "aten::layer_norm", 1, "(96)");
    ASSERT_NE(norm, nullptr);
    EXPECT_EQ(norm->inputs[2], "none");
    EXPECT_NE(named(process, "aten::cat", 0, "(fp32[48,96] strides (96,1); fp32[48,0] strides (96,1))"),
              nullptr);
    EXPECT_NE(named(process, "aten::dropout", 1, "0.25"), nullptr);
    EXPECT_NE(named(process, "aten::div", 2, "\"floor\""), nullptr);
    EXPECT_NE(named(process, "aten::matmul", 0, "fp32[0,96] strides (96,1)"), nullptr);
}

TEST_F(Operations, BackwardNamesItsForward) {
    const Process& process = with->process();
    std::map<std::string, std::string> forward_of;
    for (const Operation& operation : process.operations) {
        if (!operation.backward) continue;
        // A leaf's gradient is added up: the derivative of nothing.
        const bool leaf = operation.name.find("AccumulateGrad") != std::string::npos;
        ASSERT_EQ(operation.forward == kNone, leaf) << operation.name;
        if (leaf) continue;
        forward_of[operation.name] = process.operations.at(operation.forward).name;
    }
    const auto expect = [&](const std::string& backward, const std::string& forward) {
        const auto found = std::find_if(forward_of.begin(), forward_of.end(), [&](const auto& pair) {
            return pair.first.find(backward) != std::string::npos;
        });
        ASSERT_NE(found, forward_of.end()) << backward << ' ' << ::testing::PrintToString(forward_of);
        EXPECT_EQ(found->second, forward);
    };
    expect("ScaledDotProductFlashAttentionBackward0", "aten::_scaled_dot_product_flash_attention");
    expect("AddmmBackward0", "aten::addmm");
    expect("TanhBackward0", "aten::tanh");
    // Its kernels are below it.
    bool found = false;
    for (const Launch& launch : process.launches)
        if (launch.kind == LaunchKind::kernel &&
            process.names.at(launch.name).find("flash_bwd_dq_dk_dv") != std::string::npos)
            found |= chain(process, launch.operation).find("ScaledDotProductFlashAttentionBackward0") !=
                     std::string::npos;
    EXPECT_TRUE(found);
}

TEST_F(Operations, LaunchesOfOneCallShareItsNumber) {
    const Process& process = with->process();
    std::map<uint64_t, std::set<std::string>> outermost;
    for (const Launch& launch : process.launches)
        if (launch.operation != kNone) {
            const std::string names = chain(process, launch.operation);
            outermost[launch.operation_call].insert(names.substr(0, names.find('/')));
        }
    for (const auto& [call, names] : outermost) EXPECT_EQ(names.size(), 1U) << call;
    // The three equal attention calls are one operation with three calls.
    std::set<uint64_t> calls;
    for (const Launch& launch : process.launches)
        if (launch.operation != kNone && launch.range != kNone &&
            process.ranges.at(launch.range).name == "the user's range" &&
            chain(process, launch.operation).find("_flash_attention_forward") != std::string::npos)
            calls.insert(launch.operation_call);
    EXPECT_EQ(calls.size(), 3U);
}

TEST_F(Operations, ThreadsKeepTheirOwnChains) {
    const Process& process = with->process();
    std::map<std::string, std::set<uint64_t>> threads;
    std::map<std::string, size_t> launches;
    for (const Launch& launch : process.launches) {
        if (launch.operation == kNone ||
            chain(process, launch.operation).find("aten::relu") == std::string::npos)
            continue;
        uint32_t outermost = launch.operation;
        while (process.operations[outermost].parent != kNone)
            outermost = process.operations[outermost].parent;
        const std::string input = process.operations[outermost].inputs.at(0);
        threads[input].insert(launch.thread.value_or(0));
        ++launches[input];
    }
    ASSERT_EQ(threads.size(), 4U) << ::testing::PrintToString(launches);
    for (const auto& [input, of] : threads) {
        EXPECT_EQ(of.size(), 1U) << input;
        EXPECT_EQ(launches[input], 25U) << input;
    }
}

TEST_F(Operations, AskedOncePerSignatureAndNotOfWrappers) {
    const Process& process = with->process();
    std::set<std::string> asked;
    for (const AttentionChoice& choice : process.choices) {
        const Operation& operation = process.operations.at(choice.operation);
        EXPECT_EQ(operation.name, "aten::scaled_dot_product_attention");
        EXPECT_EQ(operation.inputs.at(0).find("[?]"), std::string::npos)
            << "a wrapper is not the call carried out";
        asked.insert(operation.inputs.at(0));
    }
    EXPECT_TRUE(asked.count("bf16[2,4,64,32] strides (8192,2048,32,1) requires_grad"));
    // Under autocast the call that is carried out has bf16 tensors.
    for (const AttentionChoice& choice : process.choices)
        if (process.operations[choice.operation].inputs[0] == "fp32[2,4,64,32] strides (8192,2048,32,1)") {
            EXPECT_EQ(choice.chosen, "none") << "the one under sdpa_kernel([FLASH_ATTENTION])";
        }
}

TEST_F(Operations, TensorsWithoutSizesOfTheirOwn) {
    const Process& process = with->process();
    EXPECT_NE(named(process, "aten::mul", 0, "fp32[?]"), nullptr);
    EXPECT_NE(named(process, "aten::scaled_dot_product_attention", 0, "bf16[?]"), nullptr);
    EXPECT_NE(named(process, "aten::t", 0, "fp32[8589934592,536870912] strides (0,0)"), nullptr);
    EXPECT_NE(named(process, "aten::mul", 0, "fp32[17179869184,3] strides (3,1) meta"), nullptr);
    for (const Operation& operation : process.operations)
        for (const std::string& input : operation.inputs)
            if (const auto tensor = tensor_input(input); tensor && input.find("[?]") == std::string::npos) {
                EXPECT_EQ(tensor->sizes.size(), tensor->strides.size()) << input;
            }
}

}  // namespace
}  // namespace attnscope::test
