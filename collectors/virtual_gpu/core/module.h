#pragma once
// Modules, libraries, functions and kernels. A library's kernel belongs to no context; asked for in one, it
// becomes a function of the library's module there. All but modules and libraries live for ever: stale
// handles and graphs may point at them.
#include <cuda.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/virtual_gpu/core/context.h"
#include "collectors/virtual_gpu/core/image.h"

namespace attnscope::vgpu {

struct Kernel;
struct Library;
struct Module;

/// Which 8-byte words of a launch's parameters may be pointers to memory that the kernel writes.
struct ParameterPlan {
    struct Words {
        uint32_t parameter;
        uint32_t first_byte;  ///< in the parameter, so that the word is aligned in the parameter block
        uint32_t count;
        uint32_t offset;  ///< of the first word, in the parameter block
    };
    std::vector<Words> words;
    uint32_t block_bytes = 0;
};
ParameterPlan plan_parameters(const KernelResources& kernel);

/// A kernel in one context.
struct Function {
    CUfunction handle = nullptr;
    const char* name = nullptr;  ///< mangled, lives for ever
    Module* module = nullptr;
    Context* context = nullptr;
    Kernel* kernel = nullptr;  ///< of a library; else nullptr
    KernelResources resources;
    bool resources_known = true;
    int sm = 0;  ///< of the cubin
    ParameterPlan plan;

    std::atomic<int> max_dynamic_shared{0};  ///< CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    std::atomic<int> carveout{-1};
    std::atomic<int> non_portable_cluster{0};
    std::atomic<int> cluster[3] = {0, 0, 0};  ///< CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_*
    std::atomic<int> cluster_policy{0};
    // cuFuncSetBlockShape and cuParamSet*: for the launches of CUDA 1.
    int block_shape[3] = {1, 1, 1};
    unsigned old_shared = 0;
    std::vector<std::byte> old_parameters;
};

struct Module {
    CUmodule handle = nullptr;
    uint32_t id = 0;
    Context* context = nullptr;
    Library* library = nullptr;  ///< that it belongs to; else nullptr
    std::shared_ptr<DeviceImage> image;

    std::mutex mutex;  ///< guards what follows
    std::map<std::string, Function*, std::less<>> functions;
    std::map<std::string, std::pair<CUdeviceptr, size_t>, std::less<>> variables;
};

struct Library {
    CUlibrary handle = nullptr;
    std::shared_ptr<DeviceImage> image;

    std::mutex mutex;  ///< guards what follows
    std::map<std::string, Kernel*, std::less<>> kernels;
    std::map<const Context*, Module*> modules;
};

struct Kernel {
    CUkernel handle = nullptr;
    const char* name = nullptr;
    Library* library = nullptr;            ///< nullptr once it is unloaded
    std::atomic<Function*> last{nullptr};  ///< the one that was launched last: nearly always the one sought
};

CUresult load_module(Context& context, std::shared_ptr<DeviceImage> image, Library* library, Module*& module);
void unload_module(Module& module);
/// CUDA_ERROR_NOT_FOUND when the code has no such kernel.
CUresult find_function(Module& module, std::string_view name, Function*& function);
CUresult find_variable(Module& module, std::string_view name, CUdeviceptr& pointer, size_t& bytes);

CUresult library_module(Library& library, Context& context, Module*& module);
CUresult find_kernel(Library& library, std::string_view name, Kernel*& kernel);
CUresult kernel_function(Kernel& kernel, Context& context, Function*& function);

/// What a launch means: a CUfunction, or a CUkernel passed as one, which becomes a function of `context`.
/// CUDA_ERROR_INVALID_HANDLE for anything else.
CUresult find_launched(CUfunction handle, Context& context, Function*& function);

}  // namespace attnscope::vgpu
