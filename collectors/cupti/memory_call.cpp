#include "memory_call.h"

#include <cupti.h>

#include <algorithm>
#include <string_view>

namespace attnscope::collector {
namespace {

const char* kind_between(CUmemorytype from, CUmemorytype to) {
    constexpr const char* kinds[3][3] = {
        {"HtoH", "HtoD", "HtoA"}, {"DtoH", "DtoD", "DtoA"}, {"AtoH", "AtoD", "AtoA"}};
    const auto index = [](CUmemorytype type) {
        return type == CU_MEMORYTYPE_HOST     ? 0
               : type == CU_MEMORYTYPE_DEVICE ? 1
               : type == CU_MEMORYTYPE_ARRAY  ? 2
                                              : -1;  // unified: the pointers say it, not the call
    };
    const int i = index(from), j = index(to);
    return i < 0 || j < 0 ? nullptr : kinds[i][j];
}

template <class Copy>
void read_pitched(const Copy& copy, uint64_t& bytes, const char*& kind) {
    bytes = copy.WidthInBytes * copy.Height;
    if constexpr (requires { copy.Depth; }) bytes *= copy.Depth;
    if constexpr (!requires { copy.srcContext; }) kind = kind_between(copy.srcMemoryType, copy.dstMemoryType);
}

template <class Parameters>
void read_batch_3d(const Parameters& p, uint64_t& bytes) {
    bytes = 0;
    for (size_t i = 0; p.opList != nullptr && i < p.numOps; ++i)
        bytes += static_cast<uint64_t>(p.opList[i].extent.width) * p.opList[i].extent.height *
                 p.opList[i].extent.depth;
}

template <class Parameters>
void read_memory(const void* parameters, uint64_t& bytes, const char*& kind, uint32_t* value) {
    const auto& p = *static_cast<const Parameters*>(parameters);
    if constexpr (requires { p.ByteCount; }) bytes = p.ByteCount;
    if constexpr (requires { p.pCopy; })
        if (p.pCopy != nullptr) read_pitched(*p.pCopy, bytes, kind);
    if constexpr (requires { p.sizes; }) {
        bytes = 0;
        for (size_t i = 0; p.sizes != nullptr && i < p.count; ++i) bytes += p.sizes[i];
    }
    if constexpr (requires { p.opList; }) read_batch_3d(p, bytes);
    const auto set = [&](uint32_t element, size_t size) {
        if (value != nullptr) *value = element;
        if constexpr (requires { p.N; }) bytes = p.N * size;
        if constexpr (requires { p.Width; }) bytes = p.Width * p.Height * size;
    };
    if constexpr (requires { p.uc; }) set(p.uc, 1);
    if constexpr (requires { p.us; }) set(p.us, 2);
    if constexpr (requires { p.ui; }) set(p.ui, 4);
}

template <class Parameters>
CUstream stream_in(const void* parameters) {
    if constexpr (requires(const Parameters& p) { p.hStream; })
        return static_cast<const Parameters*>(parameters)->hStream;
    else
        return nullptr;
}

// A function's own row, and that of its variant for a per-thread default stream, whose parameters are the
// same. Names are pasted at once: cuda.h makes macros of some that lead to newer versions.
#define ROW(cbid, parameters, memset, kind, asynchronous, per_thread)                                \
    MemoryCall {                                                                                     \
        cbid, memset, kind, asynchronous, per_thread, read_memory<parameters>, stream_in<parameters> \
    }
#define COPY(name, kind)                                                           \
    ROW(CUPTI_DRIVER_TRACE_CBID_##name, name##_params, false, kind, false, false), \
        ROW(CUPTI_DRIVER_TRACE_CBID_##name##_ptds, name##_params, false, kind, false, true)
#define COPY_ASYNC(name, kind)                                                    \
    ROW(CUPTI_DRIVER_TRACE_CBID_##name, name##_params, false, kind, true, false), \
        ROW(CUPTI_DRIVER_TRACE_CBID_##name##_ptsz, name##_params, false, kind, true, true)
#define SET(name)                                                                    \
    ROW(CUPTI_DRIVER_TRACE_CBID_##name, name##_params, true, nullptr, false, false), \
        ROW(CUPTI_DRIVER_TRACE_CBID_##name##_ptds, name##_params, true, nullptr, false, true)
#define SET_ASYNC(name)                                                             \
    ROW(CUPTI_DRIVER_TRACE_CBID_##name, name##_params, true, nullptr, true, false), \
        ROW(CUPTI_DRIVER_TRACE_CBID_##name##_ptsz, name##_params, true, nullptr, true, true)

constexpr MemoryCall kCalls[] = {
    COPY(cuMemcpy, nullptr),
    COPY_ASYNC(cuMemcpyAsync, nullptr),
    COPY(cuMemcpyHtoD_v2, "HtoD"),
    COPY_ASYNC(cuMemcpyHtoDAsync_v2, "HtoD"),
    COPY(cuMemcpyDtoH_v2, "DtoH"),
    COPY_ASYNC(cuMemcpyDtoHAsync_v2, "DtoH"),
    COPY(cuMemcpyDtoD_v2, "DtoD"),
    COPY_ASYNC(cuMemcpyDtoDAsync_v2, "DtoD"),
    COPY(cuMemcpyDtoA_v2, "DtoA"),
    COPY(cuMemcpyAtoD_v2, "AtoD"),
    COPY(cuMemcpyHtoA_v2, "HtoA"),
    COPY_ASYNC(cuMemcpyHtoAAsync_v2, "HtoA"),
    COPY(cuMemcpyAtoH_v2, "AtoH"),
    COPY_ASYNC(cuMemcpyAtoHAsync_v2, "AtoH"),
    COPY(cuMemcpyAtoA_v2, "AtoA"),
    COPY(cuMemcpy2D_v2, nullptr),
    COPY(cuMemcpy2DUnaligned_v2, nullptr),
    COPY_ASYNC(cuMemcpy2DAsync_v2, nullptr),
    COPY(cuMemcpy3D_v2, nullptr),
    COPY_ASYNC(cuMemcpy3DAsync_v2, nullptr),
    COPY(cuMemcpyPeer, "PtoP"),
    COPY_ASYNC(cuMemcpyPeerAsync, "PtoP"),
    COPY(cuMemcpy3DPeer, "PtoP"),
    COPY_ASYNC(cuMemcpy3DPeerAsync, "PtoP"),
    COPY_ASYNC(cuMemcpyBatchAsync, nullptr),
    COPY_ASYNC(cuMemcpyBatchAsync_v2, nullptr),
    COPY_ASYNC(cuMemcpy3DBatchAsync, nullptr),
    COPY_ASYNC(cuMemcpy3DBatchAsync_v2, nullptr),
    SET(cuMemsetD8_v2),
    SET(cuMemsetD16_v2),
    SET(cuMemsetD32_v2),
    SET(cuMemsetD2D8_v2),
    SET(cuMemsetD2D16_v2),
    SET(cuMemsetD2D32_v2),
    SET_ASYNC(cuMemsetD8Async),
    SET_ASYNC(cuMemsetD16Async),
    SET_ASYNC(cuMemsetD32Async),
    SET_ASYNC(cuMemsetD2D8Async),
    SET_ASYNC(cuMemsetD2D16Async),
    SET_ASYNC(cuMemsetD2D32Async),
};

}  // namespace

std::span<const MemoryCall> memory_calls() {
    return kCalls;
}

const MemoryCall* memory_call(uint32_t cbid) {
    const auto* found = std::find_if(std::begin(kCalls), std::end(kCalls),
                                     [cbid](const MemoryCall& call) { return call.cbid == cbid; });
    return found == std::end(kCalls) ? nullptr : found;
}

}  // namespace attnscope::collector
