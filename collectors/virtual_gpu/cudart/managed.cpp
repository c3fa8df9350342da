// Hints and prefetches for managed memory.
#include "api.h"

using namespace attnscope::vgpu::cudart;

static CUmemLocation driver_location(cudaMemLocation location) {
    return *alike<CUmemLocation>(&location);
}

API(cudaMemAdvise, v12020,
    (const void* devPtr, size_t count, cudaMemoryAdvise advice, cudaMemLocation location),
    (devPtr, count, advice, location)) {
    return checked(
        cuMemAdvise(device(devPtr), count, enumerator<CUmem_advise>(advice), driver_location(location)));
}

API_WITH_STREAM(cudaMemPrefetchAsync, v12020, ptsz, v12020,
                (const void* devPtr, size_t count, cudaMemLocation location, unsigned int flags,
                 cudaStream_t stream),
                (devPtr, count, location, flags, stream)) {
    return checked(
        cuMemPrefetchAsync(device(devPtr), count, driver_location(location), flags, driver_stream(stream)));
}

API_WITH_STREAM(cudaMemPrefetchBatchAsync, v13000, ptsz, v13000,
                (void** dptrs, size_t* sizes, size_t count, cudaMemLocation* prefetchLocs,
                 size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                 cudaStream_t stream),
                (dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream)) {
    return checked(cuMemPrefetchBatchAsync(device(dptrs), sizes, count, alike<CUmemLocation>(prefetchLocs),
                                           prefetchLocIdxs, numPrefetchLocs, flags, driver_stream(stream)));
}

API_WITH_STREAM(cudaMemDiscardBatchAsync, v13000, ptsz, v13000,
                (void** dptrs, size_t* sizes, size_t count, unsigned long long flags, cudaStream_t stream),
                (dptrs, sizes, count, flags, stream)) {
    return checked(cuMemDiscardBatchAsync(device(dptrs), sizes, count, flags, driver_stream(stream)));
}

API_WITH_STREAM(cudaMemDiscardAndPrefetchBatchAsync, v13000, ptsz, v13000,
                (void** dptrs, size_t* sizes, size_t count, cudaMemLocation* prefetchLocs,
                 size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                 cudaStream_t stream),
                (dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream)) {
    return checked(cuMemDiscardAndPrefetchBatchAsync(device(dptrs), sizes, count,
                                                     alike<CUmemLocation>(prefetchLocs), prefetchLocIdxs,
                                                     numPrefetchLocs, flags, driver_stream(stream)));
}

API(cudaMemRangeGetAttribute, v8000,
    (void* data, size_t dataSize, cudaMemRangeAttribute attribute, const void* devPtr, size_t count),
    (data, dataSize, attribute, devPtr, count)) {
    return checked(cuMemRangeGetAttribute(data, dataSize, enumerator<CUmem_range_attribute>(attribute),
                                          device(devPtr), count));
}

API(cudaMemRangeGetAttributes, v8000,
    (void** data, size_t* dataSizes, cudaMemRangeAttribute* attributes, size_t numAttributes,
     const void* devPtr, size_t count),
    (data, dataSizes, attributes, numAttributes, devPtr, count)) {
    return checked(cuMemRangeGetAttributes(data, dataSizes, alike<CUmem_range_attribute>(attributes),
                                           numAttributes, device(devPtr), count));
}

API_WITH_STREAM(cudaStreamAttachMemAsync, v6000, ptsz, v7000,
                (cudaStream_t stream, void* devPtr, size_t length, unsigned int flags),
                (stream, devPtr, length, flags)) {
    return checked(cuStreamAttachMemAsync(driver_stream(stream), device(devPtr), length, flags));
}
