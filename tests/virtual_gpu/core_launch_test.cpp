// Modules and launches: the driver's limits and error codes, resources, and what a launch does to known
// memory. H100: limits of compute capability 9.0 in the CUDA programming guide; the kernel's resources from
// facts/attention.md, 1.6.
#include <cstring>

#include "core_support.h"

namespace {

using namespace core_test;

class Launch : public Driver {
  protected:
    void SetUp() override {
        Driver::SetUp();
        if (flash_fatbin() == nullptr) GTEST_SKIP() << "no LibTorch: no kernels to launch";
        ASSERT_CUDA(cuModuleLoadData(&module_, flash_fatbin()));
        ASSERT_CUDA(cuModuleGetFunction(&function_, module_, flash_kernel));
        size_t offset = 0;
        ASSERT_CUDA(cuFuncGetParamInfo(function_, 0, &offset, &bytes_));
        parameters_.assign(bytes_, 0);
        values_[0] = parameters_.data();
    }
    void TearDown() override {
        cuModuleUnload(module_);  // nullptr where the test was skipped
        Driver::TearDown();
    }
    CUresult launch(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared) {
        return cuLaunchKernel(function_, gx, gy, gz, bx, by, bz, shared, nullptr, values_, nullptr);
    }
    int attribute(CUfunction_attribute which) {
        int value = -1;
        EXPECT_CUDA(cuFuncGetAttribute(&value, which, function_));
        return value;
    }
    void put_pointer(size_t at, CUdeviceptr pointer) {
        std::memcpy(parameters_.data() + at, &pointer, sizeof pointer);
    }

    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr;
    size_t bytes_ = 0;
    std::vector<char> parameters_;
    void* values_[1] = {};
};

TEST_F(Launch, ResourcesComeFromTheCubin) {
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_NUM_REGS), 255);
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152);
    CUfunction other = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&other, module_, "no_such_kernel"));
}

TEST_F(Launch, OneEventWithWhatWasLaunched) {
    Ears ears;
    ASSERT_CUDA(launch(2, 1, 8, 128, 1, 1, 49152));
    ASSERT_EQ(ears.kernels.size(), 1u);
    const auto& kernel = ears.kernels[0];
    EXPECT_STREQ(kernel.name, flash_kernel);
    EXPECT_EQ(kernel.grid.x, 2u);
    EXPECT_EQ(kernel.grid.z, 8u);
    EXPECT_EQ(kernel.block.x, 128u);
    EXPECT_EQ(kernel.registers, 255u);
    EXPECT_EQ(kernel.dynamic_shared, 49152u);
    EXPECT_EQ(kernel.static_shared, 0u);
    EXPECT_TRUE(kernel.resources_known);
    EXPECT_EQ(kernel.stream_id, 7u);  // the legacy stream in every trace of a real GPU
    EXPECT_EQ(ears.entered[0], "cuLaunchKernel");
}

TEST_F(Launch, LimitsOfGridAndBlock) {
    Ears ears;
    EXPECT_CUDA(launch(0x7fffffff, 1, 1, 128, 1, 1, 0));
    EXPECT_CUDA(launch(1, 65535, 1, 128, 1, 1, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                      launch(1, 65536, 1, 128, 1, 1, 0));  // batch 65,536 through flash
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(1, 1, 65536, 128, 1, 1, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(0x80000000u, 1, 1, 128, 1, 1, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(0, 1, 1, 128, 1, 1, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(1, 1, 1, 0, 1, 1, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(1, 1, 1, 1, 1, 65, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(1, 1, 1, 1025, 1, 1, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(1, 1, 1, 32, 33, 1, 0));
    // 255 registers x 512 threads are twice what an SM has.
    EXPECT_CUDA_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, launch(1, 1, 1, 512, 1, 1, 0));
    EXPECT_EQ(ears.kernels.size(), 2u) << "a refused launch is no launch";
}

TEST_F(Launch, SharedMemoryNeedsOptingIn) {
    EXPECT_CUDA(launch(1, 1, 1, 128, 1, 1, 49152));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(1, 1, 1, 128, 1, 1, 49153));
    EXPECT_CUDA(cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    EXPECT_CUDA(launch(1, 1, 1, 128, 1, 1, 232448));  // 227 KiB: the opt-in limit of an H100
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(1, 1, 1, 128, 1, 1, 232449));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                      cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449));
}

TEST_F(Launch, Clusters) {
    Ears ears;
    CUlaunchConfig config{};
    config.gridDimX = 16;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 128;
    config.blockDimY = config.blockDimZ = 1;
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {4, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    EXPECT_CUDA(cuLaunchKernelEx(&config, function_, values_, nullptr));
    ASSERT_EQ(ears.kernels.size(), 1u);
    EXPECT_EQ(ears.kernels[0].cluster.x, 4u);
    attribute.value.clusterDim = {3, 1, 1};  // does not divide the grid
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                      cuLaunchKernelEx(&config, function_, values_, nullptr));
    attribute.value.clusterDim = {16, 1, 1};  // above the portable size of 8
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                      cuLaunchKernelEx(&config, function_, values_, nullptr));
    EXPECT_CUDA(cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    EXPECT_CUDA(cuLaunchKernelEx(&config, function_, values_, nullptr));
}

TEST_F(Launch, CooperativeLaunchesMustFit) {
    Ears ears;
    // 2 CTAs on each of 132 SMs (registers).
    EXPECT_CUDA(cuLaunchCooperativeKernel(function_, 264, 1, 1, 128, 1, 1, 49152, nullptr, values_));
    EXPECT_CUDA_ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                      cuLaunchCooperativeKernel(function_, 265, 1, 1, 128, 1, 1, 49152, nullptr, values_));
    ASSERT_EQ(ears.kernels.size(), 1u);
    EXPECT_EQ(ears.kernels[0].launch_type, 1);
}

TEST_F(Launch, Occupancy) {
    int ctas = 0;
    ASSERT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, function_, 128, 49152));
    EXPECT_EQ(ctas, 2);  // 12.5 % of 64 warps: 255 registers
    int grid = 0, block = 0;
    ASSERT_CUDA(cuOccupancyMaxPotentialBlockSize(&grid, &block, function_, nullptr, 0, 0));
    EXPECT_EQ(block, 256);  // one CTA of 256 or two of 128 fill the registers; the larger one is answered
    EXPECT_EQ(grid, 132);
}

TEST_F(Launch, LibrariesAndTheirKernels) {
    struct Wrapper {
        uint32_t magic = 0x466243b1, version = 1;
        const void* data = nullptr;
        const void* unused = nullptr;
    } wrapper;
    wrapper.data = flash_fatbin();
    CUlibrary library = nullptr;
    ASSERT_CUDA(cuLibraryLoadData(&library, &wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CUkernel kernel = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&kernel, library, "no_such_kernel"));
    ASSERT_CUDA(cuLibraryGetKernel(&kernel, library, flash_kernel));
    int registers = 0;
    ASSERT_CUDA(cuKernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, device_));
    EXPECT_EQ(registers, 255);
    // A CUkernel may be launched as it is, but is no CUfunction otherwise (cuda.h, cuLaunchKernel).
    EXPECT_CUDA(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 128, 1, 1, 0, nullptr, values_,
                               nullptr));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS,
                                                                    reinterpret_cast<CUfunction>(kernel)));
    CUfunction function = nullptr;
    ASSERT_CUDA(cuKernelGetFunction(&function, kernel));
    unsigned count = 0;
    ASSERT_CUDA(cuLibraryGetKernelCount(&count, library));
    EXPECT_GT(count, 1u);
    ASSERT_CUDA(cuLibraryUnload(library));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1,
                                                                128, 1, 1, 0, nullptr, values_, nullptr));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE,
                      cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, nullptr, values_, nullptr));
}

TEST_F(Launch, APointerAmongTheParametersMakesMemoryUnknown) {
    Ears ears;
    CUdeviceptr memory = 0;
    ASSERT_CUDA(cuMemAlloc(&memory, 4 << 20));
    ASSERT_CUDA(cuMemsetD8(memory, 5, 1024));
    ASSERT_CUDA(cuMemsetD8(memory + 1024, 6, 1024));
    put_pointer(16, memory + 1024);
    ASSERT_CUDA(launch(1, 1, 1, 128, 1, 1, 0));
    unsigned char byte = 0;
    ASSERT_CUDA(cuMemcpyDtoH(&byte, memory + 1000, 1));
    EXPECT_EQ(byte, 5);
    EXPECT_TRUE(ears.reads.empty()) << "what lies before the pointer stays known";
    ASSERT_CUDA(cuMemcpyDtoH(&byte, memory + 1030, 1));
    EXPECT_EQ(ears.reads.size(), 1u);
    ASSERT_CUDA(cuMemcpyHtoD(memory + 1030, "x", 1));
    ASSERT_CUDA(cuMemcpyDtoH(&byte, memory + 1030, 1));
    EXPECT_EQ(byte, 'x');
    EXPECT_EQ(ears.reads.size(), 1u) << "the host's later write is known again";
    EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(Launch, PointersToConstStayKnown) {
    // gloo::_Kernel_float_cudaMax(float*, float const*, int)
    std::string found;
    const void* fatbin = fatbin_with({"_Kernel_float_cudaMax", "PfPKfi"}, found);
    if (fatbin == nullptr) GTEST_SKIP() << "this LibTorch has no gloo kernels";
    Ears ears;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, fatbin));
    ASSERT_CUDA(cuModuleGetFunction(&function, module, found.c_str()));
    CUdeviceptr out = 0, in = 0;
    ASSERT_CUDA(cuMemAlloc(&out, 4096));
    ASSERT_CUDA(cuMemAlloc(&in, 4096));
    ASSERT_CUDA(cuMemsetD8(out, 1, 4096));
    ASSERT_CUDA(cuMemsetD8(in, 2, 4096));
    int n = 1024;
    void* values[] = {&out, &in, &n};
    ASSERT_CUDA(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, nullptr, values, nullptr));
    unsigned char byte = 0;
    ASSERT_CUDA(cuMemcpyDtoH(&byte, in, 1));
    EXPECT_EQ(byte, 2);
    EXPECT_TRUE(ears.reads.empty());
    ASSERT_CUDA(cuMemcpyDtoH(&byte, out, 1));
    EXPECT_EQ(ears.reads.size(), 1u);
    EXPECT_CUDA(cuMemFree(in));
    EXPECT_CUDA(cuMemFree(out));
    EXPECT_CUDA(cuModuleUnload(module));
}

TEST_F(Launch, ModulesWithoutCodeForThisDevice) {
    CUmodule module = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU,
                      cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n.address_size 64\n"));
    const char rubbish[64] = "rubbish";
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, rubbish));
    EXPECT_CUDA_ERROR(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/no/such/file"));
}

TEST_F(Launch, KernelsCompiledAtRunTimeAreKnownByName) {
    Ears ears;
    CUdeviceptr memory = 0;
    ASSERT_CUDA(cuMemAlloc(&memory, 16));
    ASSERT_CUDA(cuMemsetD8(memory, 5, 16));
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, "ATTNSCOPE-RUNTIME-SOURCE 1\nkernel _Z6erfinvPf\n"));
    ASSERT_CUDA(cuModuleGetFunction(&function, module, "_Z6erfinvPf"));
    void* values[] = {&memory};
    ASSERT_CUDA(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, nullptr, values, nullptr));
    ASSERT_EQ(ears.kernels.size(), 1u);
    EXPECT_FALSE(ears.kernels[0].resources_known);
    EXPECT_STREQ(ears.kernels[0].name, "_Z6erfinvPf");
    char byte;
    ASSERT_CUDA(cuMemcpyDtoH(&byte, memory, 1));
    EXPECT_EQ(ears.reads.size(), 1u) << "nothing is known of memory after a kernel with unknown parameters";
    EXPECT_CUDA(cuModuleUnload(module));
    EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(Launch, BadHandles) {
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE,
                      cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, values_, nullptr));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(reinterpret_cast<CUfunction>(0xdeadbeef0), 1,
                                                                1, 1, 1, 1, 1, 0, nullptr, values_, nullptr));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE,
                      cuLaunchKernel(function_, 1, 1, 1, 128, 1, 1, 0,
                                     reinterpret_cast<CUstream>(0xdeadbeef0), values_, nullptr));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                      cuLaunchKernel(function_, 1, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr));
}

}  // namespace
