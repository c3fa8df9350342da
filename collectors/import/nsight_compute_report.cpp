// Nsight Compute's own reports (.ncu-rep). Their format is not documented: NVIDIA's reader (PyPI: ncu-report)
// prints them as a raw page, in a Python of its own, which a damaged file may take down.
#include "nsight_compute_report.h"

#include <cstdlib>

#include "attnscope/error.h"
#include "child.h"
#include "csv.h"
#include "nsight_compute.h"

namespace attnscope::importer {

extern const char* const kNsightComputeReportScript;  // nsight_compute_report.py

namespace {

constexpr int kNoPackage = 3;  // the script's exit codes
constexpr const char* kByHand = "`ncu --import FILE --csv --page raw > FILE.csv`, and import that";

std::string python() {
    const char* named = std::getenv("ATTNSCOPE_PYTHON");
    return named && *named ? named : "python3";
}

std::string begin(const Input& input) {
    return input.name + ": an Nsight Compute report (.ncu-rep)";
}

Child reader_of(const Input& input) {
    try {
        return Child(
            {python(), "-c", kNsightComputeReportScript, std::filesystem::absolute(input.path).string()});
    } catch (const Error& e) {
        throw Error(begin(input) + " needs Python and NVIDIA's reader, and " + e.what() +
                    " (ATTNSCOPE_PYTHON names another Python); or export it: " + kByHand);
    }
}

[[noreturn]] void refuse(const Input& input, Child& child, std::string_view said) {
    const int code = child.exit_code();
    if (code == kNoPackage)
        throw Error(
            begin(input) + ", which NVIDIA's reader reads, and " + python() + " does not have it: `" +
            python() +
            " -m pip install ncu-report` (ATTNSCOPE_PYTHON names another Python), or export it: " + kByHand);
    throw Error(begin(input) + " that NVIDIA's reader cannot read (" +
                (code > 128     ? "it was ended by signal " + std::to_string(code - 128)
                 : said.empty() ? "exit code " + std::to_string(code)
                                : std::string(said)) +
                "): copy it again, update the reader (`" + python() +
                " -m pip install --upgrade ncu-report`), or export it: " + kByHand);
}

}  // namespace

bool is_nsight_compute_report(std::string_view head) {
    return head.starts_with(std::string_view("NVR\0\x02\0\0\0", 8));
}

void read_nsight_compute_report(Input& input, Imported& out) {
    if (input.path.empty())
        throw Error(input.name +
                    ": an Nsight Compute report inside of something compressed: unpack it, and "
                    "import the file itself");
    Child child = reader_of(input);
    ByteWindow page(child);
    while (page.size() < kHead && page.more()) {
    }
    if (!is_nsight_compute(page.view().substr(0, kHead)))
        refuse(input, child, page.view().substr(0, page.view().find('\n')));
    Input table{input.name, {}, page};
    read_nsight_compute(table, out);
    if (const int code = child.exit_code(); code != 0)
        out.diagnostics.push_back(
            {DiagnosticLevel::data_loss, "import-cut-short",
             input.name + ": NVIDIA's reader ended early (" +
                 (code > 128 ? "signal " + std::to_string(code - 128) : "exit code " + std::to_string(code)) +
                 "): kernels may be missing",
             "copy the file again", 1});
}

}  // namespace attnscope::importer
