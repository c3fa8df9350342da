#include "judge_value.h"

#include <algorithm>
#include <cmath>

#include "say.h"

namespace attnscope::gate {
namespace {

constexpr double kRounding = 1e-12;  // of values that are computed in floating point

/// How much worse `after` is, in the metric's unit; negative: better. Where no direction is better, how far.
double worsening(const GateMetric& metric, double before, double after) {
    if (metric.better == Better::higher) return before - after;
    if (metric.better == Better::lower) return after - before;
    return std::fabs(after - before);
}

/// LibTorch's math backend is what the fused ones replace: leaving it is an improvement, falling back to it
/// is not. Between fused ones nothing is better in advance.
Outcome judge_words(const GateMetric& metric, const std::string& before, const std::string& after) {
    if (before == after) return Outcome::same;
    if (metric.name == "backend" && before == "math") return Outcome::better;
    if (metric.name == "status" && before == "refused" && after == "ran") return Outcome::better;
    if (metric.name == "status" && after != "ran" && after != "refused") return Outcome::unjudged;
    return Outcome::worse;
}

/// How far a number may worsen, in words and for a table's cell.
void say_bound(Verdict& v, const GateMetric& metric, double before, const Tolerance& tolerance) {
    const bool lower = metric.better == Better::lower, higher = metric.better == Better::higher;
    v.limit = higher  ? "no less than in the baseline"
              : lower ? "no more than in the baseline"
                      : "as in the baseline";
    v.bound = higher ? "≥ base" : lower ? "≤ base" : "= base";
    const Limit* relative = tolerance.relative;
    const double noise = noise_of(metric, tolerance);
    if (!relative && noise == 0) return;
    const bool in_units = relative && !relative->may_worsen->relative;
    const double allowed = allowed_change(metric, before, tolerance);
    const double share = std::max(noise, relative && !in_units ? relative->may_worsen->amount : 0);
    v.limit += ", give or take " +
               (in_units ? say_number(allowed, metric.unit) : say_number(100 * share, Unit::percent));
    v.bound = std::string(higher  ? "-"
                          : lower ? "+"
                                  : "±") +
              (in_units ? say_short(allowed, metric.unit) : say_short(100 * share, Unit::percent));
}

}  // namespace

double noise_of(const GateMetric& metric, const Tolerance& tolerance) {
    return tolerance.noise ? *tolerance.noise->noise : metric.noise;
}

double allowed_change(const GateMetric& metric, double before, const Tolerance& tolerance) {
    const double size = std::fabs(before), noise = noise_of(metric, tolerance) * size;
    return tolerance.relative ? std::max(noise, tolerance.relative->may_worsen->of(size)) : noise;
}

std::string address(const Verdict& v) {
    if (v.part.empty()) return v.subject;
    return v.subject + " " + to_string(v.level) + " `" + v.part_title + "`" +
           (v.place.empty() ? "" : " in " + v.place);
}

Verdict verdict_about(const Where& w, const GateFacts& run) {
    Verdict v;
    v.subject = w.subject->name;
    if (w.part) {
        v.level = w.part->level;
        v.place = w.part->place;
        v.part = w.part->name;
        v.part_title = w.part->title();
        v.range = w.part->range;
    }
    if (w.metric) {
        v.metric = w.metric->name;
        v.kind = w.metric->kind;
        v.rule = std::string(to_string(v.kind)) + "/" + v.metric;
        v.provenance = {w.metric->source, v.kind == MetricClass::counter
                                              ? run.counter_ground.value_or(run.ground)
                                              : run.ground};
        // A real GPU reports resources with the launch; on a virtual one they are read from the cubin.
        if (v.provenance.source == Source::binary && run.ground != Ground::virtual_gpu &&
            !v.metric.ends_with("_code"))
            v.provenance.source = Source::trace;
    }
    return v;
}

Verdict judge_against_baseline(const Where& w, const GateFacts& run, const Measurement& before,
                               const Measurement& after, const Tolerance& tolerance) {
    Verdict v = verdict_about(w, run);
    v.before = before;
    v.after = after;
    if (const Limit* limit = tolerance.relative ? tolerance.relative : tolerance.noise) v.line = limit->line;
    const std::string what = address(v) + ": " + w.metric->title + " ";
    if (!before.text.empty() || !after.text.empty()) {
        v.outcome = judge_words(*w.metric, before.text, after.text);
        v.limit = "as in the baseline";
        v.bound = "= base";
        v.change = v.outcome == Outcome::same ? "same" : "other";
        v.sentence =
            v.outcome == Outcome::same ? what + "is " + after.text : what + before.text + " -> " + after.text;
        return v;
    }
    const double a = before.number(), b = after.number();
    const double allowed = allowed_change(*w.metric, a, tolerance);
    const double worse_by = worsening(*w.metric, a, b),
                 slack = kRounding * std::max(std::fabs(a), std::fabs(b));
    v.outcome = worse_by > allowed + slack                                          ? Outcome::worse
                : worse_by < -noise_of(*w.metric, tolerance) * std::fabs(a) - slack ? Outcome::better
                                                                                    : Outcome::same;
    say_bound(v, *w.metric, a, tolerance);
    v.change = say_change(a, b, w.metric->unit);
    v.sentence = what + (a == b ? "is " + say(after) : say(before) + " -> " + say(after));
    if (v.outcome != Outcome::same && a != 0 && w.metric->unit != Unit::count)
        v.sentence += " (" + v.change + ")";
    return v;
}

Verdict judge_against_limit(const Where& w, const GateFacts& run, const Measurement& value,
                            const Limit& limit) {
    Verdict v = verdict_about(w, run);
    v.rule = "budget/" + w.metric->name;
    v.after = value;
    v.line = limit.line;
    v.limit = limit.bound();
    v.bound = limit.cell();
    v.sentence = address(v) + ": " + w.metric->title + " is " + say(value);
    if (!value.known()) {
        v.outcome = Outcome::unjudged;
        return v;
    }
    bool holds = true;
    if (!value.text.empty()) {
        holds = (limit.is.empty() || matches(limit.is, value.text)) &&
                (limit.is_not.empty() || !matches(limit.is_not, value.text));
    } else {
        const double n = value.number();
        holds = (!limit.at_most || n <= *limit.at_most * (1 + kRounding)) &&
                (!limit.at_least || n >= *limit.at_least * (1 - kRounding));
    }
    v.outcome = holds ? Outcome::same : Outcome::worse;
    if (!holds) v.sentence += ", the limit is " + v.limit;
    return v;
}

}  // namespace attnscope::gate
