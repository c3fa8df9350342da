// The smallest program around the launch loop: bench_launches N. Prints one JSON object.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

struct LoopTime {
    double wall_s, cpu_s;
};
extern "C" void bench_start();
extern "C" void bench_launches(long launches, LoopTime* time);

/// Of this program alone: getrusage also counts what ran in the process before exec.
static double peak_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.compare(0, 6, "VmHWM:") == 0) return std::atof(line.c_str() + 6) / 1024;
    return 0;
}

int main(int argc, char** argv) {
    LoopTime time{};
    bench_start();
    bench_launches(argc > 1 ? std::atol(argv[1]) : 1'000'000, &time);
    std::printf("{\"loop_s\": %.9f, \"thread_cpu_s\": %.9f, \"peak_mb\": %.1f}\n", time.wall_s, time.cpu_s,
                peak_mb());
}
