// How long the reader takes: bench_read RUN. Prints one JSON object.
#include <chrono>
#include <cstdio>

#include "attnscope/run.h"

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const auto start = std::chrono::steady_clock::now();
    const attnscope::Run run = attnscope::read_run(argv[1]);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    size_t launches = 0;
    for (const attnscope::Process& process : run.processes) launches += process.launches.size();
    std::printf("{\"read_s\": %.6f, \"launches\": %zu}\n", seconds.count(), launches);
}
