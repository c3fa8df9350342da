// The hidden work that the run tells of each attention call, against what the allocator was really asked for.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/end_to_end/harness.h"

namespace attnscope::test {
namespace {

using nlohmann::json;

struct Case {
    json torch;
    std::map<std::string, uint64_t> hidden;  ///< of the backend that ran, by code
    uint64_t total() const {
        uint64_t sum = 0;
        for (const auto& [code, bytes] : hidden) sum += bytes;
        return sum;
    }
};

/// Bytes that operations of these names asked for.
uint64_t asked_by(const Case& one, std::initializer_list<std::string> names) {
    uint64_t sum = 0;
    for (const json& part : one.torch["parts"])
        for (const std::string& name : names)
            if (part[0].get<std::string>() == name) sum += part[1].get<uint64_t>();
    return sum;
}

class HiddenWork : public ::testing::Test {
  protected:
    void SetUp() override {
        if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
        if (!cases.empty()) return;
        Scratch scratch;
        const Outcome outcome = attnscope(
            {"collect", "--device", "virtual:A100-SXM4-80GB", "-o", scratch.path("run"), "--", python(),
             std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/tests/torch/programs/hidden.py"});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        const attnscope::Run run = read_run(scratch.path("run"));
        const auto& choices = run.processes.at(0).choices;
        std::istringstream lines(outcome.out);
        size_t next = 1;  // the first call warms up
        for (std::string line; std::getline(lines, line);) {
            Case one{json::parse(line), {}};
            ASSERT_LT(next, choices.size());
            const std::string name = one.torch["case"], backend = one.torch["backend"];
            ASSERT_EQ(choices[next].chosen, backend) << name;
            for (const auto& candidate : choices[next].backends)
                if (candidate.name == backend)
                    for (const auto& work : candidate.hidden) one.hidden[work.code] += work.bytes;
            ++next;
            cases[name] = std::move(one);
        }
        ASSERT_EQ(next, choices.size());
    }
    static std::map<std::string, Case> cases;
};
std::map<std::string, Case> HiddenWork::cases;

TEST_F(HiddenWork, OfFusedBackendsIsWhatTheCallAsksForBeyondItsKernel) {
    size_t seen = 0;
    for (const auto& [name, one] : cases) {
        if (one.torch["backend"] == "math") continue;
        ++seen;
        const uint64_t kernel = asked_by(one, {"aten::_scaled_dot_product_flash_attention",
                                               "aten::_scaled_dot_product_efficient_attention",
                                               "aten::_scaled_dot_product_cudnn_attention"});
        EXPECT_EQ(one.total(), one.torch["whole"].get<uint64_t>() - kernel) << name << one.torch.dump();
    }
    EXPECT_EQ(seen, 13U);
}

// By hand: 2 batches, 4 heads.
TEST_F(HiddenWork, HasTheCodesAndBytesOfPaddingAndMasks) {
    using Work = std::map<std::string, uint64_t>;
    const auto hidden = [](const char* name) { return cases.at(name).hidden; };
    EXPECT_EQ(hidden("flash_plain"), Work());
    EXPECT_EQ(hidden("flash_pad"), (Work{{"pad-head-dim", 3 * 2 * 4 * 128 * 64 * 2}}));
    EXPECT_EQ(hidden("flash_pad_gqa"), (Work{{"pad-head-dim", (4 + 2 + 2) * 2 * 128 * 64 * 2}}));
    EXPECT_EQ(hidden("efficient_additive"), Work());
    // The mask in bf16, and two scalars.
    EXPECT_EQ(hidden("efficient_bool"), (Work{{"convert-mask", 128 * 128 * 2 + 4}}));
    // A mask that was expanded is converted for each batch and head.
    EXPECT_EQ(hidden("efficient_bool_expanded"), (Work{{"convert-mask", 2 * 4 * 128 * 128 * 2 + 4}}));
    EXPECT_EQ(hidden("efficient_additive_odd"), (Work{{"pad-mask", 125 * 128 * 2}}));
    // Rows of a multiple of 8 that begin elsewhere grow by another 8.
    EXPECT_EQ(hidden("efficient_additive_rows_unaligned"), (Work{{"pad-mask", 128 * 136 * 2}}));
    EXPECT_EQ(hidden("math_gqa").at("repeat-heads"), 2U * 2 * 4 * 128 * 64 * 4);
    EXPECT_EQ(hidden("math_plain").at("upcast"), 3U * 2 * 4 * 128 * 64 * 4);
    EXPECT_EQ(hidden("math_fp32"), Work());
}

TEST_F(HiddenWork, OfMathIsWhatItsOperationsAskFor) {
    size_t seen = 0;
    for (const auto& [name, one] : cases) {
        if (one.torch["backend"] != "math") continue;
        ++seen;
        SCOPED_TRACE(name + ' ' + one.torch.dump());
        const auto hidden = [&](const char* code) {
            const auto found = one.hidden.find(code);
            return found == one.hidden.end() ? 0 : found->second;
        };
        EXPECT_EQ(hidden("upcast") + hidden("downcast"), asked_by(one, {"aten::_to_copy"}));
        EXPECT_EQ(hidden("causal-mask") + hidden("convert-mask"),
                  asked_by(one, {"aten::ones", "aten::tril", "aten::logical_not", "aten::scalar_tensor",
                                 "aten::where"}));
        // Where neither rows nor columns are dense, the matrix product itself copies: beyond scores and
        // output.
        const uint64_t in_product = name == "math_strided_fp32"
                                        ? asked_by(one, {"aten::bmm"}) - 2 * 4 * (128 * 128 + 128 * 64) * 4
                                        : 0;
        EXPECT_EQ(hidden("repeat-heads") + hidden("contiguous"), asked_by(one, {"aten::clone"}) + in_product);
    }
    EXPECT_EQ(seen, 13U);
}

}  // namespace
}  // namespace attnscope::test
