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
    std::vector<Finding> out;
    for (const Implementation* i : ran(a)) {
        if (!i->score_bytes || *i->score_bytes.number <= 0) continue;
        const Value& bytes = i->prediction.bytes;
        if (!bytes || *bytes.number <= 0) continue;
        const double share = *i->score_bytes.number / *bytes.number;
        const Value time = time_share(a, *i);
        Finding f;
        f.subject = i->title;
        // Beside a fused implementation of the same run it is what the comparison is about, not a surprise.
        f.severity = Severity::info;
        f.claim =
            i->title +
            " sends the score matrix through device memory: " + words::bytes(*i->score_bytes.number) + ", " +
            words::percent(100 * share) + " of all that its kernels read and write by the model" +
            (time ? ", and its masks and softmax take " + words::say(time) + " of its GPU time" : "") + ".";
        f.evidence = {
            evidence("score-matrix bytes", i->score_bytes, "0: a fused implementation"),
            evidence("share of the bytes by the model",
                     Value::of(100 * share, Unit::percent, {Source::model, a.ground},
                               words::number(*i->score_bytes.number) + " / " + words::number(*bytes.number))),
            evidence("least bytes of any implementation", i->least_bytes)};
        if (i->prediction.dram_bytes)
            f.evidence.push_back(evidence("least bytes that reach DRAM", i->prediction.dram_bytes,
                                          "without what the L2 cache can keep"));
        if (time) f.evidence.push_back(evidence("share of the GPU time in mask and softmax", time));
        if (const Value& dram = i->counter(counter_role::kDramBytes))
            f.evidence.push_back(evidence("DRAM bytes, counted", dram));
        f.counter_evidence = {
            i->prediction.l2_note.empty()
                ? "What stays in the L2 cache does not reach DRAM: short sequences pay less."
                : i->prediction.l2_note + "."};
        if (const std::string unknown = not_measured(a, "the share of the time"); !unknown.empty())
            f.counter_evidence.push_back(unknown);
        f.next_step = attention_command(a, i->name + ",sdpa_flash,sdpa_efficient", "-o scores");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
