#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// What the importer found instead; nullptr: it says nothing.
const Notice* reason(const Analysis& a) {
    for (const char* code :
         {"import-device-side-lost", "import-counted-ranges", "import-cpu-only", "import-no-kernels"})
        for (const Notice& notice : a.notices)
            if (notice.code == code) return &notice;
    return nullptr;
}

}  // namespace

std::vector<Finding> no_gpu_work(const Analysis& a) {
    if (a.ground != Ground::imported || a.total_kernels.number != 0.0) return {};
    const Notice* why = reason(a);
    if (!why) return {};
    Finding f;
    f.subject = "the imported file";
    f.severity = Severity::problem;
    f.claim = why->message + ".";
    f.evidence = {evidence("kernels", a.total_kernels), evidence("copies", a.total_copies),
                  evidence("memsets", a.total_memsets)};
    if (why->code == "import-cpu-only")
        f.counter_evidence = {
            "The program may well have used a GPU: a profiler that was not asked for it, or could not, "
            "writes "
            "the same file."};
    if (why->code == "import-device-side-lost")
        f.counter_evidence = {"The kernels did run, if the calls succeeded: only their records are missing."};
    if (why->code == "import-counted-ranges")
        f.counter_evidence = {
            "The counter values themselves are the hardware's; they stay in the run, by range."};
    f.next_step = why->remedy;
    return {f};
}

}  // namespace attnscope::rule
