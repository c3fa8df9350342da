// Copies, repeated heads, masks and padding: what the operations of the launches say.
#include <gtest/gtest.h>

#include "a_runs.h"

namespace attnscope::test {
namespace {

const char* const kDense = "bf16[2,8,512,64] strides (262144,32768,64,1)";
const char* const kTransposed = "bf16[2,8,512,64] strides (262144,64,512,1)";
const char* const kStrided = "bf16[2,8,512,64] strides (524288,65536,128,2)";

Step copy(std::vector<std::string> operations, const char* to, const char* from) {
    operations.insert(operations.begin(), "aten::copy_");
    return step(Role::cast_or_copy, std::move(operations), {to, from, "false"});
}

Analysis with_steps(std::vector<Step> before) {
    Analysis a = clean_flash();
    before.push_back(flash_step());
    a.implementations = {implementation("sdpa_flash", "flash", std::move(before))};
    return a;
}

TEST(CleanFlash, EveryRuleOfCopiesMasksAndLimitsIsSilent) {
    const Analysis a = clean_flash();
    for (const char* id : {"extra-copy", "gqa-repeat", "mask-per-head", "mask-conversion", "head-dim-padding",
                           "causal-alignment", "score-matrix-written", "known-wrong-results", "index-range",
                           "launch-limit", "memory-predicted", "no-backend", "math-fallback"})
        EXPECT_TRUE(of(a, id).empty()) << id << ": " << of(a, id).front().claim;
}

TEST(NoRun, NothingIsSaidOfNothing) {
    for (const Analysis& a : {Analysis{}, [] {
                                  Analysis b = clean_flash();
                                  b.workload = {};
                                  b.device.reset();
                                  return b;
                              }()})
        for (const char* id :
             {"extra-copy", "gqa-repeat", "mask-per-head", "mask-conversion", "head-dim-padding",
              "causal-alignment", "score-matrix-written", "known-wrong-results", "index-range",
              "launch-limit", "memory-predicted", "no-backend", "math-fallback"})
            EXPECT_TRUE(of(a, id).empty()) << id;
}

TEST(ExtraCopy, ContiguousCopiesOfViewsThatNeedNone) {
    const std::vector<std::string> by = {"aten::clone", "aten::contiguous"};
    const auto found = of(with_steps({copy(by, kDense, kTransposed), copy(by, kDense, kTransposed),
                                      copy(by, kDense, kTransposed)}),
                          "extra-copy");
    ASSERT_EQ(found.size(), 1U);
    const Finding& f = found[0];
    EXPECT_EQ(f.subject, "sdpa_flash");
    EXPECT_EQ(f.severity, Severity::warning);
    EXPECT_EQ(number(f, "copies of q, k or v"), 3);
    EXPECT_EQ(number(f, "bytes that the copies write"), 3 * kTensorBytes);
    EXPECT_EQ(number(f, "bytes that the copies read"), 3 * kTensorBytes);
    EXPECT_EQ(number(f, "of them of tensors whose last dimension is dense already"), 3);
    EXPECT_TRUE(says(f, "aten::contiguous")) << f.claim;
    EXPECT_TRUE(says(f, "Nothing in the fused backends asks for these copies"));
    EXPECT_EQ(f.next_step.find("--contiguous"), std::string::npos) << f.next_step;
}

TEST(ExtraCopy, AStridedLastDimensionIsAReason) {
    const auto found =
        of(with_steps({copy({"aten::clone", "aten::contiguous"}, kDense, kStrided)}), "extra-copy");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(evidence(found[0], "of them of tensors whose last dimension is dense already"), nullptr);
    EXPECT_TRUE(says(found[0], "a last dimension with a stride"));
}

TEST(ExtraCopy, ACastReadsTheOtherType) {
    const auto found = of(with_steps({copy({"aten::_to_copy", "aten::to"}, kDense,
                                           "fp32[2,8,512,64] strides (262144,32768,64,1)")}),
                          "extra-copy");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "bytes that the copies write"), kTensorBytes);
    EXPECT_EQ(number(found[0], "bytes that the copies read"), 2 * kTensorBytes);
    EXPECT_EQ(number(found[0], "of them casts to another type"), 1);
}

TEST(ExtraCopy, OtherTensorsAndLibTorchsOwnCopiesAreNot) {
    const char* small = "bf16[2,512] strides (512,1)";
    const char* host = "bf16[2,8,512,64] strides (262144,32768,64,1) cpu";
    const auto silent = [&](Step s) { return of(with_steps({std::move(s)}), "extra-copy").empty(); };
    EXPECT_TRUE(silent(copy({"aten::clone"}, small, small))) << "not of q's, k's or v's size";
    EXPECT_TRUE(silent(copy({"aten::to"}, kDense, host))) << "a transfer";
    EXPECT_TRUE(
        silent(copy({"aten::constant_pad_nd", "aten::scaled_dot_product_attention"}, kDense, kDense)));
    EXPECT_TRUE(silent(copy({"aten::masked_fill"}, kDense, kDense)));
    Step unknown = copy({"aten::clone"}, kDense, kDense);
    unknown.origin.inputs.clear();
    EXPECT_TRUE(silent(unknown)) << "its tensors were not recorded";
    unknown.origin.inputs = {"bf16[", "x", ""};
    EXPECT_TRUE(silent(unknown));
    Step backward = copy({"aten::clone", "aten::contiguous"}, kDense, kTransposed);
    backward.origin.backward = true;
    EXPECT_TRUE(silent(backward));
}

TEST(GqaRepeat, KeysAndValuesAreWrittenOncePerQueryHead) {
    const std::vector<std::string> by = {"aten::clone", "aten::repeat_interleave"};
    const char* to = "bf16[2,2,4,512,64] strides (262144,131072,32768,64,1)";
    const char* from = "bf16[2,2,4,512,64] strides (65536,32768,0,64,1)";
    Analysis a = with_steps({copy(by, to, from), copy(by, to, from)});
    a.workload.kv_heads = 2;
    a.workload.repeat_kv = true;
    const auto found = of(a, "gqa-repeat");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "bytes of the repeated keys and values"), 2 * kTensorBytes);
    EXPECT_EQ(number(found[0], "times each is written"), 4);
    EXPECT_EQ(number(found[0], "copies"), 2);
    EXPECT_TRUE(says(found[0], "524,288 bytes")) << found[0].claim;  // 2 x (2 x 2 x 512 x 64 x 2)
    EXPECT_EQ(found[0].next_step.find("--repeat-kv"), std::string::npos);
    EXPECT_TRUE(of(a, "extra-copy").empty()) << "one copy, one finding";
}

Analysis masked(std::vector<Step> before, const char* kind) {
    Analysis a = clean_flash();
    before.push_back(step(Role::efficient,
                          {"aten::_efficient_attention_forward", "aten::scaled_dot_product_attention"}, {}));
    a.implementations = {implementation("sdpa_efficient", "efficient", std::move(before))};
    a.workload.causal = false;
    a.workload.mask = kind;
    return a;
}

const std::vector<std::string> kInSdpa = {"aten::scaled_dot_product_attention"};

Step in_sdpa(const char* operation, std::vector<std::string> inputs) {
    return step(Role::other, {operation, kInSdpa[0]}, std::move(inputs));
}

TEST(MaskConversion, AnExpandedMaskIsConvertedAtItsFullSize) {
    const char* mask = "bool[2,8,512,512] strides (0,0,512,1)";
    const auto found = of(masked({in_sdpa("aten::logical_not", {mask}),
                                  in_sdpa("aten::where", {"bool[2,8,512,512] strides (2097152,262144,512,1)",
                                                          "-inf", "bf16[] strides ()"})},
                                 "expanded"),
                          "mask-conversion");
    ASSERT_EQ(found.size(), 1U);
    const double elements = 2 * 8 * 512 * 512;
    EXPECT_EQ(number(found[0], "bytes that the conversion allocates"), elements * (1 + 2));
    EXPECT_EQ(number(found[0], "launches of the conversion"), 2);
    EXPECT_EQ(number(found[0], "elements converted"), elements);
    EXPECT_EQ(number(found[0], "distinct elements of the mask"), 512 * 512);
    EXPECT_TRUE(says(found[0], "expanded view of 262,144 values")) << found[0].claim;
}

TEST(MaskConversion, RowsThatAreNoMultipleOfEightArePadded) {
    Step pad = step(Role::cast_or_copy, {"aten::copy_", "aten::constant_pad_nd", "aten::pad", kInSdpa[0]},
                    {"bf16[512,501] strides (504,1)", "bf16[512,501] strides (501,1)", "false"});
    Analysis a = masked({pad}, "additive");
    a.workload.key_length = 501;
    const auto found = of(a, "mask-conversion");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "bytes of the padded mask"), 512 * 504 * 2);
    EXPECT_EQ(number(found[0], "keys"), 501);
    EXPECT_TRUE(says(found[0], "padded to 504")) << found[0].claim;
    EXPECT_NE(found[0].next_step.find("--key-length 504"), std::string::npos) << found[0].next_step;
}

TEST(MaskConversion, MathsOwnStepsAreNone) {
    EXPECT_TRUE(
        of(masked({step(Role::where, {"aten::where", "aten::_scaled_dot_product_attention_math", kInSdpa[0]},
                        {"bool[512,512] strides (512,1)", "0", "fp32[]"})},
                  "bool"),
           "mask-conversion")
            .empty());
}

TEST(MaskPerHead, ARepeatedMaskIsCountedByHead) {
    const auto found = of(masked({}, "repeated"), "mask-per-head");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "bytes of the mask"), 2 * 8 * 512 * 512);
    EXPECT_EQ(number(found[0], "bytes for each head and batch element"), 512 * 512);
    EXPECT_EQ(number(found[0], "matrices in the mask"), 16);
    EXPECT_TRUE(of(masked({}, "expanded"), "mask-per-head").empty()) << "a view takes no memory";
    EXPECT_TRUE(of(masked({}, "bool"), "mask-per-head").empty());
}

TEST(HeadDimPadding, CopiesAndTheWidthOfTheKernel) {
    Analysis a = clean_flash();
    a.workload.head_dim = 65;
    const char* from = "bf16[2,8,512,65] strides (266240,33280,65,1)";
    const char* to = "bf16[2,8,512,65] strides (294912,36864,72,1)";
    const std::vector<std::string> by = {"aten::constant_pad_nd", "aten::pad", kInSdpa[0]};
    Step kernel = flash_step();
    kernel.decoded->head_dim = 96;
    a.implementations = {implementation(
        "sdpa_flash", "flash", {copy(by, to, from), copy(by, to, from), copy(by, to, from), kernel})};
    const auto found = of(a, "head-dim-padding");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, Severity::warning);
    EXPECT_EQ(number(found[0], "head_dim that is computed"), 96);
    EXPECT_EQ(number(found[0], "copies that pad q, k and v"), 3);
    EXPECT_EQ(number(found[0], "bytes of the padded copies"), 3 * 2 * 8 * 512 * 72 * 2);
    EXPECT_NEAR(number(found[0], "useful share of the products"), 100.0 * 65 / 96, 1e-9);
    EXPECT_TRUE(of(a, "extra-copy").empty());
}

TEST(HeadDimPadding, EfficientsBucketIsNoWidth) {
    Analysis a = clean_flash();
    Step kernel = flash_step();
    kernel.decoded->library = AttentionKernelName::Library::efficient;
    kernel.decoded->head_dim = 65536;
    a.implementations = {implementation("sdpa_efficient", "efficient", {kernel})};
    EXPECT_TRUE(of(a, "head-dim-padding").empty());
}

}  // namespace
}  // namespace attnscope::test
