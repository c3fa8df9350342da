#include "attnscope/gate_self_test.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "attnscope/gate_time.h"
#include "judge_value.h"

namespace attnscope::gate {
namespace {

constexpr double kSafety = 2;    // proposed is twice the spread that was seen
constexpr double kStep = 0.005;  // and rounded up to half a percent

class SelfTester {
  public:
    SelfTester(const GateFacts& runs, const Policy& policy)
        : facts_(runs), policy_(policy), limits_(policy_) {
        baseline_.facts = runs;
        // What an environment or the runs' own trouble hides must not hide that a value is not gated.
        facts_.unusable.clear();
        facts_.lost.clear();
    }

    SelfTest run() {
        out_.same = judge(facts_, &baseline_, policy_, {});
        for (size_t s = 0; s < facts_.subjects.size(); ++s) {
            const size_t parts = facts_.subjects[s].parts.size();
            values(s, nullptr);
            for (size_t p = 0; p < parts; ++p) values(s, &p);
            new_kernel(s);
        }
        return std::move(out_);
    }

  private:
    void values(size_t subject, const size_t* part);
    void value(size_t subject, const size_t* part, size_t index);
    void new_kernel(size_t subject);
    void noise(const Subject& subject, const Part* part, const Measurement& m, double allowed);
    bool sees(const GateFacts& worse, const std::string& subject, const std::string& part,
              const std::string& metric) const {
        const GateResult result = judge(worse, &baseline_, policy_, {});
        return std::any_of(result.verdicts.begin(), result.verdicts.end(), [&](const Verdict& v) {
            return v.outcome == Outcome::worse && v.subject == subject && v.part == part &&
                   v.metric == metric;
        });
    }

    GateFacts facts_;
    const Policy& policy_;
    Limits limits_;
    Baseline baseline_;
    SelfTest out_;
};

void SelfTester::values(size_t subject, const size_t* part) {
    const Subject& s = facts_.subjects[subject];
    const size_t n = part ? s.parts[*part].measurements.size() : s.measurements.size();
    for (size_t i = 0; i < n; ++i) value(subject, part, i);
}

void SelfTester::value(size_t subject, const size_t* part, size_t index) {
    GateFacts worse = facts_;
    Subject& s = worse.subjects[subject];
    Part* p = part ? &s.parts[*part] : nullptr;
    Measurement& m = p ? p->measurements[index] : s.measurements[index];
    const GateMetric& metric = *find_gate_metric(m.metric);
    const Where where{&s, p, &metric};
    if (!m.known() || !policy_.judges(metric.kind) || limits_.ignored(where)) return;
    const Tolerance tolerance = limits_.tolerance(where);
    if (metric.kind != MetricClass::exact)
        noise(s, p, m,
              metric.kind == MetricClass::counter ? allowed_change(metric, m.number(), tolerance) : 0);
    const std::string what = s.name + (p ? " " + p->title() : "") + " " + m.metric;
    if (metric.kind == MetricClass::time) {
        size_t times = 0;
        for (const Subject& one : facts_.subjects) times += one.find("time") != nullptr;
        const TimeComparison itself =
            compare_times(m.samples, m.samples, policy_.time_matters, policy_.false_alarms, times);
        if (m.samples.size() < itself.runs_needed) {
            out_.cannot_fail.push_back(what + ": " + std::to_string(itself.runs_needed) +
                                       " runs a side are needed, there are " +
                                       std::to_string(m.samples.size()));
            return;
        }
    }
    if (!m.text.empty()) {
        if (m.metric == "backend" && m.text == "math") {
            out_.cannot_fail.push_back(what + ": no backend is worse than math");
            return;
        }
        m.text = m.metric == "backend" ? "math" : "refused";
        if (m.metric == "status" && find_gate_metric("status") &&
            baseline_.facts.subjects[subject].find("status")->text == "refused")
            return;
    } else {
        const double before = m.number();
        double by = 2 * allowed_change(metric, before, tolerance);
        if (metric.kind == MetricClass::time) {
            const double spread = *std::max_element(m.samples.begin(), m.samples.end()) -
                                  *std::min_element(m.samples.begin(), m.samples.end());
            by = 2 * (policy_.time_matters * before +
                      (tolerance.relative ? tolerance.relative->may_worsen->of(before) : 0)) +
                 spread;
        }
        by = std::max(by, metric.unit == Unit::percent ? 0.5 : 1.0);
        if (metric.better == Better::higher && before - by < 0) {
            if (before == 0) return;  // nothing to lose: code without Tensor Core instructions
            if (allowed_change(metric, before, tolerance) >= before) {
                out_.cannot_fail.push_back(what + ": its bound allows it to fall to nothing");
                return;
            }
            by = before;
        }
        for (double& sample : m.samples) sample += metric.better == Better::higher ? -by : by;
    }
    ++out_.worsened;
    if (!sees(worse, s.name, p ? p->name : "", m.metric)) out_.missed.push_back(what);
}

void SelfTester::new_kernel(size_t subject) {
    const Subject& s = facts_.subjects[subject];
    const Measurement* status = s.find("status");
    if (!policy_.exact || (status && status->text != "ran")) return;
    GateFacts worse = facts_;
    Part fresh;
    fresh.name = "a_kernel_that_the_self_test_adds";
    fresh.measurements = {{"count", {1}, {}, {}}};
    if (limits_.ignored({&s, &fresh, find_gate_metric("count")})) return;
    worse.subjects[subject].parts.push_back(fresh);
    ++out_.worsened;
    if (!sees(worse, s.name, fresh.name, "count")) out_.missed.push_back(s.name + ": a new kernel");
}

void SelfTester::noise(const Subject& subject, const Part* part, const Measurement& m, double allowed) {
    if (m.samples.size() < 2 || m.number() == 0) return;
    const double size = std::fabs(m.number());
    const auto [least, most] = std::minmax_element(m.samples.begin(), m.samples.end());
    Noise one{subject.name,   m.metric, part != nullptr, m.samples.size(), (*most - *least) / size,
              allowed / size, 0};
    one.proposed = std::max(kStep, std::ceil(kSafety * one.spread / kStep) * kStep);
    if (one.runs < kRunsForLess) one.proposed = std::max(one.proposed, one.allowed);
    const auto alike = std::find_if(out_.noise.begin(), out_.noise.end(), [&](const Noise& n) {
        return n.subject == one.subject && n.metric == one.metric && n.of_kernels == one.of_kernels;
    });
    if (alike == out_.noise.end())
        out_.noise.push_back(one);
    else if (alike->spread < one.spread)
        *alike = one;
}

}  // namespace

std::string Noise::sentence() const {
    char shares[96];
    std::snprintf(shares, sizeof shares,
                  " differs by %.2g %% among %zu runs, and a change beyond %.2g %% fails", 100 * spread, runs,
                  100 * allowed);
    return subject + (of_kernels ? ", a kernel: " : ": ") + metric + shares;
}

bool SelfTest::sees() const {
    return same.count(Outcome::worse) == 0 && worsened > 0 && missed.empty();
}

bool SelfTest::passed() const {
    return sees() && std::none_of(noise.begin(), noise.end(), [](const Noise& n) { return n.beyond(); });
}

std::string SelfTest::policy() const {
    std::string out;
    for (const Noise& n : noise) {
        char text[96];
        std::snprintf(text, sizeof text, "%s = \"%.3g%%\"  # %zu runs differed by %.2g%%\n\n",
                      n.metric == "time" ? "may_worsen" : "noise", 100 * n.proposed, n.runs, 100 * n.spread);
        std::string name;  // a TOML string: what would end or change it becomes a pattern's "any character"
        for (const char c : n.subject)
            name += static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\' || c == '\x7f' ? '?' : c;
        out += "[[limit]]\nimplementation = \"" + name + "\"\n" + (n.of_kernels ? "kernel = \"*\"\n" : "") +
               "metric = \"" + n.metric + "\"\n" + text;
    }
    return out;
}

SelfTest self_test(const GateFacts& runs, const Policy& policy) {
    return SelfTester(runs, policy).run();
}

}  // namespace attnscope::gate
