// Another backend, other kernels.
#include <map>

#include "analysis/words.h"
#include "findings.h"
#include "rules/support.h"

namespace attnscope::comparing {
namespace {

/// LibTorch's own words about why B does not use what A used; empty: it said nothing.
std::string why_not(const Comparison& c, const std::string& backend) {
    const std::string* reason = c.b->choice.why_not(backend);
    return reason ? "LibTorch refuses " + backend + " in " + c.name_b + ": " + *reason : std::string();
}

Finding other_backend(const Comparison& c, const ImplementationPair& p) {
    Finding f;
    f.subject = p.b->title;
    f.severity = Severity::warning;
    f.claim =
        p.title() + " is computed by " + p.b->backend + " in " + c.name_b + ", by " + p.a->backend + " in A.";
    if (const std::string reason = why_not(c, p.a->backend); !reason.empty()) f.claim += " " + reason;
    for (const char* id : {"launches", "score_bytes", "time", "bound"}) add_both(f, c, p.figure(id));
    f.counter_evidence = other_causes(c);
    f.counter_evidence.push_back("Another backend is no slower one: only times tell.");
    f.next_step = "attnscope report " + words::shell_word(c.b->folder);
    return f;
}

Finding did_not_run(const Comparison& c, const ImplementationPair& p) {
    const bool in_b = p.a->steps.empty();
    const Implementation &ran = in_b ? *p.b : *p.a, &other = in_b ? *p.a : *p.b;
    Finding f;
    f.subject = p.b->title;
    f.severity = Severity::warning;
    f.claim = p.title() + " ran in " + (in_b ? c.name_b : "A") + " and not in " + (in_b ? "A" : c.name_b) +
              (other.reason.empty() ? std::string(".") : ": " + other.reason);
    f.evidence = {rule::evidence("launches where it ran", ran.launches)};
    f.counter_evidence = other_causes(c);
    f.next_step = run_again(c, c.a->has_convention ? ran.name : std::string());
    return f;
}

/// "3 x cast or copy, 1 x softmax"
std::string by_use(const ImplementationPair& p, StepChange change) {
    std::map<std::string, double> uses;
    std::vector<std::string> order;
    for (const StepPair& pair : p.steps) {
        if (pair.change != change) continue;
        const Step& s = *(pair.b >= 0 ? p.step_of_b(pair) : p.step_of_a(pair));
        const std::string use = s.role == Role::other ? s.name : to_string(s.role);
        if (uses[use] == 0) order.push_back(use);
        uses[use] += double(s.times);
    }
    std::vector<std::string> parts;
    for (size_t i = 0; i < order.size() && i < 6; ++i)
        parts.push_back(words::number(uses[order[i]]) + " x " + order[i]);
    if (order.size() > 6) parts.push_back(words::plural(double(order.size() - 6), "further kind"));
    return words::join(parts);
}

std::string first_difference(const ImplementationPair& p, StepChange change) {
    for (const StepPair& pair : p.steps)
        if (pair.change == change && pair.a >= 0 && pair.b >= 0) {
            const Step &x = *p.step_of_a(pair), &y = *p.step_of_b(pair);
            return change == StepChange::replaced ? x.name + " -> " + y.name
                                                  : x.name + ": " + in_words(pair.differences);
        }
    return {};
}

Finding other_kernels(const Comparison& c, const ImplementationPair& p) {
    const double added = p.count(StepChange::added), gone = p.count(StepChange::gone);
    const double replaced = p.count(StepChange::replaced), changed = p.count(StepChange::changed);
    Finding f;
    f.subject = p.b->title;
    // Other inputs explain other kernels.
    const bool unexplained = c.inputs.empty() && added + gone + replaced > 0;
    f.severity = unexplained ? Severity::warning : Severity::info;
    std::vector<std::string> parts;
    const auto part = [&](double n, const char* what, const std::string& which) {
        if (n > 0) parts.push_back(words::number(n) + " " + what + (which.empty() ? "" : " (" + which + ")"));
    };
    part(added, "added", by_use(p, StepChange::added));
    part(gone, "gone", by_use(p, StepChange::gone));
    part(replaced, "by another kernel", "first " + first_difference(p, StepChange::replaced));
    part(changed, "with another grid, other resources or sizes",
         "first " + first_difference(p, StepChange::changed));
    const FigurePair& launches = p.figure("launches");
    f.claim = p.title() + " launches " + words::say(launches.b) + " in " + c.name_b + ", " +
              words::say(launches.a) + " in A: " + words::join(parts) + ".";
    const FigurePair &scores = p.figure("score_bytes"), &tensor = p.figure("tensor_pipe");
    if (scores.ratio() && scores.relation != Relation::equal)
        f.claim +=
            " By the model " + words::number(*scores.ratio()) + " times the bytes of the score matrix.";
    add_both(f, c, launches);
    if (scores.relation != Relation::equal) add_both(f, c, scores);
    if (tensor.a || tensor.b) add_both(f, c, tensor);
    f.counter_evidence = other_causes(c);
    f.counter_evidence.push_back("More or fewer launches are not more or less time: only times tell.");
    f.next_step = "attnscope report " + words::shell_word(c.b->folder) + " --details";
    return f;
}

}  // namespace

std::vector<Finding> backend_changed(const Comparison& c) {
    std::vector<Finding> out;
    for (const ImplementationPair& p : c.pairs) {
        if (p.a->steps.empty() != p.b->steps.empty())
            out.push_back(did_not_run(c, p));
        else if (!p.a->steps.empty() && p.a->name == p.b->name && !p.a->backend.empty() &&
                 !p.b->backend.empty() && p.a->backend != p.b->backend)
            out.push_back(other_backend(c, p));
    }
    return out;
}

std::vector<Finding> kernels_changed(const Comparison& c) {
    std::vector<Finding> out;
    for (const ImplementationPair& p : c.pairs) {
        if (p.a->steps.empty() || p.b->steps.empty()) continue;
        for (const StepChange change :
             {StepChange::added, StepChange::gone, StepChange::replaced, StepChange::changed})
            if (p.count(change) > 0) {
                out.push_back(other_kernels(c, p));
                break;
            }
    }
    return out;
}

}  // namespace attnscope::comparing
