// What LibTorch refuses, falls back from, or cannot do at all.
#include <gtest/gtest.h>

#include "harness.h"

namespace attnscope::test {
namespace {

using Words = std::vector<std::string>;

const Words kShape = {"--batch", "2", "--heads", "8", "--seq", "128", "--head-dim", "64"};

Words shape(Words more) {
    more.insert(more.begin(), kShape.begin(), kShape.end());
    return more;
}

class Refusals : public testing::TestWithParam<Scenario> {};

TEST_P(Refusals, AreExplainedWithNumbers) {
    check(GetParam());
}

const Scenario kScenarios[] = {
    // fp32 and grouped heads: flash takes no fp32, efficient no grouped heads. math repeats K and V in fp32:
    // 2 x (2 x 8 x 128 x 64) x 4 bytes.
    {3,
     "GroupedFp32FallsToMath",
     "virtual:A100-SXM4-80GB",
     shape({"--kv-heads", "2", "--dtype", "fp32", "--only", "sdpa_auto"}),
     {{"math-fallback",
       "sdpa_auto",
       {{"backends that refuse the call", 3}},
       {"flash: ", "efficient: ", "cudnn: "}},
      {"gqa-repeat",
       "sdpa_auto",
       {{"bytes of the repeated keys and values", 2.0 * 2 * 8 * 128 * 64 * 4}, {"times each is written", 4}},
       {"inside scaled_dot_product_attention"}}},
     {"no-backend"}},
    {4,
     "TheOrderOnAnA100HasCudnnBehindMath",
     "virtual:A100-SXM4-80GB",
     shape({"--only", "sdpa_auto"}),
     {{"unforced-choice",
       "sdpa_auto",
       {{"place in the order of priority", 1}},
       {"chooses flash", "flash, efficient, math, cudnn"}}},
     {"math-fallback", "no-backend", "backend-refused"}},
    {4,
     "TheOrderOnAnH100HasCudnnFirst",
     "virtual:H100-SXM5",
     shape({"--only", "sdpa_auto"}),
     {{"unforced-choice",
       "sdpa_auto",
       {{"place in the order of priority", 1}},
       {"chooses cudnn", "cudnn, flash, efficient, math"}}},
     {"math-fallback"}},
    {9,
     "OneKeyIsTooFewForCudnn",
     "virtual:H100-SXM5",
     {"--batch", "2", "--heads", "8", "--query-length", "128", "--key-length", "1", "--no-causal", "--only",
      "sdpa_cudnn,sdpa_flash"},
     {{"backend-refused", "sdpa_cudnn", {{"keys", 1}}, {"sequence length 1"}}},
     {}},
    {14,
     "EfficientRefusesAStridedLastDimension",
     "virtual:A100-SXM4-80GB",
     shape({"--last-stride", "2", "--only", "sdpa_efficient,sdpa_math"}),
     {{"backend-refused", "sdpa_efficient", {{"stride of the last dimension", 2}}, {"stride"}}},
     {"extra-copy"}},
    {15,
     "FlashAndCudnnToo",
     "virtual:H100-SXM5",
     shape({"--last-stride", "2", "--only", "sdpa_flash,sdpa_cudnn,sdpa_auto"}),
     {{"backend-refused", "sdpa_flash", {{"stride of the last dimension", 2}}, {}},
      {"backend-refused", "sdpa_cudnn", {{"stride of the last dimension", 2}}, {}},
      {"math-fallback", "sdpa_auto", {{"backends that refuse the call", 3}}, {}}},
     {}},
    // FlashAttention 2's backward of head_dim 256: 2 x (2 x 64 x 256 + 2 x 64 x 256 + 2 x 64 x 64) bytes in
    // its smallest tile with dropout; an sm_89 CTA may have 99 KiB.
    {18,
     "TrainingOfHeadDim256OnAnSm89",
     "virtual:RTX-4090",
     Words({"--batch", "2", "--heads", "8", "--seq", "128", "--head-dim", "256", "--backward", "--dropout",
            "0.1", "--only", "sdpa_flash,sdpa_efficient"}),
     {{"backend-refused",
       "sdpa_flash",
       {{"head_dim", 256}, {"shared memory of the backward's 64 x 64 tile", 147456}},
       {"training with head_dim", "101,376 bytes"}}},
     {}},
    {18,
     "ItFitsOnAnA100",
     "virtual:A100-SXM4-80GB",
     Words({"--batch", "2", "--heads", "8", "--seq", "128", "--head-dim", "256", "--backward", "--dropout",
            "0.1", "--only", "sdpa_flash"}),
     {},
     {"backend-refused"}},
    {19,
     "CausalWithACacheIsAlignedUpperLeft",
     "virtual:A100-SXM4-80GB",
     {"--batch", "2", "--heads", "8", "--query-length", "16", "--key-length", "128", "--only",
      "sdpa_flash,sdpa_efficient"},
     {{"causal-alignment",
       "",
       {{"queries", 16}, {"keys", 128}, {"keys that no query sees", 112}},
       {"upper left"}},
      {"backend-refused", "sdpa_flash", {{"queries", 16}, {"keys", 128}}, {"seqlen_q != seqlen_k"}}},
     {}},
    {27,
     "Bf16OnAT4",
     "virtual:T4",
     shape({"--only", "sdpa_efficient,sdpa_flash,sdpa_auto"}),
     {{"backend-refused", "sdpa_efficient", {{"compute capability", 7.5}}, {"dtype"}},
      {"backend-refused", "sdpa_flash", {{"compute capability", 7.5}}, {"gpu architectures"}},
      {"math-fallback", "sdpa_auto", {{"backends that refuse the call", 3}}, {}}},
     {}},
    {31,
     "AMaskTakesFlashAwayAndEfficientComes",
     "virtual:RTX-5090",
     shape({"--no-causal", "--mask", "bool", "--only", "sdpa_flash,sdpa_auto"}),
     {{"backend-refused", "sdpa_flash", {{"elements of the mask", 128 * 128}}, {"non-null attn_mask"}},
      {"unforced-choice", "sdpa_auto", {{"place in the order of priority", 2}}, {"chooses efficient"}}},
     {"math-fallback"}},
    // masked and grouped: flash and efficient refuse, cuDNN comes after math, whose scores do not fit: at
    // least two
    // matrices of 24 x 16384 x 16384 x 4 bytes, beside q, k, v and o.
    {29,
     "MaskedAndGroupedDoesNotFit",
     "virtual:RTX-4090",
     {"--batch", "1", "--heads", "24", "--kv-heads", "8", "--seq", "16384", "--head-dim", "128",
      "--no-causal", "--mask", "bool", "--only", "sdpa_auto", "--warmup", "0"},
     {{"math-fallback", "sdpa_auto", {{"backends that refuse the call", 2}}, {"flash: ", "efficient: "}},
      {"memory-predicted",
       "sdpa_auto",
       {{"least peak memory", 2.0 * 24 * 16384 * 16384 * 4 + 2.0 * (2 * 24 + 2 * 8) * 16384 * 128}},
       {"out of memory"}}},
     {},
     1},
    {39,
     "Fp16OnAT4HasEfficientLeft",
     "virtual:T4",
     shape({"--dtype", "fp16", "--only", "sdpa_flash,sdpa_cudnn,sdpa_auto"}),
     {{"backend-refused", "sdpa_flash", {{"compute capability", 7.5}}, {"sm80"}},
      {"unforced-choice", "sdpa_auto", {{"place in the order of priority", 2}}, {"chooses efficient"}}},
     {"math-fallback"}},
};

INSTANTIATE_TEST_SUITE_P(Public, Refusals, testing::ValuesIn(kScenarios),
                         [](const auto& one) { return test_name(one.param); });

}  // namespace
}  // namespace attnscope::test
