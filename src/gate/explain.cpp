#include "explain.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "analysis/words.h"

namespace attnscope::gate {
namespace {

/// Findings about work that is done, which is what exact values count. A grid that is too small for the GPU
/// is no reason for one launch more.
bool is_about_work(const std::string& id) {
    constexpr std::array<std::string_view, 18> ids = {
        "no-backend",       "math-fallback",      "launch-failed",        "launch-limit",
        "masked-fill-copy", "extra-copy",         "gqa-repeat",           "mask-per-head",
        "mask-conversion",  "index-range",        "head-dim-padding",     "math-upcast",
        "math-nan-guard",   "math-scaling",       "score-matrix-written", "split-kv",
        "register-spills",  "tensor-instructions"};
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// The finding that most likely says why: new since the baseline, worst first. nullptr: none.
const Finding* likely_cause(const GateFacts& run, const Subject* before, const std::string& subject,
                            MetricClass kind) {
    const Finding* best = nullptr;
    for (const Finding& f : run.findings) {
        if (f.subject != subject ||
            f.severity < (kind == MetricClass::exact ? Severity::info : Severity::warning) ||
            (kind == MetricClass::exact && !is_about_work(f.id)))
            continue;
        if (before &&
            std::find(before->findings.begin(), before->findings.end(), f.id) != before->findings.end())
            continue;
        if (!best || f.severity > best->severity) best = &f;
    }
    return best;
}

/// Of the backend that the baseline had: LibTorch's own sentence.
std::string refusal(const Subject* now, const Verdict& v) {
    if (!now || v.metric != "backend") return {};
    for (const Fact& f : now->refusals)
        if (f.label == v.before.text) return "LibTorch refuses " + f.label + ": " + f.value;
    return {};
}

/// The worst kernel, call or copy that is new, which is what the greater counts are made of.
std::string newcomer(const GateResult& result, const std::string& subject) {
    for (const Verdict& v : result.verdicts)
        if (v.subject == subject && v.outcome == Outcome::worse && v.rule.starts_with("matching/") &&
            v.before.metric.empty())
            return std::string(to_string(v.level)) + " `" + v.part_title + "`" +
                   (v.place.empty() ? "" : ", launched by " + v.place) + ", is new";
    return {};
}

/// The command that shows one kernel of the run; empty where it is not in it, or has no name to look for.
std::string show_kernel(const std::string& folder, const Verdict& v) {
    if (v.level != Level::kernel || v.part.empty() || v.after.metric.empty()) return {};
    const size_t colon = v.part_title.find(": ");  // "elementwise: masked_fill"
    const size_t first = colon == std::string::npos ? 0 : colon + 2;
    std::string name;  // an identifier: as an expression it means itself
    for (size_t i = first; i < v.part_title.size(); ++i) {
        const char c = v.part_title[i];
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') break;
        name += c;
    }
    return name.empty() ? "" : "attnscope report " + folder + " --kernel " + name;
}

}  // namespace

void explain(GateResult& result, const GateFacts& run, const Baseline* baseline) {
    const std::string folder =
        result.context.runs.empty() ? "RUN" : words::shell_word(result.context.runs.front());
    if (!result.context.baseline_file.empty() && !result.context.runs.empty()) {
        result.update_command = "attnscope gate";
        for (const std::string& one : result.context.runs)
            result.update_command += " " + words::shell_word(one);
        result.update_command +=
            " --write-baseline " + words::shell_word(result.context.baseline_file) + " --reason TEXT";
    }
    for (Verdict& v : result.verdicts) {
        if (v.subject.empty() || (v.outcome != Outcome::worse && v.outcome != Outcome::unjudged)) continue;
        const Subject* before = baseline ? baseline->facts.find(v.subject) : nullptr;
        const Subject* now = run.find(v.subject);
        if (v.cause.empty() && v.outcome == Outcome::worse) {
            if (v.metric == "backend") {
                v.cause = refusal(now, v);  // nothing else changes a choice
            } else if (const Finding* finding = likely_cause(run, before, v.subject, v.kind)) {
                v.cause = finding->claim;
                v.next_step = "attnscope report " + folder + " --finding " + finding->id;
            } else if (now && !now->reason.empty()) {
                v.cause = now->reason;
            } else if (const std::string what = newcomer(result, v.subject);
                       !what.empty() && v.part.empty()) {
                v.cause = what;
            }
        }
        if (v.next_step.empty()) v.next_step = show_kernel(folder, v);
        if (v.next_step.empty()) v.next_step = "attnscope report " + folder + " --details";
    }
}

}  // namespace attnscope::gate
