// Libraries loaded at run time, and the way to the driver's own functions.
#include "api.h"

using namespace attnscope::vgpu::cudart;

// The options' numbers are the driver's.
static_assert(int(cudaJitMaxThreadsPerBlock) == int(CU_JIT_MAX_THREADS_PER_BLOCK));
static_assert(int(cudaLibraryBinaryIsPreserved) == int(CU_LIBRARY_BINARY_IS_PRESERVED));

API(cudaLibraryLoadData, v12060,
    (cudaLibrary_t * library, const void* code, cudaJitOption* jitOptions, void** jitOptionsValues,
     unsigned int numJitOptions, cudaLibraryOption* libraryOptions, void** libraryOptionValues,
     unsigned int numLibraryOptions),
    (library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues,
     numLibraryOptions)) {
    return checked(cuLibraryLoadData(library, code, alike<CUjit_option>(jitOptions), jitOptionsValues,
                                     numJitOptions, alike<CUlibraryOption>(libraryOptions),
                                     libraryOptionValues, numLibraryOptions));
}

API(cudaLibraryLoadFromFile, v12060,
    (cudaLibrary_t * library, const char* fileName, cudaJitOption* jitOptions, void** jitOptionsValues,
     unsigned int numJitOptions, cudaLibraryOption* libraryOptions, void** libraryOptionValues,
     unsigned int numLibraryOptions),
    (library, fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues,
     numLibraryOptions)) {
    return checked(cuLibraryLoadFromFile(library, fileName, alike<CUjit_option>(jitOptions), jitOptionsValues,
                                         numJitOptions, alike<CUlibraryOption>(libraryOptions),
                                         libraryOptionValues, numLibraryOptions));
}

API(cudaLibraryUnload, v12060, (cudaLibrary_t library), (library)) {
    return checked(cuLibraryUnload(library));
}

API(cudaLibraryGetKernel, v12060, (cudaKernel_t * pKernel, cudaLibrary_t library, const char* name),
    (pKernel, library, name)) {
    return checked(cuLibraryGetKernel(pKernel, library, name));
}

API(cudaLibraryGetGlobal, v12060, (void** dptr, size_t* bytes, cudaLibrary_t library, const char* name),
    (dptr, bytes, library, name)) {
    return checked(cuLibraryGetGlobal(device(dptr), bytes, library, name));
}

API(cudaLibraryGetManaged, v12060, (void** dptr, size_t* bytes, cudaLibrary_t library, const char* name),
    (dptr, bytes, library, name)) {
    return checked(cuLibraryGetManaged(device(dptr), bytes, library, name));
}

API(cudaLibraryGetUnifiedFunction, v12060, (void** fptr, cudaLibrary_t library, const char* symbol),
    (fptr, library, symbol)) {
    return checked(cuLibraryGetUnifiedFunction(fptr, library, symbol));
}

API(cudaLibraryGetKernelCount, v12060, (unsigned int* count, cudaLibrary_t lib), (count, lib)) {
    return checked(cuLibraryGetKernelCount(count, lib));
}

API(cudaLibraryEnumerateKernels, v12060, (cudaKernel_t * kernels, unsigned int numKernels, cudaLibrary_t lib),
    (kernels, numKernels, lib)) {
    return checked(cuLibraryEnumerateKernels(kernels, numKernels, lib));
}

API_WITHOUT_CONTEXT(cudaDriverGetVersion, v3020, (int* driverVersion), (driverVersion)) {
    return checked(cuDriverGetVersion(driverVersion));
}

API_WITHOUT_CONTEXT(cudaRuntimeGetVersion, v3020, (int* runtimeVersion), (runtimeVersion)) {
    if (runtimeVersion == nullptr) return cudaErrorInvalidValue;
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

static cudaError_t entry_point(const char* symbol, void** funcPtr, unsigned int version,
                               unsigned long long flags, cudaDriverEntryPointQueryResult* driverStatus) {
    if (symbol == nullptr || funcPtr == nullptr || flags > cudaEnablePerThreadDefaultStream)
        return cudaErrorInvalidValue;
    if (thread.per_thread_stream && flags == cudaEnableDefault) flags = cudaEnablePerThreadDefaultStream;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult result = cuGetProcAddress(symbol, funcPtr, static_cast<int>(version), flags, &status);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND) return checked(result);
    if (result == CUDA_ERROR_NOT_FOUND) {
        *funcPtr = nullptr;
        if (status == CU_GET_PROC_ADDRESS_SUCCESS) status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    // An unknown name is told by the status; without one to tell it by, it is an error.
    if (driverStatus) *driverStatus = enumerator<cudaDriverEntryPointQueryResult>(status);
    return *funcPtr || driverStatus ? cudaSuccess : cudaErrorSymbolNotFound;
}

API_WITH_STREAM(cudaGetDriverEntryPointByVersion, v12050, ptsz, v12050,
                (const char* symbol, void** funcPtr, unsigned int cudaVersion, unsigned long long flags,
                 cudaDriverEntryPointQueryResult* driverStatus),
                (symbol, funcPtr, cudaVersion, flags, driverStatus)) {
    return entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus);
}

API_WITH_STREAM(cudaGetDriverEntryPoint, v11030, ptsz, v11030,
                (const char* symbol, void** funcPtr, unsigned long long flags,
                 cudaDriverEntryPointQueryResult* driverStatus),
                (symbol, funcPtr, flags, driverStatus)) {
    return entry_point(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

API(cudaLogsRegisterCallback, v13000,
    (cudaLogsCallback_t callbackFunc, void* userData, cudaLogsCallbackHandle* callback_out),
    (callbackFunc, userData, callback_out)) {
    return checked(
        cuLogsRegisterCallback(reinterpret_cast<CUlogsCallback>(callbackFunc), userData, callback_out));
}
API(cudaLogsUnregisterCallback, v13000, (cudaLogsCallbackHandle callback), (callback)) {
    return checked(cuLogsUnregisterCallback(callback));
}
API(cudaLogsCurrent, v13000, (cudaLogIterator * iterator_out, unsigned int flags), (iterator_out, flags)) {
    return checked(cuLogsCurrent(iterator_out, flags));
}
API(cudaLogsDumpToFile, v13000, (cudaLogIterator * iterator, const char* pathToFile, unsigned int flags),
    (iterator, pathToFile, flags)) {
    return checked(cuLogsDumpToFile(iterator, pathToFile, flags));
}
API(cudaLogsDumpToMemory, v13000,
    (cudaLogIterator * iterator, char* buffer, size_t* size, unsigned int flags),
    (iterator, buffer, size, flags)) {
    return checked(cuLogsDumpToMemory(iterator, buffer, size, flags));
}
