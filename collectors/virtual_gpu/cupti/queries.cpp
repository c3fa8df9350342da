// Questions that are answered from tables: names, versions, ids, devices, and the walk through a buffer.
#include <cupti.h>
#include <cupti_target.h>

#include <algorithm>
#include <iterator>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/objects.h"
#include "collectors/virtual_gpu/cupti/profiler_api.h"
#include "collectors/virtual_gpu/cupti/result.h"
#include "collectors/virtual_gpu/cupti/strict.h"
#include "collectors/virtual_gpu/cupti/threads.h"

using namespace attnscope::vgpu;
using namespace attnscope::vgpu::cupti;

namespace {

struct Name {
    uint32_t number;
    const char* text;
};
constexpr Name driver_names[] = {
#include "driver_names.inc"
};
constexpr Name runtime_names[] = {
#include "runtime_names.inc"
};
constexpr Name result_names[] = {
#include "result_names.inc"
};

template <size_t N>
const char* name_of(const Name (&names)[N], uint32_t number) {
    for (const Name& name : names)
        if (name.number == number) return name.text;
    return nullptr;
}

thread_local CUptiResult last_error = CUPTI_SUCCESS;

/// Sizes of the records that the stand-in makes; 0: not made here.
size_t record_size(CUpti_ActivityKind kind) {
    switch (kind) {
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return sizeof(CUpti_ActivityMemcpy6);
        case CUPTI_ACTIVITY_KIND_MEMSET:
            return sizeof(CUpti_ActivityMemset4);
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return sizeof(CUpti_ActivityKernel10);
        case CUPTI_ACTIVITY_KIND_DRIVER:
        case CUPTI_ACTIVITY_KIND_RUNTIME:
            return sizeof(CUpti_ActivityAPI);
        case CUPTI_ACTIVITY_KIND_DEVICE:
            return sizeof(CUpti_ActivityDevice5);
        case CUPTI_ACTIVITY_KIND_CONTEXT:
            return sizeof(CUpti_ActivityContext3);
        case CUPTI_ACTIVITY_KIND_OVERHEAD:
            return sizeof(CUpti_ActivityOverhead3);
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            return sizeof(CUpti_ActivityMemcpyPtoP4);
        case CUPTI_ACTIVITY_KIND_MODULE:
            return sizeof(CUpti_ActivityModule);
        case CUPTI_ACTIVITY_KIND_STREAM:
            return sizeof(CUpti_ActivityStream);
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
            return sizeof(CUpti_ActivitySynchronization2);
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            return sizeof(CUpti_ActivityExternalCorrelation);
        default:
            return 0;
    }
}

/// The compute capabilities that CUPTI 13.0 Update 1 answers 1 for.
bool supports(int major, int minor) {
    constexpr int known[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
    return std::find(std::begin(known), std::end(known), 10 * major + minor) != std::end(known);
}

bool known_device(CUdevice device) {
    return device >= 0 && static_cast<size_t>(device) < device_count();
}

}  // namespace

namespace attnscope::vgpu::cupti {
CUptiResult answer(CUptiResult result) {
    if (result != CUPTI_SUCCESS) last_error = result;
    return result;
}
CUptiResult stream_id_of(CUcontext context, CUstream stream, bool per_thread, uint32_t* id) {
    if (!id) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    const auto known = stream_id(context, stream, per_thread);
    if (!known) return answer(CUPTI_ERROR_INVALID_STREAM);
    *id = *known;
    return CUPTI_SUCCESS;
}

}  // namespace attnscope::vgpu::cupti

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
    ATTNSCOPE_FAULT_POINT;
    if (!buffer || !record) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    uint8_t* next = buffer;
    if (*record) {
        const size_t size = record_size((*record)->kind);
        if (size == 0) return answer(CUPTI_ERROR_INVALID_KIND);
        next = reinterpret_cast<uint8_t*>(*record) + size;
    }
    if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    auto* candidate = reinterpret_cast<CUpti_Activity*>(next);
    const size_t size = record_size(candidate->kind);
    if (size == 0 || next + size > buffer + valid_bytes) return answer(CUPTI_ERROR_INVALID_KIND);
    *record = candidate;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
    ATTNSCOPE_FAULT_POINT;
    if (!text) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    const char* name = name_of(result_names, static_cast<uint32_t>(result));
    *text = name ? name : "<unknown>";
    return name ? CUPTI_SUCCESS : answer(CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
    ATTNSCOPE_FAULT_POINT;
    if (!text) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    const char* name = name_of(result_names, static_cast<uint32_t>(result));
    *text = name ? name : "<unknown>";
    return CUPTI_SUCCESS;  // the real library says SUCCESS for unknown codes here
}

CUptiResult cuptiGetLastError(void) {
    ATTNSCOPE_FAULT_POINT;
    const CUptiResult result = last_error;
    last_error = CUPTI_SUCCESS;
    return result;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
    ATTNSCOPE_FAULT_POINT;
    if (!name) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    *name = nullptr;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid < CUPTI_DRIVER_TRACE_CBID_SIZE)
        *name = name_of(driver_names, cbid);
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid < CUPTI_RUNTIME_TRACE_CBID_SIZE)
        *name = name_of(runtime_names, cbid);
    return *name ? CUPTI_SUCCESS : answer(CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetVersion(uint32_t* version) {
    ATTNSCOPE_FAULT_POINT;
    if (!version) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
    ATTNSCOPE_FAULT_POINT;
    if (!timestamp) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    *timestamp = now_ns();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
    ATTNSCOPE_FAULT_POINT;
    if (type != CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT && type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
        return answer(CUPTI_ERROR_NOT_SUPPORTED);
    set_thread_id_type(type);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
    ATTNSCOPE_FAULT_POINT;
    if (!type) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    *type = thread_id_type();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
    ATTNSCOPE_FAULT_POINT;
    if (!id) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    const auto known = context_id(context);
    if (!known) return answer(CUPTI_ERROR_INVALID_CONTEXT);
    *id = *known;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t* id) {
    ATTNSCOPE_FAULT_POINT;
    return stream_id_of(context, stream, per_thread != 0, id);
}
CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* id) {
    ATTNSCOPE_FAULT_POINT;
    return stream_id_of(context, stream, false, id);
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* id) {
    ATTNSCOPE_FAULT_POINT;
    if (!id) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    const auto ordinal = device_of(context);
    if (!ordinal) return answer(CUPTI_ERROR_INVALID_DEVICE);
    *id = *ordinal;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (!complete(params, CUpti_Device_GetChipName_Params_STRUCT_SIZE))
        return answer(CUPTI_ERROR_INVALID_PARAMETER);
    if (strict_run() && !profiler_initialised())
        return answer(refuse_crash(CUPTI_ERROR_NOT_INITIALIZED, __func__, "the profiler is not initialised",
                                   "call cuptiProfilerInitialize first"));
    if (params->deviceIndex >= device_count()) return answer(CUPTI_ERROR_INVALID_DEVICE);
    params->pChipName = device(static_cast<int>(params->deviceIndex)).chip.c_str();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiComputeCapabilitySupported(int major, int minor, int* support) {
    ATTNSCOPE_FAULT_POINT;
    if (!support) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    *support = supports(major, minor);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceSupported(CUdevice ordinal, int* support) {
    ATTNSCOPE_FAULT_POINT;
    if (!support) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    if (!known_device(ordinal)) return answer(CUPTI_ERROR_INVALID_DEVICE);
    *support = supports(device(ordinal).major, device(ordinal).minor);
    return CUPTI_SUCCESS;
}

// The mode of the hypervisor that a device is run under: none.
CUptiResult cuptiDeviceVirtualizationMode(CUdevice ordinal, CUpti_DeviceVirtualizationMode* mode) {
    ATTNSCOPE_FAULT_POINT;
    if (!mode) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    if (!known_device(ordinal)) return answer(CUPTI_ERROR_INVALID_DEVICE);
    *mode = CUPTI_DEVICE_VIRTUALIZATION_MODE_NONE;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetAutoBoostState(CUcontext context, CUpti_ActivityAutoBoostState* state) {
    ATTNSCOPE_FAULT_POINT;
    if (!context || !state) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    *state = {};  // no clock, nothing boosts
    return CUPTI_SUCCESS;
}
