// FLOPs and bytes, against the published convention and against reads and writes counted by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "shapes.h"

namespace attnscope {
namespace {

using test::amounts;
using test::blog_shape;
using test::kScores;
using test::kTensor;

double flops(const AttentionShape& shape, bool fused) {
    return useful_flops(shape, fused, Ground::virtual_gpu).number.value_or(-1);
}

// Dao-AILab/flash-attention, benchmarks/benchmark_flash_attention.py: 4 B H Sq Sk D, halved when causal; the
// backward pass 2.5 times the forward one.
TEST(Flops, FollowThePublishedConvention) {
    AttentionShape s = blog_shape();
    EXPECT_EQ(flops(s, true), 17179869184.0);
    s.causal = false;
    EXPECT_EQ(flops(s, true), 34359738368.0);
    s.pass = Pass::backward;
    EXPECT_EQ(flops(s, true), 2.5 * 34359738368.0);
    EXPECT_EQ(flops(s, false), 2.0 * 34359738368.0) << "4 products, nothing computed again";
    s.pass = Pass::both;
    EXPECT_EQ(flops(s, true), 3.5 * 34359738368.0);
    s.causal = true;
    EXPECT_EQ(flops(s, true), 3.5 * 17179869184.0);
}

TEST(Flops, DoNotDependOnKvHeads) {
    AttentionShape s = blog_shape();
    s.kv_heads = 2;
    EXPECT_EQ(flops(s, true), 17179869184.0);
}

// is_causal of LibTorch: query i sees keys 0..i. 2 queries of 4 keys see 1 + 2; 4 queries of 2 keys 1 + 2 + 2
// + 2.
TEST(Flops, OfUnequalLengthsAreCounted) {
    AttentionShape s{1, 1, 1, 2, 4, 8, "bf16"};
    s.causal = true;
    EXPECT_EQ(flops(s, true), 4.0 * 3 * 8);
    std::swap(s.query_length, s.key_length);
    EXPECT_EQ(flops(s, true), 4.0 * 7 * 8);
}

TEST(ExecutedFlops, AreTheWholeSquareUnlessTilesAreSkipped) {
    const AttentionShape s = blog_shape();
    EXPECT_EQ(amounts(s, Method::naive).executed_flops.number, 4 * kScores * 64);
    EXPECT_FALSE(amounts(s, Method::flash).executed_flops) << "no tile, no number";
    // 8 rows of 128 x 128 tiles: 1 + 2 + ... + 8 = 36 of 64.
    const Prediction p = predict(s, Method::flash, test::no_roofs(), Ground::virtual_gpu, Tile{128, 128, 64});
    EXPECT_EQ(p.executed_flops.number, 4 * kScores * 64 * 36 / 64);
    // Head dimension 40 in a bucket of 64.
    AttentionShape padded = s;
    padded.head_dim = 40;
    padded.causal = false;
    const Prediction q =
        predict(padded, Method::flash, test::no_roofs(), Ground::virtual_gpu, Tile{128, 128, 64});
    EXPECT_EQ(*q.executed_flops.number / *q.useful_flops.number, 64.0 / 40);
}

struct PerScore {
    Method method;
    const char* dtype;
    bool causal;
    double bytes;
};

// Reads and writes of each kernel, counted one by one from LibTorch 2.11's own launches.
TEST(ScoreBytes, PerElementOfTheForwardPass) {
    for (const PerScore& c : {PerScore{Method::naive, "bf16", true, 20},
                              {Method::naive_inplace, "bf16", true, 16},
                              {Method::naive, "bf16", false, 12},
                              {Method::math, "bf16", true, 44},
                              {Method::math, "bf16", false, 36},
                              {Method::math_reduced, "bf16", true, 20},
                              {Method::math, "fp32", true, 38},
                              {Method::unfused, "fp16", false, 8},
                              {Method::flash, "bf16", true, 0},
                              {Method::efficient, "fp32", true, 0},
                              {Method::cudnn, "fp16", false, 0}}) {
        AttentionShape s = blog_shape();
        s.dtype = c.dtype;
        s.causal = c.causal;
        EXPECT_EQ(amounts(s, c.method).score_bytes.number, c.bytes * kScores)
            << to_string(c.method) << " " << c.dtype << " " << c.causal;
    }
}

TEST(ScoreBytes, OfTheBackwardPassAreItsKernels) {
    AttentionShape s = blog_shape(Pass::backward);
    // dV r2; dP w2; gradient x softmax r4 w2; softmax backward r4 w2; copy r2 w2; mask r2 w2; scale r2 w2; dQ
    // r2; dK r2.
    EXPECT_EQ(amounts(s, Method::naive).score_bytes.number, 32 * kScores);
    EXPECT_EQ(amounts(s, Method::naive_inplace).score_bytes.number, 32 * kScores)
        << "the derivative of masked_fill_ is out of place";
    s.pass = Pass::both;
    EXPECT_EQ(amounts(s, Method::naive).score_bytes.number, (20 + 32) * kScores);
    EXPECT_EQ(amounts(s, Method::flash).score_bytes.number, 0.0);
}

// A mask that was not asked for costs nothing; causal and a boolean mask alike are filled in.
TEST(ScoreBytes, AnAddedMaskIsNotCopiedFirst) {
    AttentionShape s = blog_shape();
    s.causal = false;
    s.additive_mask = true;
    EXPECT_EQ(amounts(s, Method::naive).score_bytes.number, 16 * kScores);
    s.additive_mask = false;
    s.masked_fill = true;
    EXPECT_EQ(amounts(s, Method::naive).score_bytes.number, 20 * kScores);
}

TEST(LeastBytes, AreEachTensorOnce) {
    AttentionShape s = blog_shape();
    const auto least = [&] { return least_bytes(s, Ground::virtual_gpu).number; };
    EXPECT_EQ(least(), 2 * 4 * kTensor);
    s.kv_heads = 4;  // a quarter of K and V
    EXPECT_EQ(least(), 2 * (2 * kTensor + 2 * kTensor / 4));
    s.pass = Pass::backward;  // q, do, dq; k, v, dk, dv
    EXPECT_EQ(least(), 2 * (3 * kTensor + 4 * kTensor / 4));
    s.dtype = "fp32";
    s.pass = Pass::forward;
    EXPECT_EQ(least(), 4 * (2 * kTensor + 2 * kTensor / 4));
}

// q, k, v, o, and in training the log-sum-exp of each row; FlashAttention 2's backward also sums dQ in fp32.
TEST(AllBytes, OfFusedKernels) {
    const double rows = 4.0 * 8 * 16 * 1024;
    EXPECT_EQ(amounts(blog_shape(), Method::cudnn).bytes.number, 2 * 4 * kTensor);
    const AttentionShape back = blog_shape(Pass::backward);
    const double once = 2 * (3 + 2 + 1 + 2) * kTensor + rows;  // q, o, do, k, v; dq, dk, dv
    EXPECT_EQ(amounts(back, Method::efficient).bytes.number, once);
    EXPECT_EQ(amounts(back, Method::flash).bytes.number, once + 2 * 4 * kTensor);
}

// FlashAttention paper (arXiv 2205.14135), figure 2: GPT-2 medium, S1024, d64, 16 heads, batch 64, forward
// and backward on an A100: 40.3 GB of HBM traffic against 4.4 GB. Models are least bytes: below, and of the
// same order.
TEST(AllBytes, AreOfTheFlashAttentionPapersOrder) {
    AttentionShape s{64, 16, 16, 1024, 1024, 64, "fp16"};
    s.pass = Pass::both;
    const double standard = *amounts(s, Method::unfused).bytes.number / 1e9;
    const double flash = *amounts(s, Method::flash).bytes.number / 1e9;
    EXPECT_LE(standard, 40.3);
    EXPECT_GE(standard, 40.3 / 2);
    EXPECT_LE(flash, 4.4);
    EXPECT_GE(flash, 4.4 / 2.5);
    EXPECT_NEAR(standard / flash, 40.3 / 4.4, 40.3 / 4.4 / 3);
}

TEST(LeastMemory, HoldsInputAndOutputOfOneStep) {
    const AttentionShape s = blog_shape();
    EXPECT_EQ(amounts(s, Method::naive_inplace).least_memory.number, 2 * 4 * kTensor + 2 * 2 * kScores);
    EXPECT_EQ(amounts(s, Method::math).least_memory.number, 2 * 4 * kTensor + 2 * 4 * kScores);
    EXPECT_EQ(amounts(s, Method::flash).least_memory.number, 2 * 4 * kTensor);
}

// 2^32 scores of 2^33 bytes are numbers; 2^64 bytes are not.
TEST(BadShapes, BeyondThirtyTwoBitsCountRight) {
    AttentionShape s{1, 1, 1, 65536, 65536, 64, "bf16"};
    EXPECT_EQ(amounts(s, Method::naive_inplace).score_bytes.number, 4294967296.0 * 12);
    EXPECT_EQ(amounts(s, Method::naive_inplace).useful_flops.number, 4294967296.0 * 4 * 64);
}

TEST(BadShapes, BeyondSixtyFourBitsAreAbsent) {
    AttentionShape s{4294967296.0, 4294967296.0, 1, 4294967296.0, 4294967296.0, 64, "bf16"};
    for (const Method method : {Method::naive, Method::math, Method::flash}) {
        const Prediction p = amounts(s, method);
        for (const Value* v : {&p.useful_flops, &p.score_bytes, &p.bytes, &p.bound, &p.dram_bytes,
                               &p.least_memory, &p.executed_flops, &p.intensity}) {
            EXPECT_FALSE(*v) << to_string(method);
            EXPECT_NE(v->absent.find("64 bits"), std::string::npos) << v->absent;
        }
    }
    s.head_dim = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(amounts(s, Method::flash).useful_flops);
    s.head_dim = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(amounts(s, Method::flash).useful_flops);
    s.head_dim = -64;
    EXPECT_FALSE(amounts(s, Method::flash).useful_flops);
}

TEST(BadShapes, ZeroLengthIsNoWork) {
    AttentionShape s = blog_shape();
    s.key_length = 0;
    const Roofs a100 = test::roofs("A100-SXM4-80GB", "bf16");
    for (const Method method : {Method::naive, Method::math, Method::flash}) {
        const Prediction p = predict(s, method, a100, Ground::virtual_gpu, Tile{128, 128, 64});
        EXPECT_EQ(p.useful_flops.number, 0.0);
        EXPECT_EQ(p.score_bytes.number, 0.0);
        EXPECT_EQ(p.compute_time.number, 0.0);
        EXPECT_EQ(p.executed_flops.number, 0.0);
        ASSERT_TRUE(p.bound);
        EXPECT_TRUE(std::isfinite(*p.bound.number));
    }
    s.batch = 0;
    const Prediction p = predict(s, Method::flash, a100, Ground::virtual_gpu);
    EXPECT_EQ(p.bound.number, 0.0);
    EXPECT_FALSE(p.intensity) << "0 FLOP over 0 bytes is no number";
}

TEST(BadShapes, UnknownTypesHaveNoBytes) {
    AttentionShape s = blog_shape();
    s.dtype = "fp8";
    const Prediction p = amounts(s, Method::flash);
    EXPECT_EQ(p.useful_flops.number, 17179869184.0) << "FLOPs need no element size";
    EXPECT_FALSE(p.least_bytes);
    EXPECT_NE(p.least_bytes.absent.find("fp8"), std::string::npos);
    for (const Value* v : {&p.bytes, &p.bound, &p.dram_bytes, &p.roof}) {
        EXPECT_FALSE(*v);
        EXPECT_FALSE(v->absent.empty());
    }
}

TEST(Tiles, OfNoSizeAreNoFigure) {
    const Prediction p = predict(blog_shape(), Method::flash, test::no_roofs(), Ground::virtual_gpu, Tile{});
    EXPECT_FALSE(p.executed_flops) << p.executed_flops.formula;
}

}  // namespace
}  // namespace attnscope
