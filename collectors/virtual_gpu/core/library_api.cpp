// cuLibrary* and cuKernel*.
#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/function_attributes.h"
#include "collectors/virtual_gpu/core/load.h"
#include "collectors/virtual_gpu/core/module.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {
CUresult load(CUlibrary* out, const void* code, bool preserved) {
    if (out == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<DeviceImage> image;
    if (CUresult error = DeviceImage::open(code, preserved, image); error != CUDA_SUCCESS) return error;
    auto* library = new Library();
    library->image = std::move(image);
    library->handle = static_cast<CUlibrary>(handles<Library>().add(library));
    *out = library->handle;
    return CUDA_SUCCESS;
}

CUresult find_library(CUlibrary handle, Library*& library) {
    library = handles<Library>().get(handle);
    return library != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult find_kernel(CUkernel handle, Kernel*& kernel) {
    kernel = handles<Kernel>().get(handle);
    return kernel != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult module_here(CUlibrary handle, Module*& module) {
    Library* library = nullptr;
    Context* context = nullptr;
    if (CUresult error = find_library(handle, library); error != CUDA_SUCCESS) return error;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    return library_module(*library, *context, module);
}
CUresult code_here(CUlibrary handle, Library*& library, const DeviceCode*& code) {
    if (CUresult error = find_library(handle, library); error != CUDA_SUCCESS) return error;
    const VirtualDevice* device = device_or_null(current_device());
    if (device == nullptr) return CUDA_ERROR_NO_DEVICE;
    return library->image->code(*device, code);
}

// The kernel on a device: in that device's primary or current context. Attributes are asked per device.
CUresult function_on(CUkernel handle, CUdevice ordinal, Function*& function) {
    Kernel* kernel = nullptr;
    if (CUresult error = find_kernel(handle, kernel); error != CUDA_SUCCESS) return error;
    VirtualDevice* device = device_or_null(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    Context* context = current_context_or_null();
    if (context == nullptr || context->device != device) {
        std::lock_guard lock(device->mutex);
        context = device->primary;
    }
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return kernel_function(*kernel, *context, function);
}
}  // namespace

namespace driver {

CUresult cuLibraryLoadData(CUlibrary* out, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption* options, void** values, unsigned count) {
    bool preserved = false;
    for (unsigned i = 0; i < count && options != nullptr; i++)
        if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED)
            preserved = values == nullptr || reinterpret_cast<uintptr_t>(values[i]) != 0;
    return load(out, code, preserved);
}
CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
    std::vector<char> bytes;
    if (CUresult error = read_code_file(path, bytes); error != CUDA_SUCCESS) return error;
    return load(out, bytes.data(), false);
}

CUresult cuLibraryUnload(CUlibrary handle) {
    Library* library = handles<Library>().remove(handle);
    if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    std::vector<Module*> modules;
    {
        std::lock_guard lock(library->mutex);
        for (auto& [context, module] : library->modules) modules.push_back(module);
        for (auto& [name, kernel] : library->kernels) {
            handles<Kernel>().remove(kernel->handle);
            kernel->library = nullptr;
            kernel->last = nullptr;
        }
    }
    for (Module* module : modules) unload_module(*module);
    std::lock_guard lock(library->mutex);
    library->image.reset();  // the object itself stays: kernels and graphs may still point at it
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary handle, const char* name) {
    Library* library = nullptr;
    if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_library(handle, library); error != CUDA_SUCCESS) return error;
    Kernel* kernel = nullptr;
    if (CUresult error = attnscope::vgpu::find_kernel(*library, name, kernel); error != CUDA_SUCCESS)
        return error;
    *out = kernel->handle;
    return CUDA_SUCCESS;
}
CUresult cuLibraryGetModule(CUmodule* out, CUlibrary handle) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Module* module = nullptr;
    if (CUresult error = module_here(handle, module); error != CUDA_SUCCESS) return error;
    *out = module->handle;
    return CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUlibrary handle, const char* name) {
    if (name == nullptr || (pointer == nullptr && bytes == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    Module* module = nullptr;
    if (CUresult error = module_here(handle, module); error != CUDA_SUCCESS) return error;
    CUdeviceptr found = 0;
    size_t size = 0;
    if (CUresult error = find_variable(*module, name, found, size); error != CUDA_SUCCESS) return error;
    if (pointer != nullptr) *pointer = found;
    if (bytes != nullptr) *bytes = size;
    return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
    Library* library = nullptr;
    const DeviceCode* code = nullptr;
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = code_here(handle, library, code); error != CUDA_SUCCESS) return error;
    *count = static_cast<unsigned>(code->kernels.size());
    return CUDA_SUCCESS;
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary handle) {
    Library* library = nullptr;
    const DeviceCode* code = nullptr;
    if (kernels == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = code_here(handle, library, code); error != CUDA_SUCCESS) return error;
    for (unsigned i = 0; i < count && i < code->kernels.size(); i++) {
        Kernel* kernel = nullptr;
        if (CUresult error = attnscope::vgpu::find_kernel(*library, code->kernels[i].name, kernel);
            error != CUDA_SUCCESS)
            return error;
        kernels[i] = kernel->handle;
    }
    return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* out, CUkernel handle) {
    Kernel* kernel = nullptr;
    Context* context = nullptr;
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_kernel(handle, kernel); error != CUDA_SUCCESS) return error;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    Function* function = nullptr;
    if (CUresult error = kernel_function(*kernel, *context, function); error != CUDA_SUCCESS) return error;
    *out = function->handle;
    return CUDA_SUCCESS;
}
CUresult cuKernelGetName(const char** name, CUkernel handle) {
    Kernel* kernel = nullptr;
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_kernel(handle, kernel); error != CUDA_SUCCESS) return error;
    *name = kernel->name;
    return CUDA_SUCCESS;
}
CUresult cuKernelGetLibrary(CUlibrary* out, CUkernel handle) {
    Kernel* kernel = nullptr;
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_kernel(handle, kernel); error != CUDA_SUCCESS) return error;
    *out = kernel->library != nullptr ? kernel->library->handle : nullptr;
    return CUDA_SUCCESS;
}
CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t* offset, size_t* size) {
    Function* function = nullptr;
    if (CUresult error = function_on(handle, current_device(), function); error != CUDA_SUCCESS) return error;
    return parameter_info(*function, index, offset, size);
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel handle, CUdevice device) {
    Function* function = nullptr;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = function_on(handle, device, function); error != CUDA_SUCCESS) return error;
    return function_attribute(*function, attribute, *value);
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle, CUdevice device) {
    Function* function = nullptr;
    if (CUresult error = function_on(handle, device, function); error != CUDA_SUCCESS) return error;
    return set_function_attribute(*function, attribute, value);
}
CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache, CUdevice device) {
    Kernel* kernel = nullptr;
    if (CUresult error = find_kernel(handle, kernel); error != CUDA_SUCCESS) return error;
    return device_or_null(device) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace driver
}  // namespace attnscope::vgpu
