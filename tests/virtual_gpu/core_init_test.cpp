// cuInit, the injection library, fork, look-up by name, devices. Each case runs in a process of its own
// (core_init_program).
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct Outcome {
    std::string output;
    int status = -1;
};

Outcome run(const std::string& environment, const std::string& what) {
    Outcome outcome;
    const std::string command = environment + " " + PROGRAM + " " + what + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr)
        outcome.output += buffer.data();
    if (pipe != nullptr) outcome.status = pclose(pipe);
    return outcome;
}

std::string output(const std::string& environment, const std::string& what) {
    const Outcome outcome = run(environment, what);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return outcome.output;
}

const std::string two = "ATTNSCOPE_VIRTUAL_DEVICES=H100-SXM5x2";

TEST(Init, BeforeCuInit) {
    EXPECT_EQ(output(two, "before"),
              "cuDeviceGet CUDA_ERROR_NOT_INITIALIZED\ncuMemAlloc CUDA_ERROR_NOT_INITIALIZED\n"
              "cuCtxGetCurrent CUDA_ERROR_NOT_INITIALIZED\ncuDriverGetVersion CUDA_SUCCESS 13000\n"
              "cuArrayCreate CUDA_ERROR_NOT_SUPPORTED\ncuInit CUDA_SUCCESS\n");
}

TEST(Init, WithoutADevice) {
    EXPECT_EQ(output("ATTNSCOPE_VIRTUAL_DEVICES=", "init"), "cuInit CUDA_ERROR_NO_DEVICE\n");
    EXPECT_EQ(output("ATTNSCOPE_VIRTUAL_DEVICES=NoSuchGpu", "init"), "cuInit CUDA_ERROR_NO_DEVICE\n");
    EXPECT_EQ(output(two + " CUDA_VISIBLE_DEVICES=", "init"), "cuInit CUDA_ERROR_NO_DEVICE\n");
}

TEST(Init, TheInjectionLibraryIsLoadedOnce) {
    EXPECT_EQ(output(two + " CUDA_INJECTION64_PATH=" + INJECTION, "init"),
              "InitializeInjection\ncuInit CUDA_SUCCESS\n");
    for (const char* none : {"none", "/no/such/library.so", "/dev/null", ""})
        EXPECT_EQ(output(two + " CUDA_INJECTION64_PATH=" + none, "init"), "cuInit CUDA_SUCCESS\n");
}

TEST(Init, AForkedChildHasNoDriver) {
    EXPECT_EQ(output(two, "fork"),
              "child cuMemAlloc CUDA_ERROR_NOT_INITIALIZED\nchild cuInit CUDA_ERROR_NOT_INITIALIZED\nparent "
              "cuMemAlloc CUDA_SUCCESS\n");
    EXPECT_EQ(output(two, "fork-before"), "child cuInit CUDA_SUCCESS\nparent cuInit CUDA_SUCCESS\n");
}

TEST(Init, VisibleDevices) {
    // Programming guide, CUDA_VISIBLE_DEVICES: in the order that is written, cut at the first that is none.
    const std::string four = "ATTNSCOPE_VIRTUAL_DEVICES=H100-SXM5x4 CUDA_VISIBLE_DEVICES=";
    EXPECT_EQ(output(four + "2,0", "bus"), "0000:03:00.0\n0000:01:00.0\n");
    EXPECT_EQ(output(four + "1,7,0", "bus"), "0000:02:00.0\n");
    EXPECT_EQ(output(four + "1,-1,0", "bus"), "0000:02:00.0\n");
    EXPECT_EQ(output(four + "1,1", "bus"), "0000:02:00.0\n");
    const std::string uuids = output("ATTNSCOPE_VIRTUAL_DEVICES=H100-SXM5x4", "uuid");
    const std::string third = uuids.substr(2 * 41, 40);
    EXPECT_EQ(output(four + third, "bus"), "0000:03:00.0\n") << third;
    EXPECT_EQ(output(four + third.substr(0, 14), "bus"), "0000:03:00.0\n");
}

TEST(Init, FunctionsByName) {
    EXPECT_EQ(output(two, "names"),
              "cuMemAlloc is cuMemAlloc_v2\ncuStreamGetCaptureInfo at 11030 is cuStreamGetCaptureInfo_v2\n"
              "cuMemcpyAsync per thread is cuMemcpyAsync_ptsz\ncuCtxGetDevice at 12000 is cuCtxGetDevice\n"
              "cuNoSuchFunction CUDA_ERROR_NOT_FOUND\ncuCtxCreate at 1000 CUDA_ERROR_NOT_FOUND\n");
}

TEST(Init, PrivateTablesAreRefusedWithAWord) {
    EXPECT_EQ(output(two, "table"), "cuGetExportTable CUDA_ERROR_NOT_FOUND\nstatic-runtime\n");
}

TEST(Init, UnsupportedFunctionsSayTheirName) {
    EXPECT_EQ(output(two, "unsupported"),
              "unsupported-function: cuTexObjectCreate\ncuTexObjectCreate CUDA_ERROR_NOT_SUPPORTED\n");
}

TEST(Init, TheValueOfUncomputedReadsCanBeNamed) {
    EXPECT_EQ(output(two, "read"), "0 zeros\n");
    EXPECT_EQ(output(two + " ATTNSCOPE_UNCOMPUTED=0x01", "read"), "16843009 bytes 0x01\n");
    EXPECT_EQ(output(two + " ATTNSCOPE_UNCOMPUTED=int32:-3", "read"), "-3 int32 -3\n");
    EXPECT_EQ(output(two + " ATTNSCOPE_UNCOMPUTED=float:1", "read"), "1065353216 float 1\n");  // 0x3f800000
    EXPECT_EQ(output(two + " ATTNSCOPE_UNCOMPUTED=bfloat16:1", "read"),
              "1065369472 bfloat16 1\n");                                                    // 0x3f80 twice
    EXPECT_EQ(output(two + " ATTNSCOPE_UNCOMPUTED=half:1", "read"), "1006648320 half 1\n");  // 0x3c00 twice
    EXPECT_EQ(output(two + " ATTNSCOPE_UNCOMPUTED=nonsense", "read"), "0 zeros\n");
}

TEST(Init, AttributesOfAnH100) {
    // NVIDIA H100 SXM5 white paper and compute capability 9.0 of the programming guide.
    EXPECT_EQ(output(two, "attributes"),
              "1 1024\n10 32\n16 132\n39 2048\n81 233472\n82 65536\n97 232448\n106 32\n111 1024\n75 9\n76 "
              "0\n120 1\n");
}

TEST(Init, WhichLineOfPythonReadTheMemory) {
    const char* python = std::getenv("ATTNSCOPE_PYTHON");
    const std::string command = std::string("LD_LIBRARY_PATH=") + VGPU_DIR + " " + two + " " +
                                (python != nullptr && *python != '\0' ? python : "python3") + " " + SCRIPT;
    if (std::system(
            (std::string(python != nullptr && *python != '\0' ? python : "python3") + " -c '' 2>/dev/null")
                .c_str()) != 0)
        GTEST_SKIP() << "no Python on this machine";
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> line{};
    ASSERT_NE(std::fgets(line.data(), line.size(), pipe), nullptr);
    EXPECT_STREQ(line.data(), "core_location.py:34 in read_back\n");
    EXPECT_EQ(pclose(pipe), 0);
}

TEST(Init, WhichLineReadTheMemory) {
    EXPECT_EQ(output(two, "location"), "reader_of_memory\n");
}

}  // namespace
