// libcuda.so.1 as far as the launcher asks it: one device. ATTNSCOPE_FAKE_DEVICE names it.
#include <cstdio>
#include <cstdlib>

#define DRIVER extern "C" __attribute__((visibility("default"))) int

DRIVER cuInit(unsigned) {
    return 0;
}
DRIVER cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
DRIVER cuDeviceGetName(char* name, int size, int) {
    const char* asked = std::getenv("ATTNSCOPE_FAKE_DEVICE");
    std::snprintf(name, static_cast<size_t>(size), "%s", asked != nullptr ? asked : "NVIDIA H100 80GB HBM3");
    return 0;
}
DRIVER cuDeviceGetAttribute(int* value, int which, int) {
    *value = which == 75 ? 9 : 0;  // compute capability 9.0
    return 0;
}
