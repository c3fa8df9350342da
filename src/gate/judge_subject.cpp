#include "judge_subject.h"

#include <algorithm>

#include "say.h"

namespace attnscope::gate {
namespace {

double count_of(const Subject& s, const char* metric) {
    const Measurement* m = s.find(metric);
    return m && m->known() ? m->number() : -1;
}

class SubjectJudge {
  public:
    SubjectJudge(std::vector<Verdict>& out, Limits& limits, const Policy& policy, const GateFacts& run,
                 const Subject& before, const Subject& after)
        : out_(out), limits_(limits), policy_(policy), run_(run), before_(before), after_(after) {}

    void judge() {
        if (!status()) return;
        values(nullptr, before_.measurements, after_.measurements);
        parts();
    }

  private:
    /// False: there is nothing more to compare.
    bool status();
    void values(const Part* part, const std::vector<Measurement>& before,
                const std::vector<Measurement>& after);
    void parts();
    void unmatched(Level level, const std::vector<const Part*>& gone, const std::vector<const Part*>& fresh);
    /// Another set of kernels is no failure where it is fewer launches, copies no more, or leaves math.
    bool improved() const;

    std::vector<Verdict>& out_;
    Limits& limits_;
    const Policy& policy_;
    const GateFacts& run_;
    const Subject &before_, &after_;
};

bool SubjectJudge::status() {
    const Where where{&after_, nullptr, find_gate_metric("status")};
    const Measurement *a = before_.find("status"), *b = after_.find("status");
    if (!a || !b || !a->known() || !b->known()) return true;
    if (policy_.exact && a->text != b->text && !limits_.ignored(where)) {
        Verdict v = judge_against_baseline(where, run_, *a, *b, {});
        if (!after_.reason.empty()) v.cause = after_.reason;
        out_.push_back(std::move(v));
    }
    if (b->text == "refused" && a->text == "refused") {
        if (policy_.exact) out_.push_back(judge_against_baseline(where, run_, *a, *b, {}));
        return false;
    }
    return a->text == b->text;
}

void SubjectJudge::values(const Part* part, const std::vector<Measurement>& before,
                          const std::vector<Measurement>& after) {
    const auto find = [](const std::vector<Measurement>& all, const std::string& name) -> const Measurement* {
        const auto it =
            std::find_if(all.begin(), all.end(), [&](const Measurement& m) { return m.metric == name; });
        return it == all.end() ? nullptr : &*it;
    };
    for (const GateMetric& metric : gate_metrics()) {
        if (metric.kind == MetricClass::time || !policy_.judges(metric.kind) || metric.name == "status")
            continue;
        const Measurement *a = find(before, metric.name), *b = find(after, metric.name);
        const bool was = a && a->known(), is = b && b->known();
        if (!was && !is) continue;
        const Where where{&after_, part, &metric};
        if (limits_.ignored(where)) continue;
        if (was && is) {
            out_.push_back(judge_against_baseline(where, run_, *a, *b, limits_.tolerance(where)));
            continue;
        }
        Verdict v = verdict_about(where, run_);
        v.rule = "matching/value";
        if (a) v.before = *a;
        if (b) v.after = *b;
        v.limit = "as in the baseline";
        v.bound = "= base";
        v.change = was ? "gone" : "new";
        const std::string what = address(v) + ": " + metric.title;
        v.outcome = was ? Outcome::unjudged : outcome_of(policy_.unknown);
        v.sentence = was ? what + " was " + say(*a) + ", this run has none" +
                               (b && !b->absent.empty() ? ": " + b->absent : "")
                         : what + " is " + say(*b) + ", the baseline has none" +
                               (a && !a->absent.empty() ? ": " + a->absent : "");
        out_.push_back(std::move(v));
    }
}

bool SubjectJudge::improved() const {
    const Measurement *a = before_.find("backend"), *b = after_.find("backend");
    if (a && b && a->text == "math" && b->text != "math") return true;
    const double launches = count_of(after_, "launches"), were = count_of(before_, "launches");
    return launches >= 0 && launches < were &&
           count_of(after_, "copied_bytes") <= count_of(before_, "copied_bytes");
}

void SubjectJudge::parts() {
    // Where a side does not know what was launched, its parts are not gone: the launches' own verdict says
    // so.
    if (count_of(before_, "launches") < 0 || count_of(after_, "launches") < 0) return;
    for (const Level level : {Level::kernel, Level::library_call, Level::copy, Level::memset}) {
        std::vector<const Part*> gone, fresh;
        for (const Part& p : before_.parts)
            if (p.level == level) {
                if (const Part* other = after_.find_part(level, p.place, p.name))
                    values(other, p.measurements, other->measurements);
                else
                    gone.push_back(&p);
            }
        for (const Part& p : after_.parts)
            if (p.level == level && !before_.find_part(level, p.place, p.name)) fresh.push_back(&p);
        // The same kernel from another operation is the same work elsewhere: masked_fill and masked_fill_.
        for (auto it = fresh.begin(); it != fresh.end();) {
            const auto same =
                std::find_if(gone.begin(), gone.end(), [&](const Part* g) { return g->name == (*it)->name; });
            if (same == gone.end()) {
                ++it;
                continue;
            }
            values(*it, (*same)->measurements, (*it)->measurements);
            gone.erase(same);
            it = fresh.erase(it);
        }
        unmatched(level, gone, fresh);
    }
}

void SubjectJudge::unmatched(Level level, const std::vector<const Part*>& gone,
                             const std::vector<const Part*>& fresh) {
    if (!policy_.exact) return;
    const GateMetric* count = find_gate_metric("count");
    const auto say_it = [&](const Part& part, bool is_new) {
        const Where where{&after_, &part, count};
        if (limits_.ignored(where)) return;
        Verdict v = verdict_about(where, run_);
        v.rule =
            std::string("matching/") + (level == Level::library_call ? "library-call" : to_string(level));
        v.limit = "the same set as in the baseline";
        v.bound = "same set";
        v.change = is_new ? "new" : "gone";
        const Measurement* times = part.find("count");
        if (times) (is_new ? v.after : v.before) = *times;
        v.sentence = address(v) + (is_new ? ": new" : ": gone");
        if (times && times->known())
            v.sentence += ", " + say(*times) + (times->number() == 1 ? " launch" : " launches");
        if (times && !times->known())
            v.outcome = Outcome::unjudged;
        else if (is_new)
            v.outcome = improved() ? Outcome::better : Outcome::worse;
        else
            v.outcome = fresh.empty() || improved() ? Outcome::better : Outcome::worse;
        out_.push_back(std::move(v));
    };
    for (const Part* p : fresh) say_it(*p, true);
    for (const Part* p : gone) say_it(*p, false);
}

}  // namespace

Outcome outcome_of(OnDifference choice) {
    return choice == OnDifference::fail     ? Outcome::worse
           : choice == OnDifference::report ? Outcome::same
                                            : Outcome::unjudged;
}

void judge_subject(std::vector<Verdict>& out, Limits& limits, const Policy& policy, const GateFacts& run,
                   const Subject& before, const Subject& after) {
    SubjectJudge(out, limits, policy, run, before, after).judge();
}

}  // namespace attnscope::gate
