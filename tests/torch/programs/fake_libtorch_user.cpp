// A CUDA program that has libraries of LibTorch's names in it: fake_libtorch_user FOLDER, or none without
// one.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "tests/clients/programs/count_me.h"

int main(int argc, char** argv) {
    if (argc > 1)
        for (const char* name : {"libc10.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch_cuda.so"}) {
            const std::string path = std::string(argv[1]) + '/' + name;
            if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
                std::fprintf(stderr, "%s\n", dlerror());
                return 1;
            }
        }
    attnscope::test::register_count_me();
    attnscope::test::launch_count_me({1, 1, 1}, {64, 1, 1}, 0, nullptr, nullptr);
    attnscope::test::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::puts("done");
}
