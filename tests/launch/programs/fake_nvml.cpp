// NVML as far as the launcher uses it, with one GPU. ATTNSCOPE_FAKE_NVML: "hang" (the third reading never
// returns), "hang-init", "old" (no clock event reasons by the new name: it answers not-found), "nothing"
// (answers nothing but the clock of the SMs), "steady" (nothing ever changes).
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSuccess = 0, kNotSupported = 3;
int g_readings = 0;

bool mode(const char* name) {
    const char* value = std::getenv("ATTNSCOPE_FAKE_NVML");
    return value != nullptr && std::strcmp(value, name) == 0;
}

[[noreturn]] void hang() {
    for (;;) pause();
}

}  // namespace

#define NVML extern "C" __attribute__((visibility("default"))) int

NVML nvmlInit_v2() {
    if (mode("hang-init")) hang();
    return kSuccess;
}
NVML nvmlShutdown() {
    return kSuccess;
}
NVML nvmlDeviceGetCount_v2(unsigned* count) {
    *count = 1;
    return kSuccess;
}
NVML nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) {
    *device = &g_readings;
    return kSuccess;
}
NVML nvmlDeviceGetUUID(void*, char* text, unsigned size) {
    if (mode("nothing")) return kNotSupported;
    std::strncpy(text, "GPU-5e1f0000-0000-0000-0000-000000000001", size);
    return kSuccess;
}
NVML nvmlDeviceGetName(void*, char* text, unsigned size) {
    if (mode("nothing")) return kNotSupported;
    std::strncpy(text, "NVIDIA H100 80GB HBM3", size);
    return kSuccess;
}
NVML nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz) {
    if (which != 1) {  // NVML_CLOCK_SM
        *mhz = 2619;
        return mode("nothing") ? kNotSupported : kSuccess;
    }
    ++g_readings;
    if (mode("hang") && g_readings > 2) hang();
    *mhz = mode("steady") ? 1980 : 1980 - static_cast<unsigned>(g_readings);
    return kSuccess;
}
NVML nvmlDeviceGetMaxClockInfo(void*, int which, unsigned* mhz) {
    *mhz = which == 1 ? 1980 : 2619;
    return mode("nothing") ? kNotSupported : kSuccess;
}
NVML nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
    *reasons = 4;  // nvmlClocksThrottleReasonSwPowerCap
    return mode("nothing") ? kNotSupported : kSuccess;
}
NVML nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
    *celsius = 61;
    return mode("nothing") ? kNotSupported : kSuccess;
}
NVML nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
    *milliwatts = 698123;
    return mode("nothing") ? kNotSupported : kSuccess;
}
