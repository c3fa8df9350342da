// Streams, events and host functions.
#include "api.h"

using namespace attnscope::vgpu::cudart;

API(cudaStreamCreate, v3020, (cudaStream_t * pStream), (pStream)) {
    return checked(cuStreamCreate(pStream, CU_STREAM_DEFAULT));
}

API(cudaStreamCreateWithFlags, v5000, (cudaStream_t * pStream, unsigned int flags), (pStream, flags)) {
    return checked(cuStreamCreate(pStream, flags));
}

API(cudaStreamCreateWithPriority, v5050, (cudaStream_t * pStream, unsigned int flags, int priority),
    (pStream, flags, priority)) {
    return checked(cuStreamCreateWithPriority(pStream, flags, priority));
}

API(cudaStreamDestroy, v5050, (cudaStream_t stream), (stream)) {
    // The default streams are nobody's to destroy.
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return cudaErrorInvalidResourceHandle;
    return checked(cuStreamDestroy(stream));
}

API_WITH_STREAM(cudaStreamGetPriority, v5050, ptsz, v7000, (cudaStream_t hStream, int* priority),
                (hStream, priority)) {
    return checked(cuStreamGetPriority(driver_stream(hStream), priority));
}

API_WITH_STREAM(cudaStreamGetFlags, v5050, ptsz, v7000, (cudaStream_t hStream, unsigned int* flags),
                (hStream, flags)) {
    return checked(cuStreamGetFlags(driver_stream(hStream), flags));
}

API_WITH_STREAM(cudaStreamGetId, v12000, ptsz, v12000, (cudaStream_t hStream, unsigned long long* streamId),
                (hStream, streamId)) {
    return checked(cuStreamGetId(driver_stream(hStream), streamId));
}

API_WITH_STREAM(cudaStreamGetDevice, v12080, ptsz, v12080, (cudaStream_t hStream, int* device),
                (hStream, device)) {
    return checked(cuStreamGetDevice(driver_stream(hStream), device));
}

API_WITH_STREAM(cudaStreamCopyAttributes, v11000, ptsz, v11000, (cudaStream_t dst, cudaStream_t src),
                (dst, src)) {
    return checked(cuStreamCopyAttributes(driver_stream(dst), driver_stream(src)));
}

API_WITH_STREAM(cudaStreamGetAttribute, v11000, ptsz, v11000,
                (cudaStream_t hStream, cudaStreamAttrID attr, cudaStreamAttrValue* value_out),
                (hStream, attr, value_out)) {
    return checked(cuStreamGetAttribute(driver_stream(hStream), enumerator<CUstreamAttrID>(attr),
                                        alike<CUstreamAttrValue>(value_out)));
}

API_WITH_STREAM(cudaStreamSetAttribute, v11000, ptsz, v11000,
                (cudaStream_t hStream, cudaStreamAttrID attr, const cudaStreamAttrValue* value),
                (hStream, attr, value)) {
    return checked(cuStreamSetAttribute(driver_stream(hStream), enumerator<CUstreamAttrID>(attr),
                                        alike<const CUstreamAttrValue>(value)));
}

API_WITH_STREAM(cudaStreamWaitEvent, v3020, ptsz, v7000,
                (cudaStream_t stream, cudaEvent_t event, unsigned int flags), (stream, event, flags)) {
    return checked(cuStreamWaitEvent(driver_stream(stream), event, flags));
}

API_WITH_STREAM(cudaStreamSynchronize, v3020, ptsz, v7000, (cudaStream_t stream), (stream)) {
    return checked(cuStreamSynchronize(driver_stream(stream)));
}

API_WITH_STREAM(cudaStreamQuery, v3020, ptsz, v7000, (cudaStream_t stream), (stream)) {
    return checked(cuStreamQuery(driver_stream(stream)));
}

API_WITH_STREAM(cudaStreamAddCallback, v5000, ptsz, v7000,
                (cudaStream_t stream, cudaStreamCallback_t callback, void* userData, unsigned int flags),
                (stream, callback, userData, flags)) {
    // The two callbacks differ in the enumeration of the status alone, whose numbers agree.
    return checked(cuStreamAddCallback(driver_stream(stream), reinterpret_cast<CUstreamCallback>(callback),
                                       userData, flags));
}

API_WITH_STREAM(cudaLaunchHostFunc, v10000, ptsz, v10000,
                (cudaStream_t stream, cudaHostFn_t fn, void* userData), (stream, fn, userData)) {
    return checked(cuLaunchHostFunc(driver_stream(stream), fn, userData));
}

API(cudaEventCreate, v3020, (cudaEvent_t * event), (event)) {
    return checked(cuEventCreate(event, CU_EVENT_DEFAULT));
}

API(cudaEventCreateWithFlags, v3020, (cudaEvent_t * event, unsigned int flags), (event, flags)) {
    return checked(cuEventCreate(event, flags));
}

API_WITH_STREAM(cudaEventRecord, v3020, ptsz, v7000, (cudaEvent_t event, cudaStream_t stream),
                (event, stream)) {
    return checked(cuEventRecord(event, driver_stream(stream)));
}

API_WITH_STREAM(cudaEventRecordWithFlags, v11010, ptsz, v11010,
                (cudaEvent_t event, cudaStream_t stream, unsigned int flags), (event, stream, flags)) {
    return checked(cuEventRecordWithFlags(event, driver_stream(stream), flags));
}

API(cudaEventQuery, v3020, (cudaEvent_t event), (event)) {
    return checked(cuEventQuery(event));
}
API(cudaEventSynchronize, v3020, (cudaEvent_t event), (event)) {
    return checked(cuEventSynchronize(event));
}
API(cudaEventDestroy, v3020, (cudaEvent_t event), (event)) {
    return checked(cuEventDestroy(event));
}

API(cudaEventElapsedTime, v12080, (float* ms, cudaEvent_t start, cudaEvent_t end), (ms, start, end)) {
    return checked(cuEventElapsedTime(ms, start, end));
}
