// cuLink*: there is no linker and no compiler. One finished cubin or fatbin may pass through, which is what
// programs do that compiled for this very device; everything else is refused as a driver without a compiler
// refuses it.
#include <cstring>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/handles.h"
#include "collectors/virtual_gpu/core/load.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {
struct Link {
    std::vector<char> image;
};

CUresult refuse(const char* what) {
    report("warning", "no-ptx-compiler",
           std::string("the program asked the driver to ") + what + ", which the virtual GPU cannot do",
           "build the program with device code for this device, or run it on a real GPU");
    return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
}

CUresult add(CUlinkState state, CUjitInputType type, const void* data, size_t size) {
    Link* link = handles<Link>().get(state);
    if (link == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (data == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_JIT_INPUT_CUBIN && type != CU_JIT_INPUT_FATBINARY) return refuse("compile PTX");
    if (!link->image.empty()) return refuse("link several pieces of device code");
    link->image.assign(static_cast<const char*>(data), static_cast<const char*>(data) + size);
    return CUDA_SUCCESS;
}
}  // namespace

namespace driver {

CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = static_cast<CUlinkState>(handles<Link>().add(new Link()));
    return CUDA_SUCCESS;
}
CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
    return driver::cuLinkCreate_v2(count, options, values, out);
}
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char*,
                          unsigned, CUjit_option*, void**) {
    return add(state, type, data, size);
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char*, unsigned,
                       CUjit_option*, void**) {
    return add(state, type, data, size);
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned, CUjit_option*,
                          void**) {
    std::vector<char> bytes;
    if (CUresult error = read_code_file(path, bytes); error != CUDA_SUCCESS) return error;
    return add(state, type, bytes.data(), bytes.size());
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                       CUjit_option* options, void** values) {
    return driver::cuLinkAddFile_v2(state, type, path, count, options, values);
}
CUresult cuLinkComplete(CUlinkState state, void** cubin, size_t* size) {
    Link* link = handles<Link>().get(state);
    if (link == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (cubin == nullptr || link->image.empty()) return CUDA_ERROR_INVALID_VALUE;
    *cubin = link->image.data();
    if (size != nullptr) *size = link->image.size();
    return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState state) {
    Link* link = handles<Link>().remove(state);
    if (link == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    delete link;
    return CUDA_SUCCESS;
}

}  // namespace driver
}  // namespace attnscope::vgpu
