// Unmodified PyTorch on the stand-ins: libs_torch.py's operations one after another in one process, with what
// the virtual GPU tells an observer (libs_call_log.cpp). Right values: the shapes in libs_torch.py; the
// routes of torch 2.11.0 (addmm with a bias goes to cublasLtMatmul with the bias as its epilogue; cuDNN's
// attention is one execution of a graph; an LSTM is one cuDNN call).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

struct Outcome {
    std::map<std::string, std::string> errors;  // operation -> message, "" for none
    std::string calls;                          // the observer's log
    int status = 0;
};

Outcome run(const std::string& device, const std::string& operations, const std::string& extra = "") {
    fs::path build = environment("ATTNSCOPE_BINARY_DIR"), source = environment("ATTNSCOPE_SOURCE_DIR");
    fs::path folder = fs::temp_directory_path() / ("attnscope_libs_torch_" + std::to_string(getpid()));
    fs::create_directories(folder);
    std::string preload;
    for (const fs::directory_entry& entry : fs::directory_iterator(build / "lib/attnscope/virtual_gpu"))
        preload += (preload.empty() ? "" : ":") + entry.path().string();
    std::string command = "env LD_PRELOAD='" + preload + "' ATTNSCOPE_VIRTUAL_DEVICES=" + device + " " +
                          extra + " CUDA_INJECTION64_PATH=" + environment("ATTNSCOPE_CALL_LOG_LIBRARY") +
                          " ATTNSCOPE_CALL_LOG=" + (folder / "calls").string() + " " +
                          environment("ATTNSCOPE_PYTHON") + " " +
                          (source / "tests/virtual_gpu/libs_torch.py").string() + " " + operations + " > " +
                          (folder / "out").string() + " 2> " + (folder / "err").string();
    Outcome outcome;
    outcome.status = std::system(command.c_str());
    std::ifstream out(folder / "out");
    for (std::string line; std::getline(out, line);) {
        std::istringstream words(line);
        std::string kind, name;
        words >> kind >> name;
        if (kind == "ok") outcome.errors[name] = "";
        if (kind == "error") outcome.errors[name.substr(0, name.size() - 1)] = line;
    }
    std::ostringstream calls;
    calls << std::ifstream(folder / "calls").rdbuf();
    outcome.calls = calls.str();
    if (outcome.status != 0 || outcome.errors.empty()) {
        std::ostringstream errors;
        errors << std::ifstream(folder / "err").rdbuf();
        ADD_FAILURE() << errors.str();
    }
    fs::remove_all(folder);
    return outcome;
}

bool has_torch() {
    static const bool has =
        !environment("ATTNSCOPE_PYTHON").empty() &&
        std::system(
            (environment("ATTNSCOPE_PYTHON") +
             " -c 'import importlib.metadata as m; assert m.version(\"torch\").startswith(\"2.11.0\")' "
             "> /dev/null 2>&1")
                .c_str()) == 0;
    return has;
}
#define NEEDS_TORCH \
    if (!has_torch()) GTEST_SKIP() << "ATTNSCOPE_PYTHON cannot import torch 2.11.0"

void expect_ok(const Outcome& outcome, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        ASSERT_TRUE(outcome.errors.count(name)) << name << " did not finish";
        EXPECT_EQ(outcome.errors.at(name), "") << name;
    }
}
void expect_call(const Outcome& outcome, const std::string& line) {
    EXPECT_NE(outcome.calls.find(line), std::string::npos) << line << "\nnot in\n" << outcome.calls;
}

TEST(Torch, MatrixProductsAreRecorded) {
    NEEDS_TORCH;
    Outcome outcome =
        run("H100-SXM5",
            "matmul_bf16 matmul_fp16 matmul_fp32 matmul_tf32 matmul_fp64 matmul_complex64 bmm baddbmm mv dot "
            "addmm linear gelu_addmm scaled_fp8");
    expect_ok(outcome,
              {"matmul_bf16", "matmul_fp16", "matmul_fp32", "matmul_tf32", "matmul_fp64", "matmul_complex64",
               "bmm", "baddbmm", "mv", "dot", "addmm", "linear", "gelu_addmm", "scaled_fp8"});
    // Row-major A (96 x 64) B (64 x 32) is column-major B^T A^T: m = 32, n = 96.
    expect_call(outcome,
                "call cuBLAS cublasGemmEx gemm m=32 n=96 k=64 batch=1 type_a=bf16 type_b=bf16 type_c=bf16 "
                "compute_type=fp32 "
                "transpose_a=N transpose_b=N");
    expect_call(outcome, "m=32 n=96 k=64 batch=1 type_a=fp32 type_b=fp32 type_c=fp32 compute_type=fp32");
    expect_call(outcome, "type_a=fp32 type_b=fp32 type_c=fp32 compute_type=tf32");
    expect_call(outcome, "m=3 n=7 k=16 batch=5 type_a=fp32");
    expect_call(outcome, "call cuBLASLt cublasLtMatmul gemm m=32 n=96 k=64 batch=1 type_a=bf16");
    expect_call(outcome, "epilogue=bias bias=1");
    expect_call(outcome, "epilogue=gelu_bias bias=1");
    expect_call(outcome, "m=48 n=32 k=64 batch=1 type_a=fp8_e4m3 type_b=fp8_e4m3 type_c=bf16");
    EXPECT_EQ(outcome.calls.find("unsupported-function"), std::string::npos) << outcome.calls;
}

TEST(Torch, CudnnAttentionIsRecordedWithItsShapes) {
    NEEDS_TORCH;
    for (const char* device : {"A100-SXM4-80GB", "H100-SXM5"}) {
        Outcome outcome = run(device, "attention_causal attention_mask attention");
        expect_ok(outcome, {"attention", "attention_causal", "attention_mask"});
        std::string shapes =
            "shape_q=[2,4,256,64] shape_k=[2,4,256,64] shape_v=[2,4,256,64] shape_o=[2,4,256,64] type=bf16 ";
        for (const char* causal : {"causal=0 mask=none", "causal=1 mask=none"}) {
            expect_call(outcome, "call cuDNN cudnnBackendExecute attention_forward " + shapes + causal);
            expect_call(outcome, "call cuDNN cudnnBackendExecute attention_backward " + shapes + causal);
        }
        expect_call(outcome, "shape_v=[2,4,128,64] shape_o=[2,4,128,64] type=fp16 causal=0 mask=additive");
    }
}

TEST(Torch, NetworksOnCudnn) {
    NEEDS_TORCH;
    Outcome outcome =
        run("A100-SXM4-80GB",
            "lstm lstm_bidirectional lstm_dropout lstm_projection gru rnn convolution conv_transpose "
            "conv1d_bf16 batch_norm ctc affine_grid");
    expect_ok(outcome, {"lstm", "lstm_bidirectional", "lstm_dropout", "lstm_projection", "gru", "rnn",
                        "convolution", "conv_transpose", "conv1d_bf16", "batch_norm", "ctc", "affine_grid"});
    expect_call(outcome,
                "rnn_forward cell=lstm input_size=10 hidden_size=20 projection_size=0 layers=2 "
                "bidirectional=0 batch=3 "
                "sequence_length=5");
    expect_call(outcome, "rnn_backward_data cell=lstm");
    expect_call(outcome, "rnn_backward_weights cell=gru");
    expect_call(outcome,
                "convolution_forward shape_x=[2,8,16,16] shape_w=[16,8,3,3] shape_y=[2,16,16,16] type=fp32");
    expect_call(outcome, "convolution_backward_data");
    expect_call(outcome, "convolution_backward_filter");
    EXPECT_EQ(outcome.calls.find("unsupported-function"), std::string::npos) << outcome.calls;
}

TEST(Torch, WhatIsNotEmulatedRaisesAnError) {
    NEEDS_TORCH;
    Outcome outcome = run("A100-SXM4-80GB", "fft solve inv svd sparse matmul_bf16");
    // CUFFT_NOT_SUPPORTED; status 9 of cuSOLVER, for which LibTorch has no name; cuSPARSE's text for
    // status 10.
    const std::map<std::string, std::string> expected = {{"fft", "cuFFT error: CUFFT_NOT_SUPPORTED"},
                                                         {"solve", "cusolver error"},
                                                         {"inv", "cusolver error"},
                                                         {"svd", "cusolver error"},
                                                         {"sparse", "CUDA error: operation not supported"}};
    for (const auto& [name, message] : expected) {
        ASSERT_TRUE(outcome.errors.count(name)) << name;
        EXPECT_NE(outcome.errors[name].find(message), std::string::npos) << outcome.errors[name];
    }
    for (const char* function : {"cufftCreate", "cusolverDnCreate", "cusparseCreateCsr"})
        expect_call(outcome, function);
    expect_ok(outcome, {"matmul_bf16"});  // the process goes on
}

TEST(Torch, ChipTooOldForCuda13) {
    NEEDS_TORCH;
    Outcome outcome = run("V100", "matmul_fp16");
    EXPECT_NE(outcome.errors["matmul_fp16"].find("CUBLAS_STATUS_ARCH_MISMATCH"), std::string::npos)
        << outcome.errors["matmul_fp16"];
    EXPECT_EQ(outcome.calls.find("call "), std::string::npos) << outcome.calls;
}

TEST(Torch, KernelsCompiledAtRunTime) {
    NEEDS_TORCH;
    fs::path cache = fs::temp_directory_path() / ("attnscope_kernel_cache_" + std::to_string(getpid()));
    fs::create_directories(cache);
    std::string setting = "PYTORCH_KERNEL_CACHE_PATH=" + cache.string();
    Outcome outcome = run("A100-SXM4-80GB", "erfinv randperm multinomial", setting + " ATTNSCOPE_NVRTC=none");
    expect_ok(outcome, {"erfinv", "randperm", "multinomial"});
    expect_call(outcome, "diagnostic runtime-compilation-not-compiled");
    // A real GPU must never find there what was not compiled.
    EXPECT_TRUE(fs::is_empty(cache));
    outcome = run("A100-SXM4-80GB", "erfinv", setting);
    expect_ok(outcome, {"erfinv"});
    EXPECT_EQ(outcome.calls.find("static-runtime"), std::string::npos) << outcome.calls;
    fs::remove_all(cache);
}

}  // namespace
