// cuInit, the injection library, fork, versions, and the look-up of functions by name.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/device.h"
#include "collectors/virtual_gpu/core/entry.h"
#include "collectors/virtual_gpu/core/init.h"
#include "collectors/virtual_gpu/core/thread.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

enum class State { before, initialised, child_of_initialised };
std::atomic<State> state{State::before};
std::atomic<int> expected_table_requests{0};

const EntryPoint* table = nullptr;
size_t table_size = 0;

void in_child() {
    if (state.load() == State::initialised) state = State::child_of_initialised;
}

// As the real driver: what cannot be loaded, or has no InitializeInjection, is passed over without a word.
void load_injection() {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr || *path == '\0' || std::strcmp(path, "none") == 0) return;
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    if (auto initialise = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) initialise();
}

}  // namespace

ExpectPrivateTableRequest::ExpectPrivateTableRequest() {
    ++expected_table_requests;
}
ExpectPrivateTableRequest::~ExpectPrivateTableRequest() {
    --expected_table_requests;
}

CUresult driver_state() {
    return state.load(std::memory_order_acquire) == State::initialised ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_NOT_INITIALIZED;
}

void set_entry_points(const EntryPoint* entries, size_t count) {
    table = entries;
    table_size = count;
}

namespace driver {

CUresult cuInit(unsigned flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (state.load(std::memory_order_acquire) == State::initialised) return CUDA_SUCCESS;
    if (state.load() == State::child_of_initialised) return CUDA_ERROR_NOT_INITIALIZED;
    static std::recursive_mutex mutex;  // the injection library may itself call cuInit
    static bool begun = false;
    std::lock_guard lock(mutex);
    if (begun) return devices().empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
    begun = true;
    if (devices().empty()) {
        begun = false;
        return CUDA_ERROR_NO_DEVICE;
    }
    pthread_atfork(nullptr, nullptr, in_child);
    load_injection();
    state.store(State::initialised, std::memory_order_release);
    if (const Hooks* listener = hooks(); listener != nullptr && listener->driver_initialised != nullptr)
        listener->driver_initialised();
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = CUDA_VERSION / 1000 * 1000;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
    constexpr cuuint64_t known =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (symbol == nullptr || function == nullptr || (flags & ~known) != 0 || flags == known)
        return CUDA_ERROR_INVALID_VALUE;
    *function = nullptr;
    const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    const EntryPoint *best = nullptr, *exact = nullptr;
    bool newer = false;
    for (size_t i = 0; i < table_size; i++) {
        const EntryPoint& entry = table[i];
        if (std::strcmp(entry.name, symbol) != 0) continue;
        if (entry.version == 0) {
            exact = &entry;
            continue;
        }
        if (entry.per_thread && !per_thread) continue;
        if (entry.version > version) {
            newer = true;
        } else if (best == nullptr || entry.version > best->version ||
                   (entry.version == best->version && entry.per_thread)) {
            best = &entry;
        }
    }
    if (best == nullptr && !newer) best = exact;  // a name with its suffix, which has no version of its own
    if (status != nullptr) {
        *status = best != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                  : newer         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                  : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    if (best == nullptr) return status != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    *function = best->function;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (CUresult error = driver::cuGetProcAddress_v2(symbol, function, version, flags, &status);
        error != CUDA_SUCCESS)
        return error;
    return status == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetExportTable(const void** out, const CUuuid* id) {
    if (out == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = nullptr;
    if (expected_table_requests > 0) return CUDA_ERROR_NOT_FOUND;
    report("error", "static-runtime",
           "the program asked the driver for a private table of functions, as the static CUDA runtime does: "
           "the virtual GPU has "
           "only the documented functions and cannot carry it",
           "link the program with the shared CUDA runtime (nvcc --cudart shared), or run it on a real GPU");
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    if (mode == nullptr || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    std::swap(*mode, thread_state().capture_mode);
    return CUDA_SUCCESS;
}

CUresult cuProfilerInitialize(const char*, const char*, int) {
    return CUDA_ERROR_NOT_SUPPORTED;
}
// They mark a range for a profiler; without one they do nothing, and answer success, on a real GPU too.
CUresult cuProfilerStart() {
    return CUDA_SUCCESS;
}
CUresult cuProfilerStop() {
    return CUDA_SUCCESS;
}

CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope) {
    report_unsupported("CUDA driver", "cuFlushGPUDirectRDMAWrites");
    return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace driver
}  // namespace attnscope::vgpu
