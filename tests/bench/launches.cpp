// The launch loop that every contender runs: a shared library, called by bench_launches and, through ctypes,
// by launches.py.
#include <time.h>

#include "tests/clients/programs/count_me.h"

namespace {

double seconds(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

struct LoopTime {
    double wall_s, cpu_s;  ///< of the launching thread
};

/// The context, the module and the stream are made.
extern "C" void bench_start() {
    attnscope::test::register_count_me();
    attnscope::test::launch_count_me({1, 1, 1}, {64, 1, 1}, 0, nullptr, nullptr);
    attnscope::test::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

extern "C" void bench_launches(long launches, LoopTime* time) {
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < launches; ++i)
        attnscope::test::launch_count_me({3, 2, 1}, {64, 1, 1}, 0, nullptr, nullptr);
    *time = {seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_THREAD_CPUTIME_ID) - cpu};
}
