// NVRTC's stand-in where no real NVRTC is used (ATTNSCOPE_NVRTC=none, set by CMake for this test).
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "libs_recorder.h"

extern "C" {
struct Program;
int nvrtcVersion(int*, int*);
int nvrtcGetNumSupportedArchs(int*);
int nvrtcCreateProgram(Program**, const char*, const char*, int, const char* const*, const char* const*);
int nvrtcDestroyProgram(Program**);
int nvrtcAddNameExpression(Program*, const char*);
int nvrtcCompileProgram(Program*, int, const char* const*);
int nvrtcGetLoweredName(Program*, const char*, const char**);
int nvrtcGetCUBINSize(Program*, size_t*);
int nvrtcGetCUBIN(Program*, char*);
int nvrtcGetProgramLogSize(Program*, size_t*);
int nvrtcGetLTOIRSize(Program*, size_t*);
const char* nvrtcGetErrorString(int);
}

namespace {

std::string image(Program* program) {
    size_t size = 0;
    EXPECT_EQ(nvrtcGetCUBINSize(program, &size), 0);
    std::string text(size, 'x');
    EXPECT_EQ(nvrtcGetCUBIN(program, text.data()), 0);
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
}

TEST(Nvrtc, VersionOfCuda13) {
    int major = 0, minor = -1, count = 0;
    EXPECT_EQ(nvrtcVersion(&major, &minor), 0);
    EXPECT_EQ(major, 13);
    EXPECT_EQ(minor, 0);
    EXPECT_EQ(nvrtcGetNumSupportedArchs(&count), 0);
    EXPECT_EQ(count, 12);  // the real NVRTC 13.0: 75 80 86 87 88 89 90 100 103 110 120 121
    EXPECT_STREQ(nvrtcGetErrorString(6), "NVRTC_ERROR_COMPILATION");
}

TEST(Nvrtc, FindsTheKernelsOfASource) {
    const char* source =
        "// __global__ void in_a_comment(int)\n"
        "/* __global__ void nor_here() */\n"
        "int not__global__here(int);\n"
        "extern \"C\" __launch_bounds__(512, 4) __global__\n"
        "void erfinv_kernel(float* x) { helper(x); }\n"
        "template <class T> __global__ void __launch_bounds__(128) scale(T* x) {}\n"
        "__global__ static void __cluster_dims__(2, 1, 1) third (int a);\n";
    Program* program = nullptr;
    ASSERT_EQ(nvrtcCreateProgram(&program, source, "x.cu", 0, nullptr, nullptr), 0);
    ASSERT_EQ(nvrtcAddNameExpression(program, "scale<float, 4>"), 0);
    const char* lowered = nullptr;
    EXPECT_EQ(nvrtcGetLoweredName(program, "scale<float, 4>", &lowered), 9);  // before compilation
    Recorder recorder;
    const char* options[] = {"--gpu-architecture=sm_90"};
    ASSERT_EQ(nvrtcCompileProgram(program, 1, options), 0);
    EXPECT_TRUE(recorder.has_diagnostic("runtime-compilation-not-compiled"));
    EXPECT_EQ(image(program),
              "ATTNSCOPE-RUNTIME-SOURCE 1\nkernel scale<float,4>\nkernel erfinv_kernel\nkernel scale\nkernel "
              "third\n");
    ASSERT_EQ(nvrtcGetLoweredName(program, "scale<float, 4>", &lowered), 0);
    EXPECT_STREQ(lowered, "scale<float,4>");
    EXPECT_EQ(nvrtcGetLoweredName(program, "other", &lowered), 10);
    EXPECT_EQ(nvrtcAddNameExpression(program, "late"), 8);
    size_t size = 0;
    EXPECT_EQ(nvrtcGetProgramLogSize(program, &size), 0);
    EXPECT_EQ(size, 1u);
    EXPECT_EQ(nvrtcGetLTOIRSize(program, &size), 11);
    EXPECT_EQ(nvrtcDestroyProgram(&program), 0);
    EXPECT_EQ(program, nullptr);
    EXPECT_EQ(nvrtcDestroyProgram(&program), 4);
}

TEST(Nvrtc, BadArguments) {
    Program* program = nullptr;
    EXPECT_EQ(nvrtcCreateProgram(nullptr, "", "", 0, nullptr, nullptr), 3);
    EXPECT_EQ(nvrtcCreateProgram(&program, nullptr, "", 0, nullptr, nullptr), 3);
    EXPECT_EQ(nvrtcCompileProgram(nullptr, 0, nullptr), 4);
}

}  // namespace
