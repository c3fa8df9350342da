// LibTorch's choice as the run holds it, against what torch says in Python in the same process: backend,
// order, and each reason, for attention calls of every kind on GPUs of every generation.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/end_to_end/harness.h"

namespace attnscope::test {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

struct Asked {
    json torch;                ///< what the program printed: case, chosen, order, refused
    AttentionChoice recorded;  ///< what the run holds
};
using Cases = std::map<std::string, Asked>;

const AttentionChoice::Backend& backend(const Asked& asked, const std::string& name) {
    for (const auto& candidate : asked.recorded.backends)
        if (candidate.name == name) return candidate;
    throw std::runtime_error("the record has no backend " + name);
}

Cases ask_all(const std::string& device, const std::map<std::string, std::string>& environment = {}) {
    Scratch scratch;
    const Outcome outcome =
        attnscope({"collect", "--device", device, "-o", scratch.path("run"), "--", python(),
                   std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/tests/torch/programs/choice.py",
                   binary("../share/attnscope/attention.py")},
                  environment);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    Cases cases;
    const Run run = read_run(scratch.path("run"));
    if (run.processes.size() != 1) throw std::runtime_error("one process expected:\n" + outcome.err);
    const auto& choices = run.processes[0].choices;
    std::istringstream lines(outcome.out);
    size_t next = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] != '{') continue;
        json torch = json::parse(line);
        // Asked in the order of the calls, once each.
        if (next == choices.size()) throw std::runtime_error("no record for " + line);
        const std::string name = torch["case"];
        cases[name] = {std::move(torch), choices[next++]};
    }
    EXPECT_EQ(next, choices.size());
    return cases;
}

void expect_equal(const Cases& cases) {
    ASSERT_GE(cases.size(), 35U);
    for (const auto& [name, asked] : cases) {
        SCOPED_TRACE(name);
        EXPECT_EQ(asked.recorded.chosen, asked.torch["chosen"]);
        EXPECT_EQ(asked.recorded.order, asked.torch["order"].get<Texts>());
        for (const char* one : {"flash", "efficient", "cudnn"}) {
            const auto& refused = backend(asked, one).refused;
            const std::string torch = asked.torch["refused"].value(one, "");
            EXPECT_EQ(refused.empty(), !asked.torch["refused"].contains(one)) << one << ": " << torch;
            // A mask with gradients is refused by cuDNN without a word.
            if (refused.empty()) continue;
            EXPECT_EQ(refused.front(), torch.empty() ? "refused, LibTorch gives no reason" : torch) << one;
        }
        for (const auto& one : asked.recorded.backends) {
            EXPECT_LE(one.removed.size(), one.refused.size()) << one.name;
            if (one.refused.empty()) continue;
            EXPECT_GE(one.removed.size() + 1, one.refused.size()) << one.name;
            EXPECT_TRUE(one.hidden.empty()) << one.name;
        }
        // What is chosen is the first of the order that takes it.
        if (asked.recorded.chosen == "none" || asked.recorded.chosen == "overrideable") continue;
        EXPECT_TRUE(backend(asked, asked.recorded.chosen).refused.empty());
        for (const std::string& before : asked.recorded.order) {
            if (before == asked.recorded.chosen) break;
            EXPECT_FALSE(backend(asked, before).refused.empty()) << before << " comes first and takes it";
        }
    }
}

void expect_chosen(const Cases& cases, const std::map<std::string, std::string>& expected) {
    for (const auto& [name, chosen] : expected) EXPECT_EQ(cases.at(name).recorded.chosen, chosen) << name;
}

/// "...reason A; without X: reason B" as LibTorch gives B for the call that really lacks X.
void expect_further(const Cases& cases, const std::string& name, const std::string& which,
                    const std::string& removed, const std::string& case_without) {
    const auto& answer = backend(cases.at(name), which);
    ASSERT_GE(answer.refused.size(), 2U) << name << ' ' << which;
    ASSERT_GE(answer.removed.size(), 1U) << name << ' ' << which;
    EXPECT_EQ(answer.removed[0], removed) << name << ' ' << which;
    EXPECT_EQ(answer.refused[1], backend(cases.at(case_without), which).refused.at(0))
        << name << ' ' << which;
}

class Choice : public ::testing::Test {
  protected:
    void SetUp() override {
        if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
    }
};

// Sources of the expected choices: facts on LibTorch 2.11's dispatch (priority order; constraints of each
// backend).
TEST_F(Choice, OnA100) {
    const Cases cases = ask_all("virtual:A100-SXM4-80GB");
    expect_equal(cases);
    expect_chosen(cases, {{"plain", "flash"},
                          {"gqa", "flash"},
                          {"gqa_mask", "math"},
                          {"mask_bool", "efficient"},
                          {"mask_odd", "efficient"},
                          {"fp32", "efficient"},
                          {"fp64", "math"},
                          {"head_dim_60", "flash"},
                          {"head_dim_61", "flash"},
                          {"head_dim_256", "flash"},
                          {"head_dim_257", "math"},
                          {"head_dim_264", "efficient"},
                          {"gradient_256_dropout", "flash"},
                          {"causal_unequal", "efficient"},
                          {"one_key", "flash"},
                          {"strided", "math"},
                          {"transposed", "flash"},
                          {"no_query", "math"},
                          {"rank_3", "math"},
                          {"flash_off", "efficient"},
                          {"order_set", "math"},
                          {"only_flash_with_mask", "none"}});
    EXPECT_EQ(cases.at("plain").recorded.order,
              (Texts{"flash", "efficient", "math", "cudnn", "overrideable"}));

    expect_further(cases, "fp32_mask", "flash", "mask", "fp32");
    expect_further(cases, "strided_fp16_mask", "flash", "mask", "strided");
    expect_further(cases, "head_dim_60_fp32", "cudnn", "dtype-bf16", "head_dim_60");
    // A sentence that only lists the mask's stride too is not about the mask.
    const auto& strided = backend(cases.at("strided_fp16_mask"), "efficient");
    EXPECT_EQ(strided.removed, Texts{"strides"});
    EXPECT_EQ(strided.refused.size(), 1U) << "with dense tensors it takes the call";
    // Switches cannot be taken away.
    EXPECT_EQ(backend(cases.at("deterministic"), "cudnn").removed, Texts());
    EXPECT_EQ(backend(cases.at("flash_off"), "flash").removed, Texts());
}

TEST_F(Choice, OnT4) {
    const Cases cases = ask_all("virtual:T4");
    expect_equal(cases);
    expect_chosen(
        cases,
        {{"plain", "math"}, {"fp16", "efficient"}, {"fp32", "efficient"}, {"strided_fp16_mask", "math"}});
    EXPECT_EQ(backend(cases.at("plain"), "flash").removed, Texts()) << "the hardware cannot be taken away";
    // Without bf16 below sm_80, fp16 is the way out.
    EXPECT_EQ(backend(cases.at("plain"), "efficient").removed, Texts{"dtype-fp16"});
    EXPECT_EQ(backend(cases.at("plain"), "efficient").refused.size(), 1U);
    // cuDNN: a type that it refuses too is no way around the hardware.
    EXPECT_EQ(backend(cases.at("fp16"), "cudnn").removed, Texts());
    EXPECT_EQ(backend(cases.at("plain"), "cudnn").removed, Texts{"dtype-fp16"});
    EXPECT_EQ(backend(cases.at("plain"), "cudnn").refused.size(), 2U);
    EXPECT_EQ(backend(cases.at("plain"), "cudnn").refused.back(),
              backend(cases.at("fp16"), "cudnn").refused.at(0));
}

/// sm_86 and sm_89 have shared memory for less: gradients of large heads.
void expect_of_smaller_shared_memory(const Cases& cases) {
    expect_equal(cases);
    expect_chosen(cases, {{"plain", "flash"},
                          {"head_dim_256", "flash"},
                          {"gradient_224", "efficient"},
                          {"gradient_256", "flash"},
                          {"gradient_256_dropout", "efficient"}});
    const auto& removed = backend(cases.at("gradient_224"), "flash").removed;
    EXPECT_TRUE(removed == Texts{"head-dim"} || removed == Texts{"gradients"})
        << ::testing::PrintToString(removed);
}

TEST_F(Choice, OnRtx4090) {
    expect_of_smaller_shared_memory(ask_all("virtual:RTX-4090"));
}

// The table of GPUs has none of sm_86: one is made of an L40S.
TEST_F(Choice, OnSm86) {
    Scratch scratch;
    std::ifstream table(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/src/data/gpus.tsv");
    std::ofstream changed(scratch.path("gpus.tsv"));
    for (std::string line; std::getline(table, line);) {
        if (line.rfind("sm_89\t", 0) == 0) changed << "sm_86" << line.substr(5) << '\n';
        if (line.rfind("L40S\tcompute_capability\t8.9", 0) == 0) line[line.find("8.9") + 2] = '6';
        changed << line << '\n';
    }
    changed.close();
    expect_of_smaller_shared_memory(ask_all("virtual:L40S", {{"ATTNSCOPE_GPUS", scratch.path("gpus.tsv")}}));
}

TEST_F(Choice, OnH100) {
    const Cases cases = ask_all("virtual:H100-SXM5");
    expect_equal(cases);
    expect_chosen(cases, {{"plain", "cudnn"},
                          {"gqa", "cudnn"},
                          {"gqa_mask", "cudnn"},
                          {"mask_bool", "cudnn"},
                          {"mask_gradient", "efficient"},
                          {"fp32", "efficient"},
                          {"head_dim_60", "flash"},
                          {"head_dim_256", "cudnn"},
                          {"one_key", "flash"},
                          {"one_query_dropout", "flash"},
                          {"deterministic", "flash"}});
    EXPECT_EQ(cases.at("plain").recorded.order,
              (Texts{"cudnn", "flash", "efficient", "math", "overrideable"}));
}

TEST_F(Choice, OnB200) {
    const Cases cases = ask_all("virtual:B200");
    expect_equal(cases);
    expect_chosen(cases, {{"plain", "cudnn"}, {"head_dim_192_128", "cudnn"}, {"head_dim_256", "flash"}});
}

}  // namespace
}  // namespace attnscope::test
