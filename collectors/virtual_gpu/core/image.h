#pragma once
// Device code as a program hands it over: a fatbin (in its wrapper or bare), a cubin, PTX, or the text of
// run-time compiled kernels. Decompressed and read when one of its kernels is first asked for, once for each
// compute capability.
#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attnscope/binary.h"

namespace attnscope::vgpu {

struct VirtualDevice;

/// A __device__ or __constant__ variable of a cubin.
struct DeviceVariable {
    std::string name;
    size_t bytes = 0;
    std::vector<std::byte> initial;  ///< empty: zeros
};

/// The code that one kind of device runs.
struct DeviceCode {
    int sm = 0;
    std::vector<KernelResources> kernels;
    std::unordered_map<std::string_view, const KernelResources*> by_name;
    std::vector<DeviceVariable> variables;
};

/// Kernels whose names alone are known: what the NVRTC stand-in makes where no compiler is installed.
constexpr std::string_view runtime_source_magic = "ATTNSCOPE-RUNTIME-SOURCE 1\n";

class DeviceImage {
  public:
    /// `preserved`: the bytes outlive the image (device code that was registered with the program). They are
    /// copied otherwise. CUDA_ERROR_INVALID_IMAGE, or CUDA_ERROR_NO_BINARY_FOR_GPU for PTX, which would need
    /// a compiler.
    static CUresult open(const void* bytes, bool preserved, std::shared_ptr<DeviceImage>& image);

    /// CUDA_ERROR_NO_BINARY_FOR_GPU when it holds nothing that this device runs; CUDA_ERROR_INVALID_IMAGE
    /// when it is damaged.
    CUresult code(const VirtualDevice& device, const DeviceCode*& code);

    /// Any kernel name is accepted and nothing is known of its resources.
    bool runtime_source() const { return runtime_source_; }

  private:
    DeviceImage() = default;
    CUresult read(int major, int minor, DeviceCode& code);

    struct Entry {
        CUresult result = CUDA_SUCCESS;
        DeviceCode code;
    };
    bool runtime_source_ = false;
    std::vector<std::byte> copy_;
    const std::byte* bytes_ = nullptr;
    size_t size_ = 0;
    bool cubin_ = false;
    std::mutex mutex_;
    std::map<int, Entry> read_;  ///< by 10 x major + minor; entries stay where they are
};

/// Variables of a cubin. Throws Error on a damaged image.
std::vector<DeviceVariable> read_variables(const std::byte* cubin, size_t bytes);
/// The extent of an ELF image in memory, from its headers; 0 when they make no sense.
size_t elf_bytes(const std::byte* image);
/// The architecture in a cubin's header.
int elf_sm(const std::byte* image);

/// A copy of the name that lives for ever: records hold on to names after their module has gone.
const char* intern(std::string_view name);

}  // namespace attnscope::vgpu
