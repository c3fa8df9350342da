// Where the time of a report goes: bench_report RUN. Prints one JSON object: processor seconds of each step,
// bytes of each format, and the process's peak memory.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>

#include "attnscope/analysis.h"
#include "attnscope/render.h"
#include "attnscope/run.h"

namespace {

/// Processor time: what the machine does beside does not count.
double seconds(const std::function<void()>& step) {
    const std::clock_t start = std::clock();
    step();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Of this program alone: getrusage also counts what ran in the process before exec.
double peak_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.compare(0, 6, "VmHWM:") == 0) return std::atof(line.c_str() + 6) / 1024;
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace attnscope;
    if (argc != 2) return 2;
    Run run;
    Analysis analysis;
    Report report;
    std::string html, markdown, json;
    std::printf("{\"read_s\": %.6f", seconds([&] { run = read_run(argv[1]); }));
    const double after_reading = peak_mb();
    std::printf(", \"analyse_s\": %.6f", seconds([&] { analysis = analyze(run); }));
    std::printf(", \"build_s\": %.6f", seconds([&] { report = build_report(analysis); }));
    std::printf(", \"html_s\": %.6f", seconds([&] { html = render_html(report); }));
    std::printf(", \"markdown_s\": %.6f", seconds([&] { markdown = render_markdown(report); }));
    std::printf(", \"json_s\": %.6f", seconds([&] { json = render_json(report); }));
    size_t launches = 0;
    for (const Process& process : run.processes) launches += process.launches.size();
    std::printf(", \"launches\": %zu, \"bytes\": [%zu, %zu, %zu], \"read_mb\": %.1f, \"peak_mb\": %.1f}\n",
                launches, html.size(), markdown.size(), json.size(), after_reading, peak_mb());
}
