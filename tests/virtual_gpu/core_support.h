#pragma once
// What the tests of the virtual driver share: one initialised device, real kernels out of LibTorch, and ears
// for events.
#include <cuda.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/observer.h"

namespace core_test {

/// The name of a CUresult, so that failures read well.
std::string name(CUresult result);

/// cuInit and the primary context of device 0, current on this thread.
class Driver : public ::testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
};

/// flash attention's forward kernel, bf16, head_dim 64, 128x128 tile, 4 warps: 255 registers, no static
/// shared memory on sm_90 (facts/attention.md, 1.6). One parameter: Flash_fwd_params by value.
extern const char* const flash_kernel;
/// Its fatbin, out of libtorch_cuda.so's .nv_fatbin section, mapped and never released; nullptr without
/// LibTorch.
const void* flash_fatbin();
/// The fatbin that holds a kernel whose mangled name contains all of `parts`; `found` is that name.
const void* fatbin_with(const std::vector<std::string>& parts, std::string& found);

#define ASSERT_CUDA(call) ASSERT_EQ(::core_test::name(call), "CUDA_SUCCESS")
#define EXPECT_CUDA(call) EXPECT_EQ(::core_test::name(call), "CUDA_SUCCESS")
#define EXPECT_CUDA_ERROR(expected, call) EXPECT_EQ(::core_test::name(call), #expected)

/// Collects what the core raises while it lives.
class Ears {
  public:
    Ears();
    ~Ears();
    std::vector<attnscope::vgpu::KernelEvent> kernels;
    std::vector<attnscope::vgpu::CopyEvent> copies;
    std::vector<attnscope::vgpu::MemsetEvent> sets;
    std::vector<attnscope::vgpu::SyncEvent> synchronisations;
    std::vector<std::string> entered;  ///< functions
    struct Read {
        uint64_t bytes;
        std::string cause, returned, location;
    };
    std::vector<Read> reads;
    std::vector<std::string> diagnostics;  ///< codes
    std::vector<std::string> library_calls;
    std::vector<std::string> assumed;
    std::mutex mutex;
};

}  // namespace core_test
