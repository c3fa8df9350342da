// The program that core_init_test runs: one case a process.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "collectors/virtual_gpu/observer.h"

namespace {

const char* text(CUresult result) {
    const char* name = "?";
    cuGetErrorName(result, &name);
    return name;
}
void say(const char* what, CUresult result) {
    std::printf("%s %s\n", what, text(result));
    std::fflush(stdout);
}

AttnscopeVgpuObserver observer() {
    AttnscopeVgpuObserver o{};
    o.size = sizeof o;
    return o;
}

CUcontext start() {
    CUcontext context = nullptr;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    return context;
}

int before() {
    CUdevice device = 0;
    CUdeviceptr memory = 0;
    CUcontext context = nullptr;
    CUarray array = nullptr;
    int version = 0;
    say("cuDeviceGet", cuDeviceGet(&device, 0));
    say("cuMemAlloc", cuMemAlloc(&memory, 16));
    say("cuCtxGetCurrent", cuCtxGetCurrent(&context));
    CUresult result = cuDriverGetVersion(&version);
    std::printf("cuDriverGetVersion %s %d\n", text(result), version);
    say("cuArrayCreate", cuArrayCreate(&array, nullptr));
    say("cuInit", cuInit(0));
    return 0;
}

int fork_after(bool initialised) {
    if (initialised) start();
    const pid_t child = fork();
    if (child == 0) {
        CUdeviceptr memory = 0;
        if (initialised) say("child cuMemAlloc", cuMemAlloc(&memory, 16));
        say("child cuInit", cuInit(0));
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CUdeviceptr memory = 0;
    if (initialised) say("parent cuMemAlloc", cuMemAlloc(&memory, 16));
    if (!initialised) say("parent cuInit", cuInit(0));
    return status;
}

int devices(bool uuid) {
    cuInit(0);
    int count = 0;
    cuDeviceGetCount(&count);
    for (int i = 0; i < count; i++) {
        char bus[32];
        CUuuid id;
        cuDeviceGetPCIBusId(bus, sizeof bus, i);
        cuDeviceGetUuid(&id, i);
        if (uuid) {
            std::printf("GPU-");
            for (int b = 0; b < 16; b++)
                std::printf(b == 4 || b == 6 || b == 8 || b == 10 ? "-%02x" : "%02x",
                            static_cast<unsigned char>(id.bytes[b]));
            std::printf("\n");
        } else {
            std::printf("%s\n", bus);
        }
    }
    return 0;
}

void by_name(const char* label, const char* name, int version, cuuint64_t flags) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    CUresult result = cuGetProcAddress(name, &function, version, flags, &status);
    if (result != CUDA_SUCCESS || function == nullptr) {
        say(label, CUDA_ERROR_NOT_FOUND);
        return;
    }
    Dl_info info{};
    dladdr(function, &info);
    std::printf("%s is %s\n", label, info.dli_sname);
}

int names() {
    by_name("cuMemAlloc", "cuMemAlloc", 13000, CU_GET_PROC_ADDRESS_DEFAULT);
    by_name("cuStreamGetCaptureInfo at 11030", "cuStreamGetCaptureInfo", 11030,
            CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    by_name("cuMemcpyAsync per thread", "cuMemcpyAsync", 13000,
            CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    by_name("cuCtxGetDevice at 12000", "cuCtxGetDevice", 12000, CU_GET_PROC_ADDRESS_DEFAULT);
    by_name("cuNoSuchFunction", "cuNoSuchFunction", 13000, CU_GET_PROC_ADDRESS_DEFAULT);
    by_name("cuCtxCreate at 1000", "cuCtxCreate", 1000, CU_GET_PROC_ADDRESS_DEFAULT);
    return 0;
}

int table() {
    start();
    AttnscopeVgpuObserver o = observer();
    o.diagnostic = [](void*, const AttnscopeVgpuDiagnostic* d) { std::printf("%s\n", d->code); };
    const CUuuid id{};
    const void* out = nullptr;
    say("cuGetExportTable", cuGetExportTable(&out, &id));
    attnscopeVgpuSetObserver(&o);  // late: what was said before is told again
    return 0;
}

int unsupported() {
    start();
    AttnscopeVgpuObserver o = observer();
    o.diagnostic = [](void*, const AttnscopeVgpuDiagnostic* d) {
        std::printf(
            "%s: %s\n", d->code,
            std::strstr(d->message, "cuTexObjectCreate") != nullptr ? "cuTexObjectCreate" : d->message);
    };
    attnscopeVgpuSetObserver(&o);
    CUtexObject texture = 0;
    CUresult first = cuTexObjectCreate(&texture, nullptr, nullptr, nullptr);
    say("cuTexObjectCreate", first);
    cuTexObjectCreate(&texture, nullptr, nullptr, nullptr);  // said once
    return 0;
}

std::string returned, location;

}  // namespace

// Not static: the name that a reader of the report would look for.
extern "C" __attribute__((visibility("default"), noinline)) int reader_of_memory(CUdeviceptr memory) {
    int value = -1;
    cuMemcpyDtoH(&value, memory, sizeof value);
    return value + 0;
}

namespace {
int read_back() {
    start();
    AttnscopeVgpuObserver o = observer();
    o.uncomputed_read = [](void*, const AttnscopeUncomputedRead* r) {
        returned = r->returned;
        location = r->location != nullptr ? r->location : "nowhere";
    };
    attnscopeVgpuSetObserver(&o);
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, 16);
    return reader_of_memory(memory);
}

int attributes() {
    start();
    for (int attribute : {1, 10, 16, 39, 81, 82, 97, 106, 111, 75, 76, 120}) {
        int value = -1;
        cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0);
        std::printf("%d %d\n", attribute, value);
    }
    return 0;
}
}  // namespace

int main(int count, char** arguments) {
    const std::string what = count > 1 ? arguments[1] : "";
    if (what == "init") return say("cuInit", cuInit(0)), 0;
    if (what == "before") return before();
    if (what == "fork") return fork_after(true);
    if (what == "fork-before") return fork_after(false);
    if (what == "bus") return devices(false);
    if (what == "uuid") return devices(true);
    if (what == "names") return names();
    if (what == "table") return table();
    if (what == "unsupported") return unsupported();
    if (what == "attributes") return attributes();
    if (what == "read") {
        const int value = read_back();
        return std::printf("%d %s\n", value, returned.c_str()), 0;
    }
    if (what == "location") {
        read_back();
        return std::printf("%s\n", location.c_str()), 0;
    }
    return 2;
}
