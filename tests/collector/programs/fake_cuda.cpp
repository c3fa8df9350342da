// A libcuda.so.1 of three functions: it loads the injection library in cuInit as the driver does.
#include <dlfcn.h>

#include <cstdlib>

extern "C" {

void fake_driver_call(void);

int cuInit(unsigned) {
    static bool done = false;
    if (done) return 0;
    done = true;
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    void* library = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
    const auto initialise =
        library != nullptr ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
    if (initialise != nullptr) initialise();
    return 0;
}

int cuDriverGetVersion(int* version) {
    *version = 13000;
    fake_driver_call();  // CUPTI would record it
    return 0;
}

int cuDeviceGetCount(int* count) {
    *count = 0;
    return 0;
}
}
