#include "clock_file.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include "record_file.h"

namespace attnscope::run_reader {

void read_clocks(const std::filesystem::path& path, Run& run) {
    constexpr const char* remedy = "record the run again where the clocks matter";
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) {
        run.diagnostics.push_back({DiagnosticLevel::warning, "read-error",
                                   "clocks.jsonl cannot be read: " + std::string(std::strerror(errno)),
                                   "check its permissions", 1});
        return;
    }
    std::vector<Diagnostic> found;
    read_records(file.get(), "clocks.jsonl", found, remedy, [&](Record& r, uint64_t) {
        if (r.type() == "diagnostic") return found.push_back(diagnostic_of(r));
        if (r.type() != "clock") return;
        ClockSample sample;
        sample.time_unix_ns = r.u64("time_unix_ns").value_or(0);
        sample.uuid = r.text("uuid").value_or("");
        sample.sm = r.u32("sm_mhz");
        sample.memory = r.u32("memory_mhz");
        sample.sm_max = r.u32("sm_max_mhz");
        sample.memory_max = r.u32("memory_max_mhz");
        sample.throttle_reasons = r.u64("throttle_reasons");
        run.clocks.push_back(std::move(sample));
    });
    for (Diagnostic& d : found) {
        // The sampler is stopped with the launcher: its tail decides nothing.
        if (d.level == DiagnosticLevel::data_loss) d.level = DiagnosticLevel::warning;
        run.diagnostics.push_back(std::move(d));
    }
}

}  // namespace attnscope::run_reader
