// What CUDA_INJECTION64_PATH names in core_init_test.
#include <cstdio>

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    std::printf("InitializeInjection\n");
    std::fflush(stdout);
    return 1;
}
