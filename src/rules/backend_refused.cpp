#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> backend_refused(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation& i : a.implementations) {
        if (i.status != ImplementationStatus::refused && i.status != ImplementationStatus::failed) continue;
        const bool refused = i.status == ImplementationStatus::refused;
        Finding f;
        f.subject = i.title;
        f.severity = refused ? Severity::info : Severity::warning;
        const double others = double(ran(a).size());
        f.claim = (refused ? "LibTorch refuses " : "Failed: ") + i.title +
                  (i.reason.empty() ? ", without a reason" : ": \"" + i.reason + "\"") +
                  (i.reason.empty() || i.reason.back() != '.' ? "." : "") + " " +
                  words::plural(others, "other implementation") + " ran.";
        f.evidence = {evidence("implementations that ran", exact(others, Unit::count, a))};
        if (refused)
            f.counter_evidence = {"LibTorch stops at the first reason: a second may stand behind it."};
        else
            f.counter_evidence = {
                "The others ran: the failure is of this implementation with this shape, not of the set-up."};
        f.next_step = attention_command(a, i.name, "-o refused");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
