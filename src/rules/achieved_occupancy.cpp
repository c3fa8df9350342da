#include <algorithm>
#include <cmath>

#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own threshold: ends and starts of CTAs alone cost some percent.
constexpr double kFullShare = 0.8;
/// The grid explains it when it allows no more than this much above what was achieved.
constexpr double kNear = 1.1;

/// What the grid alone allows, percent: with less than a wave, CTAs are spread over the SMs and those that
/// have any hold fewer than fit. Achieved occupancy leaves SMs without a CTA out.
Value grid_allows(const Step& step, double sms) {
    const double ctas = *step.ctas.number, fit = *step.ctas_per_sm.number;
    const double each = std::min(fit, ctas / std::min(ctas, sms));
    return Value::of(*step.occupancy.number * each / fit, Unit::percent,
                     {Source::computed, step.occupancy.provenance.ground},
                     words::number(each) + " CTAs on an SM that has any, of " + words::number(fit) +
                         " that fit, x " + words::percent(*step.occupancy.number));
}

struct Shortfall {
    const Implementation& implementation;
    const Step& step;
    const Value& achieved;
    Value allowed;  ///< by the grid; absent where that is not known

    Shortfall(const Analysis& a, const Implementation& i, const Step& s, const Value& counted)
        : implementation(i), step(s), achieved(counted) {
        if (a.sm_count && s.ctas && s.ctas_per_sm && *s.ctas.number > 0 && *s.ctas_per_sm.number > 0)
            allowed = grid_allows(s, *a.sm_count);
    }
    bool by_grid() const { return allowed && *allowed.number <= kNear * *achieved.number; }
};

std::string again(const Analysis& a, const std::string& only) {
    return a.has_convention ? attention_command(a, only, "-o again") : collect_command(a, "", "again");
}

Finding of_one(const Analysis& a, const Shortfall& shortfall) {
    const auto& [i, step, achieved, allowed] = shortfall;
    const double theoretical = *step.occupancy.number;
    Finding f;
    f.subject = i.title;
    f.severity = Severity::info;
    f.claim = "Of the " + words::percent(theoretical) + " theoretical occupancy, " + kernel_words(i, step) +
              " achieves " + words::say_with_ground(achieved) + ".";
    f.evidence = {evidence("achieved occupancy", achieved,
                           "speaks below " + words::percent(100 * kFullShare) + " of the theoretical one"),
                  evidence("theoretical occupancy", step.occupancy, "limited by " + step.limiter)};
    if (allowed) f.evidence.push_back(evidence("occupancy that the grid allows", allowed));
    if (shortfall.by_grid())
        f.claim += " The grid is why: " + words::plural(*step.ctas.number, "CTA") + " on " +
                   words::plural(*a.sm_count, "SM") + " allow " + words::percent(*allowed.number) + ".";
    if (step.waves) f.evidence.push_back(evidence("waves", step.waves, "the last one may be part of one"));
    const Value& busy = counted(step.counters, "sm_busy");
    if (busy)
        f.evidence.push_back(evidence("SMs with work, average over the kernel", busy,
                                      "what is missing to 100% are empty SMs and the tail"));
    if (!shortfall.by_grid()) {
        f.claim += " Its CTAs are of unequal length, or too short to be replaced in time";
        std::string tiles;
        if (a.workload.causal.value_or(false) && is_attention(step.role) && step.decoded &&
            step.decoded->block_keys.value_or(0) > 0 && a.workload.key_length)
            tiles = ": under the causal mask one visits from 1 to " +
                    words::number(std::ceil(*a.workload.key_length / *step.decoded->block_keys)) +
                    " tiles of keys";
        f.claim += tiles + ".";
    }
    f.counter_evidence = {
        "Achieved occupancy is no goal of its own: where the pipe or the memory that limits the kernel is "
        "busy, more warps change nothing (" +
        in_words(uses(a, step)) + ")."};
    f.next_step = again(a, i.name);
    return f;
}

/// The kernels beside attention are told together: each alone is not worth a finding.
Finding of_others(const Analysis& a, const std::vector<Shortfall>& all) {
    constexpr size_t kMostNamed = 4, kMostEvidence = 12;
    std::vector<std::string> parts, titles, busy;
    std::string only;
    size_t by_grid = 0;
    Finding f;
    for (const Shortfall& s : all) {
        const std::string name = kernel_words(s.implementation, s.step);
        const std::string theoretical = words::percent(*s.step.occupancy.number);
        by_grid += s.by_grid();
        if (titles.empty() || titles.back() != s.implementation.title) {
            titles.push_back(s.implementation.title);
            only += (only.empty() ? "" : ",") + s.implementation.name;
        }
        if (parts.size() < kMostNamed) {
            parts.push_back(name + " " + words::say_with_ground(s.achieved) + " of " + theoretical);
            busy.push_back(name + " " + in_words(uses(a, s.step)));
        }
        if (f.evidence.size() < kMostEvidence)
            f.evidence.push_back(
                evidence("achieved occupancy, " + name, s.achieved,
                         "theoretical " + theoretical + ", limited by " + s.step.limiter +
                             (s.allowed ? "; the grid allows " + words::percent(*s.allowed.number) : "")));
    }
    if (all.size() > kMostNamed) parts.push_back(words::number(double(all.size() - kMostNamed)) + " more");
    f.subject = words::join(titles);
    f.severity = Severity::info;
    f.claim = words::plural(double(all.size()), "kernel") + " beside attention achieve" +
              (all.size() == 1 ? "s" : "") + " less than " + words::percent(100 * kFullShare) +
              " of the theoretical occupancy: " + words::join(parts) + ". ";
    if (by_grid == all.size())
        f.claim += "The grid is why: it has too few CTAs to fill the SMs.";
    else
        f.claim += (by_grid > 0 ? "The grid is why in " + words::number(double(by_grid)) +
                                      " of them; CTAs of the others are"
                                : std::string("Their CTAs are")) +
                   " of unequal length, or too short to be replaced in time.";
    f.counter_evidence = {
        "Achieved occupancy is no goal of its own: where DRAM is busy, more warps change nothing (" +
        words::join(busy, "; ", "; ") + ")."};
    f.next_step = again(a, only);
    return f;
}

}  // namespace

std::vector<Finding> achieved_below_theoretical(const Analysis& a) {
    std::vector<Finding> out;
    std::vector<Shortfall> others;
    for (const Implementation* i : distinct(a)) {
        for (const Step* step : weighty_kernels(*i)) {
            const Value& achieved = counted(step->counters, counter_role::kAchievedOccupancy);
            if (!step->occupancy || !achieved || *achieved.number >= kFullShare * *step->occupancy.number)
                continue;
            const Shortfall shortfall(a, *i, *step, achieved);
            if (is_attention(step->role) || !a.has_convention)
                out.push_back(of_one(a, shortfall));
            else
                others.push_back(shortfall);
        }
    }
    if (!others.empty()) out.push_back(of_others(a, others));
    return out;
}

}  // namespace attnscope::rule
