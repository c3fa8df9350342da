// The blog's shape (Hugging Face, "Profiling in PyTorch, part 3"): does the report answer what a kernel
// engineer asks of it, with numbers that can be computed by hand?
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "harness.h"

namespace attnscope::test {
namespace {

constexpr double kScores = 8.0 * 16 * 1024 * 1024;
constexpr double kUsefulFlops = 4 * kScores * 64 / 2;  // causal: half

struct Blog {
    Analysis analysis;
    std::vector<Finding> findings;
    std::string markdown;
};

Blog blog(const std::string& device) {
    Scratch scratch;
    const Outcome outcome = attnscope({"attention", "--device", device, "--batch", "8", "--heads", "16",
                                       "--seq", "1024", "--head-dim", "64", "--dtype", "bf16", "--warmup",
                                       "0", "--iterations", "1", "-o", scratch.path("out")});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    if (outcome.exit_code != 0) return {};
    std::ifstream file(scratch.path("out/report.md"));
    Blog b{analyze(read_run(scratch.path("out/run"))), {}, {std::istreambuf_iterator<char>(file), {}}};
    b.findings = find_all(b.analysis);
    return b;
}

const Blog& a100() {
    static const Blog run = blog("virtual:A100-SXM4-80GB");
    return run;
}
const Blog& h100() {
    static const Blog run = blog("virtual:H100-SXM5");
    return run;
}

const Implementation& get(const Blog& b, const std::string& name) {
    const Implementation* found = b.analysis.find(name);
    if (!found) throw std::runtime_error("no " + name);
    return *found;
}

/// The claim stands in what a person reads (Markdown escapes some characters, so a part of it).
void expect_written(const Blog& b, const std::string& words) {
    EXPECT_NE(b.markdown.find(words), std::string::npos) << words;
}

TEST(Answers, WhyFlashCanBeFastAtAnEighthOfTheWarps) {
    for (const Blog* b : {&a100(), &h100()}) {
        expect_finding(b->findings, {"low-occupancy-by-design",
                                     "sdpa_flash",
                                     {{"theoretical occupancy", 12.5},
                                      {"registers per thread", 255},
                                      {"CTAs per SM", 2},
                                      {"score-matrix bytes", 0},
                                      {"queries of a CTA's tile", 128},
                                      {"arithmetic intensity, FLOP per byte", kUsefulFlops / 67108864}},
                                     {"is the design, not the fault", "serves 128 queries"}});
        expect_written(*b, "12.5% theoretical occupancy of sdpa_flash is the design");
    }
    // Twice the warps, and slower where it was measured: the counter-example.
    expect_finding(a100().findings, {"more-occupancy-less-speed",
                                     "sdpa_efficient",
                                     {{"theoretical occupancy of sdpa_efficient", 25},
                                      {"time of sdpa_efficient", 277900},
                                      {"time of sdpa_flash", 146800}},
                                     {"published: Hugging Face"}});
}

TEST(Answers, WhichCannotBeAndWhichTheBoundDoesNotTellApart) {
    for (const Blog* b : {&a100(), &h100()}) {
        const Rank& rank = b->analysis.rank;
        ASSERT_GE(rank.groups.size(), 2U);
        for (const char* name : {"sdpa_flash", "sdpa_efficient", "sdpa_cudnn"})
            EXPECT_NE(std::find(rank.groups.front().names.begin(), rank.groups.front().names.end(), name),
                      rank.groups.front().names.end())
                << name;
        EXPECT_EQ(rank.groups.back().names, std::vector<std::string>{"sdpa_math"});
        expect_finding(b->findings,
                       {"not-decidable",
                        "sdpa_flash",
                        {{"least bytes of each", 67108864}, {"useful FLOP of each", kUsefulFlops}},
                        {"not decidable without measurement"}});
        expect_written(*b, "not decidable without measurement");
    }
    EXPECT_NEAR(*get(a100(), "sdpa_flash").prediction.bound.number, kUsefulFlops / 3.12e14 * 1e9, 1);
    EXPECT_NEAR(*get(h100(), "sdpa_flash").prediction.bound.number, kUsefulFlops / 9.894e14 * 1e9, 1);
    // The published times lie above their bounds: the bound holds where it can be held.
    EXPECT_LT(*get(a100(), "sdpa_math").prediction.bound.number, 7239e3);
    EXPECT_GT(*get(a100(), "sdpa_math").prediction.bound.number, 277.9e3)
        << "math cannot be as fast as efficient is";
}

TEST(Answers, WhyMathIsSlowest) {
    for (const Blog* b : {&a100(), &h100()}) {
        EXPECT_EQ(get(*b, "sdpa_math").launches.number, 20.0);
        expect_finding(b->findings, {"math-upcast",
                                     "sdpa_math",
                                     {{"cast or copy kernels", 5},
                                      {"fp32 matrix products", 2},
                                      {"score-matrix bytes", 44 * kScores},
                                      {"score-matrix bytes without the upcast", 20 * kScores}},
                                     {"every score takes 4 bytes instead of 2"}});
        expect_finding(b->findings,
                       {"math-nan-guard",
                        "sdpa_math",
                        {{"kernels of the guard", 3}, {"score-matrix bytes of the guard", 14 * kScores}},
                        {}});
        expect_written(*b, "5,905,580,032 bytes");
    }
    EXPECT_EQ(get(a100(), "sdpa_math").prediction.roof.number, 1.95e13);
    EXPECT_EQ(get(h100(), "sdpa_math").prediction.roof.number, 6.69e13);
}

TEST(Answers, WhatEachCopyCosts) {
    for (const Blog* b : {&a100(), &h100()}) {
        expect_finding(b->findings, {"masked-fill-copy",
                                     "naive",
                                     {{"device-to-device copy", 2 * kScores},
                                      {"launches of naive", 6},
                                      {"launches of naive_inplace", 5}},
                                     {}});
        expect_silent(b->findings, "extra-copy");
        expect_written(*b, "268,435,456 bytes");
    }
}

TEST(Answers, WhyEachBackendWasChosenOrRefused) {
    expect_finding(a100().findings, {"unforced-choice",
                                     "sdpa_auto",
                                     {{"place in the order of priority", 1}},
                                     {"chooses flash", "flash, efficient, math, cudnn"}});
    expect_finding(h100().findings, {"unforced-choice",
                                     "sdpa_auto",
                                     {{"place in the order of priority", 1}},
                                     {"chooses cudnn", "cudnn, flash, efficient, math"}});
    for (const Blog* b : {&a100(), &h100()}) expect_silent(b->findings, "backend-refused");
}

TEST(Answers, WhatWouldChangeOnTheOtherGpu) {
    expect_finding(a100().findings, {"other-gpu",
                                     "",
                                     {{"bound on A100-SXM4-80GB", kUsefulFlops / 3.12e14 * 1e9},
                                      {"bound on H100-SXM5", kUsefulFlops / 9.894e14 * 1e9},
                                      {"waves there", 1024.0 / (2 * 132)}},
                                     {"3.17 times lower"}});
    expect_finding(h100().findings, {"other-gpu",
                                     "",
                                     {{"bound on A100-SXM4-80GB", kUsefulFlops / 3.12e14 * 1e9},
                                      {"waves there", 1024.0 / (2 * 108)}},
                                     {"3.17 times higher"}});
    // What the ratio of the peaks does not tell: the exponentials become as dear as the products.
    expect_finding(
        h100().findings,
        {"exponentials-limiting",
         "sdpa_flash",
         {{"exponentials / products", 100 * (kScores / 2 / (16 * 132 * 1.98e9)) / (kUsefulFlops / 9.894e14)}},
         {}});
    expect_silent(a100().findings, "exponentials-limiting");
}

}  // namespace
}  // namespace attnscope::test
