#include "misbehave.h"

extern "C" {
int cuDriverGetVersion(int* version) {
    *version = number("FAKE_CUDA_VERSION", 13000);
    return 0;
}
int cuInit(unsigned) {
    misbehave("FAKE_CUDA");
    return number("FAKE_CUDA_ERROR", 0);
}
int cuDeviceGetCount(int* count) {
    *count = 2;
    return 0;
}
int cuDeviceGetName(char* name, int size, int device) {
    std::snprintf(name, static_cast<size_t>(size), "NVIDIA H100 80GB HBM3%s",
                  device == 0 ? "" : "\nusable 0");
    return 0;
}
}
