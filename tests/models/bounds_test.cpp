// Roofs, and the bounds under them, computed by hand for the blog's shape.
#include <gtest/gtest.h>

#include "shapes.h"

namespace attnscope {
namespace {

using test::blog_shape;
using test::kScores;
using test::kTensor;
using test::roofs;

constexpr double kL2 = 41943040, kDram = 2.039e12;  // A100-SXM4-80GB

Prediction on_a100(Method method, const char* dtype = "bf16", bool tf32 = false) {
    AttentionShape s = blog_shape();
    s.dtype = dtype;
    return predict(s, method, roofs("A100-SXM4-80GB", dtype), Ground::virtual_gpu, {}, tf32);
}

TEST(Roofs, AreTheGpusFigures) {
    const Roofs a100 = roofs("A100-SXM4-80GB", "bf16");
    EXPECT_EQ(a100.tensor.number, 312e12);
    EXPECT_EQ(a100.fp32.number, 19.5e12);
    EXPECT_EQ(a100.dram.number, kDram);
    EXPECT_EQ(a100.l2.number, kL2);
    EXPECT_EQ(a100.exponentials.number, 16.0 * 108 * 1.41e9);
    for (const Value* v : {&a100.tensor, &a100.fp32, &a100.dram, &a100.l2, &a100.exponentials})
        EXPECT_FALSE(v->formula.empty()) << "a figure without its source";
}

// FlashAttention-3 paper (arXiv 2407.08608): 3.9 T exponentials/s on an H100, at the clock it computes with.
TEST(Roofs, OfExponentialsAgreeWithThePaper) {
    const double per_clock = *roofs("H100-SXM5", "fp16").exponentials.number / 1.98e9;
    EXPECT_NEAR(per_clock * 1.83e9, 3.9e12, 0.05e12);
}

TEST(Roofs, ThatNobodyStatesAreAbsent) {
    const Roofs v100 = roofs("V100", "bf16");
    EXPECT_FALSE(v100.tensor);
    EXPECT_NE(v100.tensor.absent.find("bf16"), std::string::npos);
    EXPECT_TRUE(roofs("V100", "fp16").tensor);
    EXPECT_FALSE(roofs("A100-SXM4-80GB", "fp8").tensor);
    EXPECT_EQ(roofs("A100-SXM4-80GB", "fp32").tensor.absent, "tensor cores take no fp32");
}

TEST(Roofs, AssumedFiguresAreNamed) {
    EXPECT_NE(roofs("B200", "bf16").assumed.find("clock_rate"), std::string::npos);
    EXPECT_NE(roofs("B200", "bf16").exponentials.formula.find("assumed"), std::string::npos);
    EXPECT_EQ(roofs("A100-SXM4-80GB", "bf16").assumed, "");
}

TEST(Roofs, AreThoseOfTheUnitsInUse) {
    EXPECT_EQ(on_a100(Method::flash).roof_name, "bf16 tensor cores");
    EXPECT_EQ(on_a100(Method::naive).roof.number, 312e12);
    EXPECT_EQ(on_a100(Method::math_reduced).roof_name, "bf16 tensor cores");
    EXPECT_EQ(on_a100(Method::math).roof_name, "fp32 CUDA cores") << "computed in fp32 whatever the inputs";
    EXPECT_EQ(on_a100(Method::math).roof.number, 19.5e12);
    EXPECT_EQ(on_a100(Method::naive, "fp32").roof_name, "fp32 CUDA cores");
    EXPECT_EQ(on_a100(Method::naive, "fp32", true).roof_name, "TF32 tensor cores");
    EXPECT_EQ(on_a100(Method::efficient, "fp32").roof.number, 156e12 / 3);
    EXPECT_FALSE(on_a100(Method::flash, "fp32").roof) << "flash takes no fp32";
}

TEST(Bound, OfFlashIsItsProducts) {
    const Prediction p = on_a100(Method::flash);
    // Three tensors in, less what the L2 keeps; one out, which it keeps whole.
    EXPECT_EQ(p.dram_bytes.number, 3 * 2 * kTensor - kL2);
    EXPECT_DOUBLE_EQ(*p.memory_time.number, (3 * 2 * kTensor - kL2) / kDram * 1e9);
    EXPECT_DOUBLE_EQ(*p.compute_time.number, 17179869184.0 / 312e12 * 1e9);
    EXPECT_DOUBLE_EQ(*p.exponential_time.number, kScores / 2 / (16.0 * 108 * 1.41e9) * 1e9);
    EXPECT_EQ(p.bound.number, p.compute_time.number);
    EXPECT_EQ(p.binds, "compute");
    EXPECT_EQ(p.intensity.number, 17179869184.0 / (8 * kTensor)) << "256 FLOP/byte";
    EXPECT_NEAR(*p.ridge.number, 153, 0.1);
    EXPECT_FALSE(p.l2_resident);
}

TEST(Bound, OfCudnnKnowsNothingOfItsExponentials) {
    const Prediction p = on_a100(Method::cudnn);
    EXPECT_FALSE(p.exponential_time);
    EXPECT_EQ(p.bound.number, on_a100(Method::flash).bound.number);
}

TEST(Bound, OfNaiveIsItsTraffic) {
    const Prediction p = on_a100(Method::naive_inplace);
    const double matrix = 2 * kScores - kL2;  // a score matrix in or out, less what the L2 keeps
    const double bytes = 7 * matrix + (2 * kScores + 2 * kTensor - kL2);
    EXPECT_EQ(p.dram_bytes.number, bytes);
    EXPECT_DOUBLE_EQ(*p.bound.number, bytes / kDram * 1e9) << "every kernel waits for memory";
    EXPECT_EQ(p.binds, "memory");
    EXPECT_LT(*p.bound.number, *on_a100(Method::naive).bound.number);
}

// Products of math on the CUDA cores, 2 x 17.2 GFLOP at 19.5 TFLOP/s, are 1.76 ms; its 5.9 GB of scores 2.9
// ms.
TEST(Bound, OfMathIsBoth) {
    const Prediction p = on_a100(Method::math);
    EXPECT_DOUBLE_EQ(*p.compute_time.number, 34359738368.0 / 19.5e12 * 1e9);
    EXPECT_EQ(p.score_bytes.number, 5905580032.0);
    EXPECT_GT(*p.bound.number, *p.compute_time.number);
    EXPECT_GT(*p.bound.number, *p.memory_time.number);
    EXPECT_LT(*p.bound.number, *p.memory_time.number + *p.compute_time.number);
}

TEST(Bound, SmallProblemsMayStayInTheL2) {
    const AttentionShape s{1, 8, 8, 512, 512, 64, "bf16"};
    const Prediction p = predict(s, Method::naive, roofs("A100-SXM4-80GB", "bf16"), Ground::virtual_gpu);
    EXPECT_TRUE(p.l2_resident);
    EXPECT_EQ(p.dram_bytes.number, 0.0);
    EXPECT_EQ(p.memory_time.number, 0.0);
    EXPECT_GT(*p.bound.number, 0.0);
}

// A bound holds without the roofs that are not known, and says what is not in it.
TEST(Bound, WithoutAPeakIsWeakerAndSaysSo) {
    const Prediction p = predict(blog_shape(), Method::naive, roofs("V100", "bf16"), Ground::virtual_gpu);
    ASSERT_TRUE(p.bound);
    EXPECT_NE(p.bound.formula.find("products are not in it"), std::string::npos) << p.bound.formula;
    EXPECT_FALSE(p.compute_time);
    EXPECT_FALSE(p.ridge);
}

TEST(Bound, OfAnUnknownGpuIsAbsent) {
    const Prediction p = test::amounts(blog_shape(), Method::naive);
    EXPECT_TRUE(p.score_bytes) << "bytes need no GPU";
    for (const Value* v :
         {&p.bound, &p.memory_time, &p.compute_time, &p.dram_bytes, &p.roof, &p.ridge, &p.exponential_time}) {
        EXPECT_FALSE(*v);
        EXPECT_EQ(v->absent, "no GPU in this test");
    }
    EXPECT_EQ(p.binds, "");
    EXPECT_EQ(p.l2_note, "");
}

TEST(Bound, EveryFigureSaysHowItWasMade) {
    for (const Method method : {Method::unfused, Method::naive, Method::naive_inplace, Method::math,
                                Method::math_reduced, Method::flash, Method::efficient, Method::cudnn}) {
        const Prediction p = on_a100(method);
        for (const Value* v : {&p.useful_flops, &p.least_bytes, &p.score_bytes, &p.bytes, &p.dram_bytes,
                               &p.least_memory, &p.bound, &p.roof, &p.intensity, &p.ridge}) {
            ASSERT_TRUE(*v) << to_string(method);
            EXPECT_FALSE(v->formula.empty()) << to_string(method);
            EXPECT_EQ(v->provenance.ground, Ground::virtual_gpu);
        }
        EXPECT_EQ(method_of(to_string(method)), method);
        EXPECT_GE(*p.bytes.number, *p.least_bytes.number) << to_string(method);
        EXPECT_GE(*p.bytes.number, *p.dram_bytes.number) << to_string(method);
    }
    EXPECT_FALSE(method_of("fastest"));
}

}  // namespace
}  // namespace attnscope
