#include "kineto_findings.h"

namespace attnscope::importer {
namespace {

/// Why there is no GPU work: nothing was launched, or its records are missing.
Diagnostic nothing_on_the_gpu(const KinetoFindings& f, const std::string& name) {
    if (f.launch_calls > 0)
        return {DiagnosticLevel::error, "import-device-side-lost",
                name + ": " + std::to_string(f.launch_calls) +
                    " launches but no kernels: CUPTI lost the device side",
                "check that no other profiler holds CUPTI, and record the trace again: attnscope doctor",
                f.launch_calls};
    return {DiagnosticLevel::error, "import-cpu-only",
            name + ": CPU-only trace: no GPU kernel was recorded (" + std::to_string(f.host_events) +
                " operations and calls of the host)",
            "profile with ProfilerActivity.CUDA on a machine with a GPU: attnscope doctor", 1};
}

}  // namespace

std::vector<Diagnostic> KinetoFindings::diagnostics(const std::string& name) const {
    std::vector<Diagnostic> out;
    const auto warn = [&](const Count& c, DiagnosticLevel level, const char* code, const char* what) {
        c.report(out, level, code, name + ": " + what, "record the trace again with a newer PyTorch");
    };
    warn(negative, DiagnosticLevel::data_loss, "import-negative-duration",
         "events end before they begin: they have no time here");
    warn(no_number, DiagnosticLevel::data_loss, "import-no-number",
         "times are no numbers (NaN, inf, text): those events have no time here");
    warn(nameless, DiagnosticLevel::warning, "import-nameless", "kernels have no name");
    warn(backslashes, DiagnosticLevel::info, "import-backslashes",
         "names hold backslashes that JSON does not know: taken as they stand");
    warn(broken_utf8, DiagnosticLevel::warning, "import-broken-utf8",
         "names hold bytes that are not UTF-8: each is U+FFFD here");
    if (counted_ranges > 0)
        out.push_back({DiagnosticLevel::warning, "import-counted-ranges",
                       name + ": CUPTI counters of " + std::to_string(counted_ranges) + " ranges" +
                           (launches == 0 ? ", and no kernel records" : "") +
                           ": the ranges' durations in the trace mean nothing and are left out",
                       "profile once more without counters for times", 1});
    if (launches == 0 && counted_ranges == 0) out.push_back(nothing_on_the_gpu(*this, name));
    return out;
}

}  // namespace attnscope::importer
