// What is not emulated says so: once to the user, and by an error to the program. Never a silent success,
// never a crash. No CUDA header here: these are defined without their parameters.
#include "../core/api.h"

namespace attnscope::vgpu::cudart {

// errors.cpp
int remember_unsupported();

}  // namespace attnscope::vgpu::cudart

#define UNSUPPORTED(name)                                                                      \
    extern "C" __attribute__((visibility("default"))) int unsupported_##name() __asm__(#name); \
    extern "C" int unsupported_##name() {                                                      \
        attnscope::vgpu::report_unsupported("libcudart", #name);                               \
        return attnscope::vgpu::cudart::remember_unsupported();                                \
    }
#include "unsupported.inc"
