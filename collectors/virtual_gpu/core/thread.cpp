#include "collectors/virtual_gpu/core/thread.h"

#include "collectors/virtual_gpu/core/entry.h"

namespace attnscope::vgpu {

namespace {
// A pointer costs no guard on access and outlives the thread's destructors, in which programs still call
// CUDA.
thread_local ThreadState* state = nullptr;

struct Reaper {
    ~Reaper() {
        delete state;
        state = nullptr;
    }
};

__attribute__((noinline)) ThreadState& create_state() {
    static thread_local Reaper reaper;
    (void)reaper;
    state = new ThreadState();
    return *state;
}
}  // namespace

ThreadState& thread_state() {
    return state != nullptr ? *state : create_state();
}

PerThreadDefaultStream::PerThreadDefaultStream() : outer_(thread_state().per_thread_default_stream) {
    thread_state().per_thread_default_stream = true;
}
PerThreadDefaultStream::~PerThreadDefaultStream() {
    thread_state().per_thread_default_stream = outer_;
}

}  // namespace attnscope::vgpu
