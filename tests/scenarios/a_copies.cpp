// Copies of q, k and v: contiguous, padded, repeated.
#include <gtest/gtest.h>

#include "harness.h"

namespace attnscope::test {
namespace {

using Words = std::vector<std::string>;

// 2 x 8 x 128 x 64 elements of 2 bytes.
constexpr double kTensor = 2.0 * 8 * 128 * 64 * 2;

Words shape(Words more) {
    Words all = {"--batch", "2", "--heads", "8", "--seq", "128"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

class Copies : public testing::TestWithParam<Scenario> {};

TEST_P(Copies, AreCounted) {
    check(GetParam());
}

const Scenario kScenarios[] = {
    {21,
     "ContiguousBeforeFlash",
     "virtual:A100-SXM4-80GB",
     shape({"--transposed", "--contiguous", "--only", "sdpa_flash"}),
     {{"extra-copy",
       "sdpa_flash",
       {{"copies of q, k or v", 3},
        {"bytes that the copies write", 3 * kTensor},
        {"bytes that the copies read", 3 * kTensor},
        {"of them of tensors whose last dimension is dense already", 3}},
       {"aten::contiguous"}}},
     {"gqa-repeat", "head-dim-padding", "mask-conversion"}},
    {21,
     "TransposedViewsNeedNone",
     "virtual:A100-SXM4-80GB",
     shape({"--transposed", "--only", "sdpa_flash"}),
     {},
     {"extra-copy", "gqa-repeat", "head-dim-padding", "mask-conversion", "mask-per-head", "causal-alignment",
      "math-fallback", "score-matrix-written", "launch-limit", "index-range", "memory-predicted"}},
    {14,
     "AStridedLastDimensionIsCopiedFirst",
     "virtual:A100-SXM4-80GB",
     shape({"--last-stride", "2", "--contiguous", "--only", "sdpa_efficient"}),
     {{"extra-copy",
       "sdpa_efficient",
       {{"copies of q, k or v", 3}, {"bytes that the copies write", 3 * kTensor}},
       {"a last dimension with a stride"}}},
     {"backend-refused"}},
    // 65 is padded to 72 by three copies, and computed by the kernel for 96.
    {17,
     "HeadDim65IsComputedAs96",
     "virtual:A100-SXM4-80GB",
     shape({"--head-dim", "65", "--only", "sdpa_flash"}),
     {{"head-dim-padding",
       "sdpa_flash",
       {{"head_dim", 65},
        {"head_dim that is computed", 96},
        {"copies that pad q, k and v", 3},
        {"launches for the padding", 6},
        {"bytes of the padded copies", 3.0 * 2 * 8 * 128 * 72 * 2},
        {"useful share of the products", 100.0 * 65 / 96}},
       {}}},
     {"extra-copy"}},
    {17,
     "HeadDim80IsComputedAs96WithoutCopies",
     "virtual:H100-SXM5",
     shape({"--head-dim", "80", "--only", "sdpa_flash"}),
     {{"head-dim-padding",
       "sdpa_flash",
       {{"head_dim that is computed", 96}, {"useful share of the products", 100.0 * 80 / 96}},
       {}}},
     {"extra-copy"}},
    {17,
     "HeadDim96IsNot",
     "virtual:H100-SXM5",
     shape({"--head-dim", "96", "--only", "sdpa_flash"}),
     {},
     {"head-dim-padding"}},
    // 2 key heads for 8 query heads, repeated by hand: both written as large as q.
    {3,
     "RepeatedByHand",
     "virtual:A100-SXM4-80GB",
     shape({"--kv-heads", "2", "--repeat-kv", "--only", "sdpa_efficient,sdpa_flash"}),
     {{"gqa-repeat",
       "sdpa_efficient",
       {{"bytes of the repeated keys and values", 2 * kTensor}, {"times each is written", 4}, {"copies", 2}},
       {}},
      {"gqa-repeat", "sdpa_flash", {{"bytes of the repeated keys and values", 2 * kTensor}}, {}}},
     {"extra-copy"}},
    {3,
     "FlashReadsGroupedHeadsAsTheyAre",
     "virtual:A100-SXM4-80GB",
     shape({"--kv-heads", "2", "--only", "sdpa_flash"}),
     {},
     {"gqa-repeat", "extra-copy"}},
};

INSTANTIATE_TEST_SUITE_P(Public, Copies, testing::ValuesIn(kScenarios),
                         [](const auto& one) { return test_name(one.param); });

}  // namespace
}  // namespace attnscope::test
