// cuModule*.
#include <fstream>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/load.h"
#include "collectors/virtual_gpu/core/module.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

CUresult read_code_file(const char* path, std::vector<char>& bytes) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    const std::streamoff size = file.tellg();
    // Room behind it: headers are read before their lengths are known, and PTX is text that ends with a zero.
    bytes.assign(static_cast<size_t>(size > 0 ? size : 0) + 64, '\0');
    file.seekg(0);
    file.read(bytes.data(), size);
    return file && size >= 4 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

namespace {
CUresult load(CUmodule* out, const void* bytes) {
    if (out == nullptr || bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    std::shared_ptr<DeviceImage> image;
    if (CUresult error = DeviceImage::open(bytes, false, image); error != CUDA_SUCCESS) return error;
    Module* module = nullptr;
    if (CUresult error = load_module(*context, std::move(image), nullptr, module); error != CUDA_SUCCESS)
        return error;
    *out = module->handle;
    return CUDA_SUCCESS;
}

CUresult find_module(CUmodule handle, Module*& module) {
    module = handles<Module>().get(handle);
    return module != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
}  // namespace

namespace driver {

CUresult cuModuleLoadData(CUmodule* out, const void* image) {
    return load(out, image);
}
CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned, CUjit_option*, void**) {
    return load(out, image);  // the options speak to a compiler that is not here
}
CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) {
    return load(out, image);
}
CUresult cuModuleLoad(CUmodule* out, const char* path) {
    std::vector<char> bytes;
    if (CUresult error = read_code_file(path, bytes); error != CUDA_SUCCESS) return error;
    return load(out, bytes.data());
}

CUresult cuModuleUnload(CUmodule handle) {
    Module* module = nullptr;
    if (CUresult error = find_module(handle, module); error != CUDA_SUCCESS) return error;
    if (module->library != nullptr) return CUDA_ERROR_NOT_PERMITTED;  // cuLibraryUnload's
    unload_module(*module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
    Module* module = nullptr;
    if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_module(handle, module); error != CUDA_SUCCESS) return error;
    Function* function = nullptr;
    if (CUresult error = find_function(*module, name, function); error != CUDA_SUCCESS) return error;
    *out = function->handle;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
    Module* module = nullptr;
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_module(handle, module); error != CUDA_SUCCESS) return error;
    const DeviceCode* code = nullptr;
    if (CUresult error = module->image->code(*module->context->device, code); error != CUDA_SUCCESS)
        return error;
    *count = static_cast<unsigned>(code->kernels.size());
    return CUDA_SUCCESS;
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
    Module* module = nullptr;
    if (functions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_module(handle, module); error != CUDA_SUCCESS) return error;
    const DeviceCode* code = nullptr;
    if (CUresult error = module->image->code(*module->context->device, code); error != CUDA_SUCCESS)
        return error;
    for (unsigned i = 0; i < count && i < code->kernels.size(); i++) {
        Function* function = nullptr;
        if (CUresult error = find_function(*module, code->kernels[i].name, function); error != CUDA_SUCCESS)
            return error;
        functions[i] = function->handle;
    }
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, size_t* bytes, CUmodule handle, const char* name) {
    Module* module = nullptr;
    if (name == nullptr || (pointer == nullptr && bytes == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_module(handle, module); error != CUDA_SUCCESS) return error;
    CUdeviceptr found = 0;
    size_t size = 0;
    if (CUresult error = find_variable(*module, name, found, size); error != CUDA_SUCCESS) return error;
    if (pointer != nullptr) *pointer = found;
    if (bytes != nullptr) *bytes = size;
    return CUDA_SUCCESS;
}

}  // namespace driver
}  // namespace attnscope::vgpu
