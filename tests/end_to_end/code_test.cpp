// What the binary says, end to end on the virtual GPU: the launcher looks the kernels up, the analysis joins
// them, rules and report speak of them. Right values: nvdisasm of libtorch_cuda.so 2.11 (tests/sass).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "attnscope/rules.h"
#include "attnscope/sass.h"
#include "harness.h"

namespace attnscope::test {
namespace {

const Step* kernel(const AttentionRun& run, const std::string& implementation) {
    for (const Implementation& i : run.analysis.implementations)
        if (i.name == implementation)
            for (const Step& step : i.steps)
                if (step.is_kernel()) return &step;
    return nullptr;
}

bool found(const AttentionRun& run, std::string_view id, std::string_view subject) {
    const std::vector<Finding> all = find_all(run.analysis);
    return std::any_of(all.begin(), all.end(),
                       [&](const Finding& f) { return f.id == id && f.subject == subject; });
}

TEST(Code, FlashForwardOnHopperIsMmaSync) {
    const AttentionRun run = attention(
        "virtual:H100-SXM5", {"--only", "sdpa_flash,sdpa_cudnn", "--seq", "2048", "--head-dim", "64"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    const Step* flash = kernel(run, "sdpa_flash");
    ASSERT_NE(flash, nullptr);
    ASSERT_TRUE(flash->mix) << flash->mix_absent;
    EXPECT_EQ(flash->mix->sm, 90);
    EXPECT_EQ(flash->mix->count("HMMA"), 512U);
    EXPECT_EQ(flash->mix->count("HGMMA"), 0U);
    EXPECT_EQ(flash->mix->count("MUFU"), 273U);
    EXPECT_EQ(flash->mix->count("LDL"), 37U);
    EXPECT_EQ(flash->mix->count("STL"), 35U);
    ASSERT_TRUE(flash->decoded);
    EXPECT_EQ(flash->decoded->tile_words(), "64: 128x128, 4 warps");
    EXPECT_TRUE(found(run, "tensor-instructions", "sdpa_flash"));
    EXPECT_TRUE(found(run, "register-spills", "sdpa_flash"));
    EXPECT_FALSE(found(run, "shared-bytes-differ", "sdpa_flash"));
}

// LibTorch's wheel has flash for sm_80, sm_86 and sm_90: what runs on an Ada GPU is the code for sm_86.
TEST(Code, IsThatOfTheArchitectureThatTheDeviceLoads) {
    for (const auto& [device, sm] :
         {std::pair("virtual:RTX-4090", 86), std::pair("virtual:A100-SXM4-80GB", 80)}) {
        const AttentionRun run = attention(device, {"--only", "sdpa_flash", "--head-dim", "64"});
        ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
        const Step* flash = kernel(run, "sdpa_flash");
        ASSERT_NE(flash, nullptr);
        ASSERT_TRUE(flash->mix) << flash->mix_absent;
        EXPECT_EQ(flash->mix->sm, sm) << device;
        EXPECT_FALSE(found(run, "tensor-instructions", "sdpa_flash")) << device;
    }
}

// A run whose code is taken away is the same run without it.
TEST(Code, TakenAwayIsAbsentWithAReason) {
    Scratch scratch;
    const std::string folder = scratch.path("run");
    const Outcome outcome = attnscope({"attention", "--device", "virtual:H100-SXM5", "--only", "sdpa_flash",
                                       "--seq", "2048", "-o", folder});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::filesystem::path runs =
        std::filesystem::exists(folder + "/run.json") ? folder : folder + "/run";
    const std::filesystem::path code = runs / "code" / "kernels.jsonl";
    ASSERT_TRUE(std::filesystem::exists(code));
    const Analysis with = analyze(read_run(runs));
    std::filesystem::remove(code);
    const Analysis without = analyze(read_run(runs));
    ASSERT_EQ(with.implementations.size(), without.implementations.size());
    const Step &a = with.implementations[0].steps.at(0), &b = without.implementations[0].steps.at(0);
    EXPECT_TRUE(a.mix);
    EXPECT_FALSE(b.mix);
    EXPECT_NE(b.mix_absent.find("the run holds no code"), std::string::npos) << b.mix_absent;
    EXPECT_EQ(a.full_name, b.full_name);
    EXPECT_EQ(a.registers.number, b.registers.number);
}

}  // namespace
}  // namespace attnscope::test
