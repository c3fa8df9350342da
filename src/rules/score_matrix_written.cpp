#include "all.h"
#include "copies.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// Steps that read or write scores and multiply nothing.
bool only_scores(const Step& step) {
    switch (step.role) {
        case Role::softmax:
        case Role::mask:
        case Role::where:
        case Role::isneginf:
        case Role::all_reduce:
            return true;
        default:
            return false;
    }
}

/// The share of the GPU time that goes into them; absent where a step has no time.
Value time_share(const Analysis& a, const Implementation& i) {
    double scores = 0, all = 0;
    for (const Step& step : i.steps) {
        if (!step.time) return Value::missing(step.time.absent, Unit::percent, {Source::computed, a.ground});
        all += *step.time.number;
        if (only_scores(step)) scores += *step.time.number;
    }
    if (all <= 0) return Value::missing("no time", Unit::percent, {Source::computed, a.ground});
    return exact(100 * scores / all, Unit::percent, a,
                 words::milliseconds(scores) + " of " + words::milliseconds(all));
}

}  // namespace

std::vector<Finding> score_matrix_written(const Analysis& a) {
    Finding f;
    std::vector<std::string> names, parts;
    std::string only;
    for (const Implementation* i : ran(a)) {
        const Value& bytes = i->prediction.bytes;
        if (!i->score_bytes || *i->score_bytes.number <= 0 || !bytes || *bytes.number <= 0) continue;
        const double share = 100 * *i->score_bytes.number / *bytes.number;
        const Value time = time_share(a, *i);
        names.push_back(i->title);
        only += (only.empty() ? "" : ",") + i->name;
        parts.push_back(i->title + " " + words::bytes(*i->score_bytes.number) + ", " + words::percent(share) +
                        " of all that its kernels read and write by the model" +
                        (time ? ", with " + words::say(time) + " of its GPU time in masks and softmax" : ""));
        const std::string of = " of " + i->title;
        f.evidence.push_back(
            evidence("score-matrix bytes" + of, i->score_bytes, "0: a fused implementation"));
        f.evidence.push_back(evidence(
            "share of the bytes" + of,
            Value::of(share, Unit::percent, {Source::model, a.ground},
                      words::number(*i->score_bytes.number) + " / " + words::number(*bytes.number))));
        if (i->prediction.dram_bytes)
            f.evidence.push_back(evidence("least bytes that reach DRAM" + of, i->prediction.dram_bytes,
                                          "without what the L2 cache can keep"));
        if (time) f.evidence.push_back(evidence("share of the GPU time in masks and softmax" + of, time));
        if (const Value& dram = i->counter(counter_role::kDramBytes))
            f.evidence.push_back(evidence("DRAM bytes, counted," + of, dram));
        if (!i->prediction.l2_note.empty())
            f.counter_evidence.push_back(i->title + ": " + i->prediction.l2_note + ".");
    }
    if (names.empty()) return {};
    f.subject = words::join(names);
    // Beside a fused implementation of the same run it is what the comparison is about, not a surprise.
    f.severity = Severity::info;
    f.claim = "Scores go through device memory: " + words::join(parts, "; ", "; ") + ".";
    if (f.counter_evidence.empty())
        f.counter_evidence = {"What stays in the L2 cache does not reach DRAM: short sequences pay less."};
    if (const std::string unknown = not_measured(a, "the share of the time"); !unknown.empty())
        f.counter_evidence.push_back(unknown);
    f.next_step = attention_command(a, only + ",sdpa_flash,sdpa_efficient", "-o scores");
    return {f};
}

}  // namespace attnscope::rule
