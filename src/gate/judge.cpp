#include <algorithm>
#include <map>

#include "analysis/words.h"
#include "explain.h"
#include "judge_subject.h"
#include "judge_times.h"
#include "say.h"

namespace attnscope::gate {
namespace {

std::vector<Change> changes(const std::vector<Fact>& before, const std::vector<Fact>& after) {
    std::map<std::string, std::pair<std::string, std::string>> all;
    for (const Fact& f : before) all[f.label].first = f.value;
    for (const Fact& f : after) all[f.label].second = f.value;
    std::vector<Change> out;
    for (auto& [label, values] : all)
        if (values.first != values.second)
            out.push_back({label, values.first.empty() ? "unknown" : values.first,
                           values.second.empty() ? "unknown" : values.second});
    return out;
}

/// Inputs of the program, then of each attention call that LibTorch was asked about.
std::vector<Change> input_changes(const GateFacts& before, const GateFacts& after) {
    std::vector<Change> out = changes(before.inputs, after.inputs);
    for (const Subject& s : after.subjects) {
        const Subject* other = before.find(s.name);
        if (!other || other->attention_calls == s.attention_calls || other->attention_calls.empty() ||
            s.attention_calls.empty())
            continue;
        const auto gone = std::find_if(
            other->attention_calls.begin(), other->attention_calls.end(), [&](const std::string& call) {
                return std::find(s.attention_calls.begin(), s.attention_calls.end(), call) ==
                       s.attention_calls.end();
            });
        const auto fresh =
            std::find_if(s.attention_calls.begin(), s.attention_calls.end(), [&](const std::string& c) {
                return std::find(other->attention_calls.begin(), other->attention_calls.end(), c) ==
                       other->attention_calls.end();
            });
        out.push_back({s.name + ", attention call",
                       gone == other->attention_calls.end() ? "not called" : *gone,
                       fresh == s.attention_calls.end() ? "not called" : *fresh});
    }
    return out;
}

void judge_pairs(GateResult& out, Limits& limits, const GateFacts& run, const GateFacts& baseline) {
    const auto about = [&](const Subject& s, const char* change, const char* sentence, Outcome outcome) {
        Verdict v = verdict_about({&s, nullptr, nullptr}, run);
        v.rule = "matching/implementation";
        v.limit = "the same implementations as in the baseline";
        v.bound = "same set";
        v.change = change;
        v.outcome = outcome;
        v.sentence = s.name + sentence;
        out.verdicts.push_back(std::move(v));
    };
    const GateMetric* status = find_gate_metric("status");
    for (const Subject& s : run.subjects) {
        if (const Subject* before = baseline.find(s.name))
            judge_subject(out.verdicts, limits, out.policy, run, *before, s);
        else if (!limits.ignored({&s, nullptr, status}))
            about(s, "new", " is not in the baseline", outcome_of(out.policy.unknown));
    }
    for (const Subject& s : baseline.subjects)
        if (!run.find(s.name) && !limits.ignored({&s, nullptr, status}))
            about(s, "gone", " is in the baseline and not in this run", Outcome::unjudged);
    if (out.policy.time) judge_times(out.verdicts, limits, out.policy, run, baseline);
}

void judge_budgets(GateResult& out, Limits& limits, const GateFacts& run) {
    for (const Subject& s : run.subjects) {
        const Measurement* status = s.find("status");
        const bool refused = status && status->text == "refused";
        const auto budget = [&](const Part* part, const std::vector<Measurement>& values) {
            for (const Measurement& m : values) {
                // What LibTorch refuses launches nothing: only its status can be bounded.
                if (!m.known() && refused) continue;
                const Where where{&s, part, find_gate_metric(m.metric)};
                for (const Limit* limit : limits.absolute(where))
                    out.verdicts.push_back(judge_against_limit(where, run, m, *limit));
            }
        };
        budget(nullptr, s.measurements);
        for (const Part& p : s.parts) budget(&p, p.measurements);
    }
}

void add_unused_limits(GateResult& out, const Limits& limits) {
    for (const Limit* limit : limits.unused()) {
        Verdict v;
        v.outcome = Outcome::unjudged;
        v.rule = "matching/limit";
        v.line = limit->line;
        v.limit = limit->bound();
        v.bound = limit->cell();
        v.sentence = "the limit `" + limit->text() + "` matches no value of this run: it checks nothing";
        v.next_step = "correct or remove line " + std::to_string(limit->line) + " of " + out.policy.file;
        out.verdicts.push_back(std::move(v));
    }
}

void judge_environment(GateResult& out) {
    if (out.environment.empty() || out.policy.environment == OnDifference::report) return;
    Verdict v;
    v.outcome = outcome_of(out.policy.environment);
    v.rule = "matching/environment";
    v.limit = "the environment of the baseline";
    v.bound = "= base";
    v.change = "other";
    v.sentence = "another environment: ";
    for (size_t i = 0; i < out.environment.size(); ++i)
        v.sentence += (i ? ", " : "") + out.environment[i].label + " " + out.environment[i].before + " -> " +
                      out.environment[i].after;
    out.verdicts.push_back(std::move(v));
}

/// The exit code, and the sentence that says it.
void conclude(GateResult& out, bool has_baseline) {
    const size_t worse = out.count(Outcome::worse), unjudged = out.count(Outcome::unjudged),
                 ambiguous = out.count(Outcome::ambiguous), better = out.count(Outcome::better);
    const size_t judged = worse + better + out.count(Outcome::same);
    const auto values = [](size_t n) { return words::plural(double(n), "value"); };
    const bool cannot = unjudged > 0 || judged == 0;
    if (worse > 0)
        out.exit = Exit::regression;
    else if (!out.no_comparison.empty() || cannot)
        out.exit = out.policy.cannot_judge == CannotJudge::pass   ? Exit::success
                   : out.policy.cannot_judge == CannotJudge::fail ? Exit::regression
                                                                  : Exit::cannot_judge;
    else
        out.exit = Exit::success;
    if (!out.no_comparison.empty()) {
        out.headline = "No comparison was made: " + out.no_comparison.front();
        return;
    }
    std::vector<std::string> parts;
    if (worse > 0) parts.push_back(values(worse) + " out of bounds");
    if (unjudged > 0) parts.push_back(values(unjudged) + " that cannot be judged");
    if (better > 0) parts.push_back(values(better) + " better");
    if (ambiguous > 0) parts.push_back(values(ambiguous) + " not told apart");
    if (const size_t same = out.count(Outcome::same); same > 0)
        parts.push_back(values(same) + " within bounds");
    if (parts.empty()) parts.push_back("nothing was compared");
    out.headline = words::join(parts);
    if (has_baseline && worse + unjudged == 0 && better > 0)
        out.notes.push_back(
            "this run is better than the baseline: make it the baseline, so that it stays so");
}

}  // namespace

const char* to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::worse:
            return "worse";
        case Outcome::unjudged:
            return "cannot judge";
        case Outcome::ambiguous:
            return "ambiguous";
        case Outcome::better:
            return "better";
        case Outcome::same:
            return "same";
    }
    return "?";
}

std::string Verdict::fingerprint() const {
    // FNV-1a: stable over machines and versions, and short.
    uint64_t hash = 0xcbf29ce484222325;
    for (const std::string* text : {&rule, &subject, &place, &part, &metric})
        for (const char c : *text + '\0') hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ static_cast<uint64_t>(level)) * 0x100000001b3;
    if (rule.starts_with("budget/") || rule == "matching/limit")
        for (const char c : limit) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

size_t GateResult::count(Outcome outcome) const {
    return static_cast<size_t>(std::count_if(verdicts.begin(), verdicts.end(),
                                             [&](const Verdict& v) { return v.outcome == outcome; }));
}

GateResult judge(const GateFacts& run, const Baseline* baseline, const Policy& policy,
                 const GateContext& context) {
    GateResult out;
    out.context = context;
    out.policy = policy;
    out.ground = run.ground;
    out.gpu = run.gpu;
    out.no_comparison = run.unusable;
    for (const std::string& loss : run.lost)
        (policy.allow_data_loss ? out.notes : out.no_comparison)
            .push_back((policy.allow_data_loss ? "allowed by the policy: " : "records were lost: ") + loss);
    if (baseline) {
        if (run.ground != baseline->facts.ground)
            out.no_comparison.push_back(
                std::string("the baseline is of ") + attnscope::to_string(baseline->facts.ground) +
                " ground, the run of " + attnscope::to_string(run.ground) + " ground");
        else if (run.gpu != baseline->facts.gpu)
            out.no_comparison.push_back("another GPU: the baseline is of " + baseline->facts.gpu +
                                        ", the run of " + run.gpu);
        out.inputs = input_changes(baseline->facts, run);
        out.environment = changes(baseline->facts.environment, run.environment);
    }
    if (out.no_comparison.empty()) {
        Limits limits(out.policy);
        if (baseline) judge_pairs(out, limits, run, baseline->facts);
        judge_budgets(out, limits, run);
        add_unused_limits(out, limits);
        judge_environment(out);
        explain(out, run, baseline);
        std::stable_sort(out.verdicts.begin(), out.verdicts.end(),
                         [](const Verdict& a, const Verdict& b) { return a.outcome < b.outcome; });
    }
    conclude(out, baseline != nullptr);
    return out;
}

}  // namespace attnscope::gate
