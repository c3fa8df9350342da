#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> launch_failed(const Analysis& a) {
    double failed = 0;
    std::string first;
    for (const Notice& notice : a.notices) {
        if (notice.code != "launch-failed") continue;
        failed += double(notice.count);
        if (first.empty()) first = notice.message;
    }
    if (failed == 0) return {};
    bool told = false;
    for (const Implementation& i : a.implementations)
        told = told || (i.status == ImplementationStatus::failed && !i.reason.empty());
    Finding f;
    f.subject = "the program";
    f.severity = Severity::problem;
    f.claim =
        words::plural(failed, "launch") +
        " failed, and nothing ran in their place: whatever reads their output reads what was there before. "
        "Recorded: " +
        first + ".";
    f.evidence = {
        evidence("launches that failed", Value::of(failed, Unit::count, {Source::trace, a.ground}), "0"),
        evidence("kernels that ran", a.total_kernels)};
    f.counter_evidence = {told
                              ? "The program noticed: an implementation ended with an error."
                              : "A program that checks what each launch answers may have taken another way."};
    f.next_step = a.has_convention ? attention_command(a, "", "-o again") : collect_command(a, "", "again");
    return {f};
}

}  // namespace attnscope::rule
