#include "registry.h"

#include <cstring>

#include "../core/api.h"
#include "pointer_table.h"

namespace attnscope::vgpu::cudart {

namespace {

struct Registry {
    PointerTable<Kernel> kernels;      // by host function
    PointerTable<Kernel> by_handle;    // by CUkernel
    PointerTable<Variable> variables;  // by host variable
};
// Never destroyed: programs unregister after our own destructors.
Registry& registry() {
    static Registry& instance = *new Registry;
    return instance;
}

/// __fatBinC_Wrapper_t, as fatbinary_section.h has it.
struct FatBinaryWrapper {
    int magic;
    int version;
    const void* data;
    void* file_or_prelinked;
};
constexpr int wrapper_magic = 0x466243b1;

cudaError_t load(FatBinary& binary, CUlibrary* library) {
    if ((*library = binary.library.load(std::memory_order_acquire))) return cudaSuccess;
    const std::lock_guard lock(binary.loading);
    if ((*library = binary.library.load(std::memory_order_relaxed))) return cudaSuccess;
    if (binary.image == nullptr) return cudaErrorInvalidKernelImage;
    const CUresult result =
        cuLibraryLoadData(library, binary.image, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (result == CUDA_SUCCESS) binary.library.store(*library, std::memory_order_release);
    return checked(result);
}

cudaError_t resolve(Kernel& kernel, CUkernel* handle) {
    if ((*handle = kernel.handle.load(std::memory_order_acquire))) return cudaSuccess;
    CUlibrary library = nullptr;
    if (const cudaError_t error = load(*kernel.binary, &library)) return error;
    const CUresult result = cuLibraryGetKernel(handle, library, kernel.name);
    if (result == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidDeviceFunction;
    if (result != CUDA_SUCCESS) return checked(result);
    registry().by_handle.set(*handle, &kernel);
    kernel.handle.store(*handle, std::memory_order_release);
    return cudaSuccess;
}

/// In: the variable's own memory on the current device, for its initial content. Out: memory that the host
/// sees, too.
cudaError_t managed_memory(Variable& variable, size_t bytes, CUdeviceptr* address) {
    const std::lock_guard lock(variable.binary->loading);
    if (variable.memory == 0) {
        CUdeviceptr memory = 0;
        if (const CUresult result = cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL))
            return checked(result);
        if (const CUresult result = cuMemcpyDtoH(reinterpret_cast<void*>(memory), *address, bytes))
            return checked(result);
        variable.memory = memory;
        // In the program's text the variable is what it points at: its address is that of the memory.
        registry().variables.set(reinterpret_cast<void*>(memory), &variable);
    }
    *address = variable.memory;
    return cudaSuccess;
}

}  // namespace

cudaError_t find_function(const void* host, Function* function) {
    if (host == nullptr) return cudaErrorInvalidDeviceFunction;
    if (Kernel* const kernel = registry().kernels.find(host)) {
        function->name = kernel->name;
        if (const cudaError_t error = resolve(*kernel, &function->kernel)) return error;
        function->function = reinterpret_cast<CUfunction>(function->kernel);
        return cudaSuccess;
    }
    void* const handle = const_cast<void*>(host);
    function->function = static_cast<CUfunction>(handle);
    if (const Kernel* const kernel = registry().by_handle.find(handle)) {
        function->kernel = static_cast<CUkernel>(handle);
        function->name = kernel->name;
        return cudaSuccess;
    }
    if (cuKernelGetName(&function->name, static_cast<CUkernel>(handle)) == CUDA_SUCCESS) {
        function->kernel = static_cast<CUkernel>(handle);
        return cudaSuccess;
    }
    return cuFuncGetName(&function->name, function->function) == CUDA_SUCCESS
               ? cudaSuccess
               : cudaErrorInvalidDeviceFunction;
}

const char* registered_name(const void* host) {
    const Kernel* kernel = registry().kernels.find(host);
    if (kernel == nullptr) kernel = registry().by_handle.find(host);
    return kernel ? kernel->name : nullptr;
}

void* host_function(CUfunction function, CUkernel handle) {
    const void* const key = handle ? static_cast<const void*>(handle) : function;
    const Kernel* kernel = key ? registry().by_handle.find(key) : nullptr;
    const char* name = nullptr;
    if (kernel || cuFuncGetName(&name, function) != CUDA_SUCCESS)
        return const_cast<void*>(kernel ? kernel->host : key);
    // The function of a kernel in one context: sought by name, since only a captured graph's reader asks for
    // it.
    registry().by_handle.until([&](const Kernel& candidate) {
        CUfunction same = nullptr;
        if (std::strcmp(candidate.name, name) != 0 ||
            cuKernelGetFunction(&same, candidate.handle.load()) != CUDA_SUCCESS || same != function)
            return false;
        kernel = &candidate;
        return true;
    });
    return const_cast<void*>(kernel ? kernel->host : key);
}

cudaError_t find_variable(const void* symbol, CUdeviceptr* address, size_t* bytes) {
    Variable* const variable = symbol ? registry().variables.find(symbol) : nullptr;
    if (variable == nullptr) return cudaErrorInvalidSymbol;
    CUlibrary library = nullptr;
    size_t size = 0;
    if (const cudaError_t error = load(*variable->binary, &library)) return error;
    const CUresult result = cuLibraryGetGlobal(address, &size, library, variable->name);
    if (result == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidSymbol;
    if (result != CUDA_SUCCESS) return checked(result);
    if (bytes) *bytes = size;
    return variable->managed ? managed_memory(*variable, size, address) : cudaSuccess;
}

}  // namespace attnscope::vgpu::cudart

using namespace attnscope::vgpu::cudart;

CUDART_EXPORT void** __cudaRegisterFatBinary(void* fatCubin) {
    auto* const binary = new FatBinary{};
    const auto* const wrapper = static_cast<const FatBinaryWrapper*>(fatCubin);
    if (wrapper && wrapper->magic == wrapper_magic) {
        binary->image = wrapper;
    } else {
        attnscope::vgpu::report("error", "bad-fat-binary",
                                "a fat binary without its magic number was registered",
                                "build the program with CUDA 13's nvcc");
    }
    return reinterpret_cast<void**>(binary);
}

CUDART_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

CUDART_EXPORT void __cudaUnregisterFatBinary(void** fatCubinHandle) {
    auto* const binary = reinterpret_cast<FatBinary*>(fatCubinHandle);
    if (binary == nullptr) return;
    // The entries themselves stay: another thread may be launching one, and a program registers no more than
    // it holds.
    for (Kernel* const kernel : binary->kernels) {
        if (registry().kernels.find(kernel->host) == kernel) registry().kernels.set(kernel->host, nullptr);
        if (const CUkernel handle = kernel->handle.load()) registry().by_handle.set(handle, nullptr);
    }
    for (Variable* const variable : binary->variables) {
        if (registry().variables.find(variable->host) == variable)
            registry().variables.set(variable->host, nullptr);
        if (variable->memory == 0) continue;
        registry().variables.set(reinterpret_cast<void*>(variable->memory), nullptr);
        cuMemFree(variable->memory);
    }
    if (const CUlibrary library = binary->library.exchange(nullptr)) cuLibraryUnload(library);
    binary->image = nullptr;
}

CUDART_EXPORT void __cudaRegisterFunction(void** fatCubinHandle, const char* hostFun, char*,
                                          const char* deviceName, int, uint3*, uint3*, dim3*, dim3*, int*) {
    auto* const binary = reinterpret_cast<FatBinary*>(fatCubinHandle);
    auto* const kernel = new Kernel{hostFun, deviceName, binary};
    binary->kernels.push_back(kernel);
    registry().kernels.set(hostFun, kernel);
}

CUDART_EXPORT void __cudaRegisterVar(void** fatCubinHandle, char* hostVar, char*, const char* deviceName, int,
                                     size_t, int, int) {
    auto* const binary = reinterpret_cast<FatBinary*>(fatCubinHandle);
    auto* const variable = new Variable{hostVar, deviceName, binary, false};
    binary->variables.push_back(variable);
    registry().variables.set(hostVar, variable);
}

// The host's variable is a pointer, which __cudaInitModule sets to the managed memory.
CUDART_EXPORT void __cudaRegisterManagedVar(void** fatCubinHandle, void** hostVarPtrAddress, char*,
                                            const char* deviceName, int, size_t, int, int) {
    auto* const binary = reinterpret_cast<FatBinary*>(fatCubinHandle);
    auto* const variable = new Variable{hostVarPtrAddress, deviceName, binary, true};
    binary->variables.push_back(variable);
    registry().variables.set(hostVarPtrAddress, variable);
}

CUDART_EXPORT void __cudaRegisterHostVar(void**, const char*, char*, size_t) {
    attnscope::vgpu::report_unsupported("libcudart", "__cudaRegisterHostVar");
}

CUDART_EXPORT char __cudaInitModule(void** fatCubinHandle) {
    auto* const binary = reinterpret_cast<FatBinary*>(fatCubinHandle);
    const cudaError_t error = guarded<true>([&] {
        for (const Variable* const variable : binary->variables) {
            if (!variable->managed) continue;
            CUdeviceptr address = 0;
            if (const cudaError_t failure = find_variable(variable->host, &address, nullptr)) return failure;
            *static_cast<void**>(const_cast<void*>(variable->host)) = reinterpret_cast<void*>(address);
        }
        return cudaSuccess;
    });
    return remembered(error) == cudaSuccess ? 1 : 0;
}

CUDART_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* entryFuncAddr) {
    return call<true>(CUPTI_RUNTIME_TRACE_CBID___cudaGetKernel_v13000, "__cudaGetKernel", nullptr, [&] {
        if (kernel == nullptr) return cudaErrorInvalidValue;
        Function function;
        if (const cudaError_t error = find_function(entryFuncAddr, &function)) {
            // The program asks once and keeps the answer. One whose device has no image now may launch on
            // another device later, and a launch must then say what is wrong: the host function serves as the
            // handle.
            if (registered_name(entryFuncAddr) == nullptr) return error;
            *kernel = static_cast<cudaKernel_t>(const_cast<void*>(entryFuncAddr));
            return cudaSuccess;
        }
        *kernel = function.kernel;
        return cudaSuccess;
    });
}

API(cudaGetKernel, v12000, (cudaKernel_t * kernelPtr, const void* entryFuncAddr),
    (kernelPtr, entryFuncAddr)) {
    if (kernelPtr == nullptr) return cudaErrorInvalidValue;
    Function function;
    if (const cudaError_t error = find_function(entryFuncAddr, &function)) return error;
    if (function.kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *kernelPtr = function.kernel;
    return cudaSuccess;
}

API(cudaGetFuncBySymbol, v11000, (cudaFunction_t * functionPtr, const void* symbolPtr),
    (functionPtr, symbolPtr)) {
    if (functionPtr == nullptr) return cudaErrorInvalidValue;
    Function function;
    if (const cudaError_t error = find_function(symbolPtr, &function)) return error;
    *functionPtr = function.function;
    return function.kernel ? checked(cuKernelGetFunction(functionPtr, function.kernel)) : cudaSuccess;
}

API(cudaGetSymbolAddress, v3020, (void** devPtr, const void* symbol), (devPtr, symbol)) {
    return devPtr ? find_variable(symbol, device(devPtr), nullptr) : cudaErrorInvalidValue;
}

API(cudaGetSymbolSize, v3020, (size_t * size, const void* symbol), (size, symbol)) {
    CUdeviceptr unused = 0;
    return size ? find_variable(symbol, &unused, size) : cudaErrorInvalidValue;
}
