// The attention problem: what is refused before anything starts, and that it survives the way through a
// command line.
#include <gtest/gtest.h>

#include "attnscope/attention.h"
#include "attnscope/error.h"

namespace attnscope {
namespace {

std::optional<int> parse(std::vector<std::string> words, AttentionProblem& problem) {
    words.insert(words.begin(), "attention_workload");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return parse_attention(static_cast<int>(argv.size()), argv.data(), problem);
}

std::string refusal(const AttentionProblem& problem) {
    AttentionProblem copy = problem;
    try {
        complete(copy);
    } catch (const Error& e) {
        EXPECT_EQ(e.exit(), Exit::bad_input);
        return e.what();
    }
    return {};
}

AttentionProblem with(void (*change)(AttentionProblem&)) {
    AttentionProblem problem;
    change(problem);
    return problem;
}

TEST(Problem, SurvivesTheCommandLine) {
    AttentionProblem p;
    p.batch = 3;
    p.heads = 12;
    p.kv_heads = 4;
    p.query_length = 77;
    p.key_length = 99;
    p.head_dim = 80;
    p.dtype = "fp16";
    p.causal = false;
    p.mask = AttentionMask::expanded;
    p.transposed = p.contiguous = p.repeat_kv = p.backward = p.deterministic = p.reduced_math = true;
    p.last_stride = 2;
    p.dropout = 1e-9;  // a text of six decimals would lose it
    p.layers = 12;
    p.warmup = 0;
    p.iterations = 7;
    p.only = {"sdpa_math", "naive"};
    p.choice_only = true;
    p.seed = 18446744073709551615U;
    AttentionProblem read;
    ASSERT_EQ(parse(to_arguments(p), read), std::nullopt);
    EXPECT_EQ(to_arguments(read), to_arguments(p));
    EXPECT_EQ(read.batch, 3);
    EXPECT_EQ(read.mask, AttentionMask::expanded);
    EXPECT_EQ(read.last_stride, 2);
    EXPECT_EQ(read.dropout, 1e-9);
    EXPECT_EQ(read.layers, 12);
    EXPECT_TRUE(read.contiguous && read.repeat_kv && read.deterministic && read.reduced_math);
    EXPECT_EQ(read.only, p.only);
    EXPECT_EQ(read.seed, p.seed);
}

TEST(Problem, EveryMaskHasItsName) {
    for (const auto mask : {AttentionMask::none, AttentionMask::boolean, AttentionMask::additive,
                            AttentionMask::expanded, AttentionMask::repeated}) {
        AttentionProblem read;
        ASSERT_EQ(parse({"--no-causal", "--mask", to_string(mask)}, read), std::nullopt) << to_string(mask);
        EXPECT_EQ(read.mask, mask);
    }
}

TEST(Problem, DefaultsFollowFromOthers) {
    AttentionProblem p;
    p.heads = 6;
    p.query_length = 40;
    complete(p);
    EXPECT_EQ(p.kv_heads, 6);
    EXPECT_EQ(p.key_length, 40);
    EXPECT_FALSE(p.enable_gqa());
    p.kv_heads = 2;
    EXPECT_TRUE(p.enable_gqa());
    p.repeat_kv = true;
    EXPECT_FALSE(p.enable_gqa());
}

TEST(Problem, WhatCannotBeIsRefusedInASentence) {
    EXPECT_EQ(refusal(AttentionProblem()), "");
    EXPECT_NE(refusal(with([](auto& p) { p.kv_heads = 3; })).find("--kv-heads 3"), std::string::npos);
    EXPECT_NE(refusal(with([](auto& p) { p.mask = AttentionMask::repeated; })).find("--no-causal"),
              std::string::npos);
    EXPECT_NE(refusal(with([](auto& p) { p.only = {"sdpa_fast"}; })).find("'sdpa_fast'"), std::string::npos);
    for (const double dropout : {1.0, 1.5, -0.1, std::numeric_limits<double>::quiet_NaN()}) {
        AttentionProblem p;
        p.dropout = dropout;
        EXPECT_NE(refusal(p).find("--dropout"), std::string::npos) << dropout;
    }
}

// 2^31 elements are a tensor, 2^63 bytes are none: also where only the score matrix or a stride makes them.
TEST(Problem, SizesBeyondAnyAddressSpaceAreRefused) {
    EXPECT_EQ(refusal(with([](auto& p) { p.query_length = int64_t{1} << 31; })),
              "the score matrix is larger than "
              "any address space: choose a smaller shape");
    EXPECT_EQ(refusal(with([](auto& p) {
                  p.batch = int64_t{1} << 31;
                  p.query_length = 16;
              })),
              "");
    EXPECT_NE(refusal(with([](auto& p) { p.head_dim = int64_t{1} << 50; })), "");
    EXPECT_NE(refusal(with([](auto& p) {
                  p.query_length = 1;
                  p.head_dim = int64_t{1} << 48;
                  p.last_stride = 64;
              })),
              "");
    AttentionProblem p;
    EXPECT_EQ(parse({"--batch", "9223372036854775808"}, p), 2);
    EXPECT_EQ(parse({"--seq", "0"}, p), 2);
    EXPECT_EQ(parse({"--seq", "-1"}, p), 2);
}

}  // namespace
}  // namespace attnscope
