// cuBLAS and cuBLASLt: what is recorded, and the error codes that NVIDIA's cuBLAS documentation gives for
// each argument.
#include <gtest/gtest.h>

#include <cstring>

#include "collectors/virtual_gpu/cublas/context.h"
#include "collectors/virtual_gpu/cublas/lt.h"
#include "libs_recorder.h"

using namespace attnscope::vgpu::cublas;

extern "C" {
Status cublasCreate_v2(Context**);
Status cublasDestroy_v2(Context*);
Status cublasGetVersion_v2(Context*, int*);
Status cublasSetMathMode(Context*, int);
Status cublasSetPointerMode_v2(Context*, PointerMode);
Status cublasSetWorkspace_v2(Context*, void*, size_t);
const char* cublasGetStatusString(int);
Status cublasSgemm_v2(Context*, Operation, Operation, int, int, int, const void*, const void*, int,
                      const void*, int, const void*, void*, int);
Status cublasGemmEx(Context*, Operation, Operation, int, int, int, const void*, const void*, DataType, int,
                    const void*, DataType, int, const void*, void*, DataType, int, ComputeType, int);
Status cublasGemmStridedBatchedEx(Context*, Operation, Operation, int, int, int, const void*, const void*,
                                  DataType, int, long long, const void*, DataType, int, long long,
                                  const void*, void*, DataType, int, long long, int, ComputeType, int);
Status cublasSdot_v2(Context*, int, const void*, int, const void*, int, void*);
Status cublasStrsm_v2(Context*, int, int, Operation, int, int, int, const void*, const void*, int, void*,
                      int);
size_t cublasLtGetVersion();
Status cublasLtMatmulDescCreate(LtMatmul**, ComputeType, DataType);
Status cublasLtMatmulDescDestroy(LtMatmul*);
Status cublasLtMatmulDescSetAttribute(LtMatmul*, int, const void*, size_t);
Status cublasLtMatmulDescGetAttribute(LtMatmul*, int, void*, size_t, size_t*);
Status cublasLtMatrixLayoutCreate(LtLayout**, DataType, uint64_t, uint64_t, int64_t);
Status cublasLtMatrixLayoutDestroy(LtLayout*);
Status cublasLtMatrixLayoutSetAttribute(LtLayout*, int, const void*, size_t);
Status cublasLtMatmulPreferenceCreate(LtPreference**);
Status cublasLtMatmulPreferenceDestroy(LtPreference*);
Status cublasLtMatmulAlgoGetHeuristic(Context*, const LtMatmul*, const LtLayout*, const LtLayout*,
                                      const LtLayout*, const LtLayout*, const LtPreference*, int,
                                      LtHeuristic*, int*);
Status cublasLtMatmul(Context*, const LtMatmul*, const void*, const void*, const LtLayout*, const void*,
                      const LtLayout*, const void*, const void*, const LtLayout*, void*, const LtLayout*,
                      const void*, void*, size_t, void*);
}

namespace {

constexpr Operation N = Operation::none, T = Operation::transpose;
// Not device memory: the core ignores addresses that it did not give out.
float a[1], b[1], c[1];
const float one = 1;

class Cublas : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(cublasCreate_v2(&handle), success); }
    void TearDown() override { cublasDestroy_v2(handle); }
    Context* handle = nullptr;
};

TEST_F(Cublas, VersionIsTheOneThatTorchPins) {
    int version = 0;
    EXPECT_EQ(cublasGetVersion_v2(handle, &version), success);
    EXPECT_EQ(version, 130100);  // nvidia-cublas 13.1.0.3
    EXPECT_EQ(cublasLtGetVersion(), 130100u);
    EXPECT_STREQ(cublasGetStatusString(15), "the requested functionality is not supported");
}

TEST_F(Cublas, RecordsAProductWithItsSizesAndTypes) {
    Recorder recorder;
    ASSERT_EQ(cublasGemmEx(handle, T, N, 768, 512, 64, &one, a, DataType::bf16, 64, b, DataType::bf16, 64,
                           &one, c, DataType::bf16, 768, ComputeType::fp32, -1),
              success);
    ASSERT_EQ(recorder.calls.size(), 1u);
    const RecordedCall& call = recorder.calls[0];
    EXPECT_EQ(call.library, "cuBLAS");
    EXPECT_EQ(call.function, "cublasGemmEx");
    EXPECT_EQ(call.operation, "gemm");
    EXPECT_EQ(call["m"], "768");
    EXPECT_EQ(call["n"], "512");
    EXPECT_EQ(call["k"], "64");
    EXPECT_EQ(call["batch"], "1");
    EXPECT_EQ(call["type_a"], "bf16");
    EXPECT_EQ(call["type_c"], "bf16");
    EXPECT_EQ(call["compute_type"], "fp32");
    EXPECT_EQ(call["transpose_a"], "T");
    EXPECT_EQ(call["transpose_b"], "N");
    EXPECT_EQ(call["ldc"], "768");
}

TEST_F(Cublas, BatchesAndStrides) {
    Recorder recorder;
    ASSERT_EQ(
        cublasGemmStridedBatchedEx(handle, N, N, 8, 4, 2, &one, a, DataType::fp16, 8, 16, b, DataType::fp16,
                                   2, 8, &one, c, DataType::fp16, 8, 32, 128, ComputeType::fp16, -1),
        success);
    EXPECT_EQ(recorder.calls.at(0)["batch"], "128");
    EXPECT_EQ(recorder.calls[0]["stride_c"], "32");
    EXPECT_EQ(recorder.calls[0]["compute_type"], "fp16");
}

TEST_F(Cublas, Tf32OnlyWhereTheMathModeAllowsIt) {
    Recorder recorder;
    auto product = [&] { return cublasSgemm_v2(handle, N, N, 4, 4, 4, &one, a, 4, b, 4, &one, c, 4); };
    ASSERT_EQ(product(), success);
    ASSERT_EQ(cublasSetMathMode(handle, tf32_math | 16),
              success);  // with CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
    ASSERT_EQ(product(), success);
    EXPECT_EQ(recorder.calls.at(0)["compute_type"], "fp32");
    EXPECT_EQ(recorder.calls.at(1)["compute_type"], "tf32");
    EXPECT_EQ(recorder.calls.at(1)["type_a"], "fp32");
}

TEST_F(Cublas, ArgumentsAsDocumented) {
    Recorder recorder;
    auto product = [&](Context* h, int m, int n, int k, int lda, int ldb, int ldc) {
        return cublasSgemm_v2(h, N, N, m, n, k, &one, a, lda, b, ldb, &one, c, ldc);
    };
    EXPECT_EQ(product(nullptr, 4, 4, 4, 4, 4, 4), not_initialized);
    EXPECT_EQ(product(handle, -1, 4, 4, 4, 4, 4), invalid_value);
    EXPECT_EQ(product(handle, 4, -1, 4, 4, 4, 4), invalid_value);
    EXPECT_EQ(product(handle, 4, 4, -1, 4, 4, 4), invalid_value);
    EXPECT_EQ(product(handle, 4, 4, 4, 3, 4, 4), invalid_value);  // lda < m
    EXPECT_EQ(product(handle, 4, 4, 4, 4, 3, 4), invalid_value);  // ldb < k
    EXPECT_EQ(product(handle, 4, 4, 4, 4, 4, 3), invalid_value);  // ldc < m
    EXPECT_EQ(cublasSgemm_v2(handle, static_cast<Operation>(7), N, 4, 4, 4, &one, a, 4, b, 4, &one, c, 4),
              invalid_value);
    EXPECT_EQ(cublasSgemm_v2(handle, N, N, 4, 4, 4, nullptr, a, 4, b, 4, &one, c, 4), invalid_value);
    EXPECT_EQ(cublasGemmEx(handle, N, N, 4, 4, 4, &one, a, DataType::fp8_e4m3, 4, b, DataType::fp8_e4m3, 4,
                           &one, c, DataType::bf16, 4, ComputeType::fp32, -1),
              not_supported);                               // no 8-bit floats in cublasGemmEx's table
    EXPECT_EQ(product(handle, 0, 4, 4, 4, 4, 4), success);  // nothing to do
    EXPECT_EQ(cublasSetWorkspace_v2(handle, reinterpret_cast<void*>(uintptr_t{0x101}), 64), invalid_value);
    EXPECT_TRUE(recorder.calls.empty());
}

TEST_F(Cublas, AScalarForTheHostIsAnUncomputedRead) {
    Recorder recorder;
    float result = 3;
    ASSERT_EQ(cublasSdot_v2(handle, 16, a, 1, b, 1, &result), success);
    ASSERT_EQ(recorder.calls.size(), 1u);
    EXPECT_EQ(recorder.calls[0].operation, "dot");
    ASSERT_EQ(recorder.uncomputed.size(), 1u);
    EXPECT_NE(recorder.uncomputed[0].find("cublasSdot"), std::string::npos);
    EXPECT_NE(result, 3);
    ASSERT_EQ(cublasSetPointerMode_v2(handle, PointerMode::device), success);
    result = 3;
    ASSERT_EQ(cublasSdot_v2(handle, 16, a, 1, b, 1, &result), success);
    EXPECT_EQ(recorder.uncomputed.size(), 1u);
    EXPECT_EQ(result, 3);
}

TEST_F(Cublas, OtherOperations) {
    Recorder recorder;
    ASSERT_EQ(cublasStrsm_v2(handle, 0, 0, N, 0, 8, 3, &one, a, 8, b, 8), success);
    EXPECT_EQ(recorder.calls.at(0).operation, "trsm");
    EXPECT_EQ(recorder.calls[0]["m"], "8");
    EXPECT_EQ(recorder.calls[0]["n"], "3");
}

class CublasLt : public Cublas {
  protected:
    void SetUp() override {
        Cublas::SetUp();
        // D (96 x 32) = A^T (64 x 96) B (64 x 32)
        cublasLtMatmulDescCreate(&matmul, ComputeType::fp32, DataType::fp32);
        cublasLtMatrixLayoutCreate(&layout_a, DataType::bf16, 64, 96, 64);
        cublasLtMatrixLayoutCreate(&layout_b, DataType::bf16, 64, 32, 64);
        cublasLtMatrixLayoutCreate(&layout_d, DataType::bf16, 96, 32, 96);
        cublasLtMatmulPreferenceCreate(&preference);
        cublasLtMatmulDescSetAttribute(matmul, 3, &T, sizeof T);
    }
    void TearDown() override {
        cublasLtMatmulDescDestroy(matmul);
        for (LtLayout* layout : {layout_a, layout_b, layout_d}) cublasLtMatrixLayoutDestroy(layout);
        cublasLtMatmulPreferenceDestroy(preference);
        Cublas::TearDown();
    }
    Status run() {
        return cublasLtMatmul(handle, matmul, &one, a, layout_a, b, layout_b, &one, c, layout_d, c, layout_d,
                              nullptr, nullptr, 0, nullptr);
    }
    LtMatmul* matmul = nullptr;
    LtLayout *layout_a = nullptr, *layout_b = nullptr, *layout_d = nullptr;
    LtPreference* preference = nullptr;
};

TEST_F(CublasLt, HeuristicReturnsOneResult) {
    LtHeuristic results[2];
    std::memset(results, 0xff, sizeof results);
    int count = -1;
    // With a cuBLAS handle, as LibTorch does it.
    ASSERT_EQ(cublasLtMatmulAlgoGetHeuristic(handle, matmul, layout_a, layout_b, layout_d, layout_d,
                                             preference, 2, results, &count),
              success);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(results[0].state, success);
}

TEST_F(CublasLt, AttributesAreReadBack) {
    uint32_t epilogue = 0;
    size_t written = 0;
    EXPECT_EQ(cublasLtMatmulDescGetAttribute(matmul, 7, &epilogue, sizeof epilogue, &written), success);
    EXPECT_EQ(epilogue, 1u);  // CUBLASLT_EPILOGUE_DEFAULT
    EXPECT_EQ(written, 4u);
    const void* bias = b;
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(matmul, 8, &bias, sizeof bias), success);
    const void* read = nullptr;
    EXPECT_EQ(cublasLtMatmulDescGetAttribute(matmul, 8, &read, sizeof read, nullptr), success);
    EXPECT_EQ(read, bias);
    EXPECT_EQ(cublasLtMatmulDescGetAttribute(matmul, 8, nullptr, 0, &written), success);
    EXPECT_EQ(written, 8u);
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(matmul, 8, &bias, 4), invalid_value);  // wrong size
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(matmul, 99, &bias, 8), invalid_value);
    EXPECT_EQ(cublasLtMatmulDescGetAttribute(matmul, 8, nullptr, 8, nullptr), invalid_value);
}

TEST_F(CublasLt, RecordsTheProductWithItsEpilogue) {
    uint32_t gelu_bias = 36;
    const void* bias = b;
    cublasLtMatmulDescSetAttribute(matmul, 7, &gelu_bias, sizeof gelu_bias);
    cublasLtMatmulDescSetAttribute(matmul, 8, &bias, sizeof bias);
    Recorder recorder;
    ASSERT_EQ(run(), success);
    const RecordedCall& call = recorder.calls.at(0);
    EXPECT_EQ(call.library, "cuBLASLt");
    EXPECT_EQ(call.operation, "gemm");
    EXPECT_EQ(call["m"], "96");
    EXPECT_EQ(call["n"], "32");
    EXPECT_EQ(call["k"], "64");
    EXPECT_EQ(call["type_a"], "bf16");
    EXPECT_EQ(call["epilogue"], "gelu_bias");
    EXPECT_EQ(call["bias"], "1");
}

TEST_F(CublasLt, LayoutsThatDoNotFit) {
    uint64_t rows = 65;
    cublasLtMatrixLayoutSetAttribute(layout_b, 2, &rows, sizeof rows);
    EXPECT_EQ(run(), invalid_value);
    EXPECT_EQ(cublasLtMatmul(nullptr, matmul, &one, a, layout_a, b, layout_b, &one, c, layout_d, c, layout_d,
                             nullptr, nullptr, 0, nullptr),
              not_initialized);
}

}  // namespace
