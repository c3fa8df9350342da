#pragma once
// What programs register before main: fat binaries with their kernels and variables. Only noted then; a
// binary is given to the driver when the first of its kernels or variables is needed.
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "api.h"

namespace attnscope::vgpu::cudart {

struct FatBinary;

struct Kernel {
    const void* host;  ///< the host function that stands for it
    const char* name;  ///< mangled; lies in the program
    FatBinary* binary;
    std::atomic<CUkernel> handle{nullptr};
};

struct Variable {
    const void* host;
    const char* name;
    FatBinary* binary;
    bool managed;
    CUdeviceptr memory = 0;  ///< managed ones: the same for all devices; guarded by the binary's mutex
};

struct FatBinary {
    const void*
        image;  ///< its wrapper, a static object of the program: the driver need not copy what it leads to
    std::mutex loading;
    std::atomic<CUlibrary> library{nullptr};
    std::vector<Kernel*> kernels;
    std::vector<Variable*> variables;
};

/// A kernel as the driver's functions take it.
struct Function {
    CUkernel kernel = nullptr;      ///< null when the program handed in a CUfunction of its own
    CUfunction function = nullptr;  ///< the same handle for launches and occupancy
    const char* name = nullptr;
};

/// From a host function, or a cudaFunction_t or cudaKernel_t used as one. cudaErrorInvalidDeviceFunction when
/// it is none of them, cudaErrorNoKernelImageForDevice when the binary holds nothing for the device.
cudaError_t find_function(const void* host, Function* function);
/// The name before anything is loaded, for the listener; nullptr when unknown.
const char* registered_name(const void* host);
/// The host function of a kernel; the handle itself when it was not registered.
void* host_function(CUfunction function, CUkernel kernel);

/// Address and size on the current device. cudaErrorInvalidSymbol for what was not registered.
cudaError_t find_variable(const void* symbol, CUdeviceptr* address, size_t* bytes);

}  // namespace attnscope::vgpu::cudart
