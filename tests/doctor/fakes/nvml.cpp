#include "misbehave.h"

extern "C" {
int nvmlInit_v2() {
    misbehave("FAKE_NVML");
    return number("FAKE_NVML_ERROR", 0);
}
const char* nvmlErrorString(int) {
    return "Driver/library version mismatch";
}
int nvmlSystemGetDriverVersion(char* version, unsigned size) {
    std::snprintf(version, size, "580.65.06");
    return 0;
}
struct State {
    unsigned environment, feature, devtools;
};
int nvmlSystemGetConfComputeState(State* state) {
    *state = {2, 1, 0};
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = 2;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    *device = reinterpret_cast<void*>(static_cast<size_t>(index) + 1);
    return 0;
}
static bool second(void* device) {
    return device == reinterpret_cast<void*>(2);
}
int nvmlDeviceGetName(void* device, char* name, unsigned size) {
    if (second(device) && behaves("FAKE_NVML", "crash-later")) raise(SIGSEGV);
    std::snprintf(name, size, "%s", second(device) ? "NVIDIA\nmig 1" : "NVIDIA H100 80GB HBM3");
    return 0;
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
    *major = 9, *minor = 0;
    return 0;
}
int nvmlDeviceGetPersistenceMode(void* device, int* mode) {
    *mode = second(device) ? 0 : 1;
    return 0;
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
    if (second(device)) return 3;  // NVML_ERROR_NOT_SUPPORTED
    *current = 1, *pending = 0;
    return 0;
}
int nvmlDeviceGetEccMode(void*, int* current, int* pending) {
    *current = 0, *pending = 1;
    return 0;
}
int nvmlDeviceGetVirtualizationMode(void*, int* mode) {
    *mode = 1;
    return 0;
}
int nvmlDeviceGetComputeMode(void*, int* mode) {
    *mode = 3;
    return 0;
}
int nvmlDeviceGetClockInfo(void*, int clock, unsigned* mhz) {
    *mhz = clock == 1 ? 1410 : 0;
    return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int clock, unsigned* mhz) {
    *mhz = clock == 1 ? 1980 : 0;
    return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
    *reasons = 0x8000000000000004ULL;
    return 0;
}
}
