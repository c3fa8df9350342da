#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> data_loss(const Analysis& a) {
    double kinds = 0, amount = 0;
    std::string first;
    for (const Notice& notice : a.notices) {
        if (notice.level != NoticeLevel::data_loss) continue;
        ++kinds;
        amount += double(notice.count);
        if (first.empty()) first = notice.message;
    }
    if (kinds == 0) return {};
    Finding f;
    f.subject = "the run";
    f.severity = Severity::problem;
    f.claim = "Records were lost (" + words::plural(kinds, "notice") +
              "): counts may be too low, and what is missing is not a result. First: " + first + ".";
    f.evidence = {evidence("notices of data loss", exact(kinds, Unit::count, a)),
                  evidence("losses that they count", exact(amount, Unit::count, a)),
                  evidence("kernels that are here", a.total_kernels)};
    f.counter_evidence = {
        "What is in the file was recorded as it happened: registers, geometry and occupancy of each kernel "
        "shown stay valid."};
    f.next_step =
        a.has_convention ? attention_command(a, "", "-o complete") : collect_command(a, "", "complete");
    return {f};
}

}  // namespace attnscope::rule
