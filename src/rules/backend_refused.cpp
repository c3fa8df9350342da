#include "all.h"
#include "constraint.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// LibTorch's further reasons, asked for with the earlier ones taken away; nullptr: it was not asked.
const AttentionChoice::Backend* answer(const Analysis& a, const std::string& backend) {
    for (const AttentionCall& call : a.calls)
        if (const auto* found = find_backend(call.choice, backend); found && found->refused.size() > 1)
            return found;
    return nullptr;
}

/// LibTorch gives some reasons once in a process: then the program's first question had it.
std::string given_reason(const Analysis& a, const Implementation& i) {
    const std::string* first = a.choice.why_not(i.backend);
    return first && i.reason.find("gives no reason") != std::string::npos ? *first : i.reason;
}

void explain(const Analysis& a, const Implementation& i, Finding& f) {
    const AttentionChoice::Backend* asked_again = a.has_convention ? answer(a, i.backend) : nullptr;
    if (asked_again) f.claim += " Without that it would then be refused: \"" + asked_again->refused[1] + "\"";
    for (const Asked& one : asked(a))
        if (one.implementation == &i)
            for (Evidence& e : numbers_behind(given_reason(a, i), one, a)) f.evidence.push_back(std::move(e));
    f.counter_evidence = {
        asked_again ? "LibTorch stops at the first reason; the second is its answer to the call without "
                      "what the first names."
                    : "LibTorch stops at the first reason: a second may stand behind it."};
}

}  // namespace

std::vector<Finding> backend_refused(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation& i : a.implementations) {
        if (i.status != ImplementationStatus::refused && i.status != ImplementationStatus::failed) continue;
        const bool refused = i.status == ImplementationStatus::refused;
        Finding f;
        f.subject = i.title;
        f.severity = refused ? Severity::info : Severity::warning;
        const double others = double(ran(a).size());
        const std::string reason = refused ? given_reason(a, i) : i.reason;
        f.claim = (refused ? "LibTorch refuses " : "Failed: ") + i.title +
                  (reason.empty() ? ", without a reason" : ": \"" + reason + "\"") +
                  (reason.empty() || reason.back() != '.' ? "." : "") + " " +
                  words::plural(others, "other implementation") + " ran.";
        f.evidence = {evidence("implementations that ran", exact(others, Unit::count, a))};
        if (refused)
            explain(a, i, f);
        else
            f.counter_evidence = {others > 0
                                      ? "The others ran: the failure is of this implementation with this "
                                        "shape, not of the set-up."
                                      : "Nothing else ran beside it: the set-up may be at fault as well."};
        f.next_step = attention_command(a, i.name, "-o refused");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
