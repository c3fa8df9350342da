// Other inputs, another GPU, other libraries: they explain what follows.
#include "analysis/words.h"
#include "findings.h"
#include "rules/support.h"

namespace attnscope::comparing {
namespace {

Finding finding(const Comparison& c, const std::vector<Difference>& differences, Severity severity,
                std::string claim) {
    Finding f;
    f.severity = severity;
    f.claim = std::move(claim);
    const Provenance from{Source::reported, weaker(c.a->ground, c.b->ground)};
    f.evidence = {rule::evidence("what differs", Value::of(double(differences.size()), Unit::count, from),
                                 in_words(differences))};
    return f;
}

}  // namespace

std::vector<Finding> input_changed(const Comparison& c) {
    if (c.inputs.empty()) return {};
    Finding f =
        finding(c, c.inputs, Severity::warning,
                "The inputs are not the same: " + in_words(c.inputs) +
                    ". Launches, bytes and times of A and " + c.name_b + " answer different questions.");
    for (const auto& [run, analysis] : {std::pair<std::string, const Analysis*>{"A", c.a}, {c.name_b, c.b}})
        if (const auto scores = analysis->workload.score_elements())
            f.evidence.push_back(
                rule::evidence("scores in " + run, rule::exact(*scores, Unit::count, *analysis)));
    f.counter_evidence = {"Shares (of the roof, of the tensor pipe) stay comparable; sums do not."};
    f.next_step = run_again(c);
    return {f};
}

std::vector<Finding> gpu_changed(const Comparison& c) {
    if (c.machine.empty()) return {};
    Finding f = finding(c, c.machine, Severity::info,
                        "The GPU or its driver is not the same: " + in_words(c.machine) + ".");
    f.counter_evidence = {"Useful FLOPs and the bytes of the score matrix depend on the inputs alone."};
    f.next_step = run_again(c);
    return {f};
}

std::vector<Finding> library_changed(const Comparison& c) {
    if (c.libraries.empty()) return {};
    Finding f =
        finding(c, c.libraries, Severity::info, "Libraries are not the same: " + in_words(c.libraries) + ".");
    bool same = c.inputs.empty();
    for (const ImplementationPair& p : c.pairs) same = same && p.same_launches();
    f.counter_evidence = {
        same ? "All launches are the same, so the versions changed nothing that is recorded here."
             : "Which of the differences below come from the versions, only a run with one of "
               "them changed can tell."};
    f.next_step = "Change one library at a time, and compare again.";
    return {f};
}

}  // namespace attnscope::comparing
