#include "attnscope/render_gate.h"
#include "gate/show.h"
#include "text/writer.h"
#include "unicode.h"

namespace attnscope {
namespace {

using namespace reports;
using gate::Outcome;
using gate::Verdict;

constexpr size_t kMostShown = 20;  // failures in full

Style style(Outcome outcome) {
    return outcome == Outcome::worse      ? Style::problem
           : outcome == Outcome::unjudged ? Style::warning
           : outcome == Outcome::better   ? Style::good
                                          : Style::plain;
}

/// `said`: the cause that was printed last; one cause often fails several values.
void failure(TextWriter& out, const gate::GateResult& result, const Verdict& v, std::string& said) {
    out.paragraph(std::string(symbol(v.outcome)) + " ", clean(v.sentence), style(v.outcome));
    std::string limit = clean(v.limit);
    if (v.line > 0) limit += " [" + clean(result.policy.file) + ":" + std::to_string(v.line) + "]";
    out.paragraph("  limit: ", limit, Style::dim);
    if (!v.cause.empty() && v.cause != said) out.paragraph("  why: ", clean(v.cause));
    if (!v.cause.empty()) said = v.cause;
}

void line(TextWriter& out, const Verdict& v) {
    out.paragraph(std::string(symbol(v.outcome)) + " ", clean(v.sentence), style(v.outcome));
}

void changes(TextWriter& out, const char* what, const std::vector<gate::Change>& all) {
    for (const gate::Change& c : all)
        out.paragraph("", std::string(what) + " changed: " + clean(c.label) + ": " + clean(c.before) +
                              " -> " + clean(c.after));
}

}  // namespace

std::string render_line(const std::string& sentence) {
    return clean(sentence);
}

std::string render_gate_text(const gate::GateResult& result, TextOptions options) {
    TextWriter out(options, false);
    const std::string word = verdict_word(result);
    out.paragraph("", word + ": " + clean(result.headline),
                  word == "PASSED"   ? Style::good
                  : word == "FAILED" ? Style::problem
                                     : Style::warning);
    out.paragraph(
        "",
        clean(result.gpu) + " (" + ground_note(result) + ")" +
            (result.context.baseline_file.empty() ? "" : ", baseline " + clean(result.context.baseline_file)),
        Style::dim);
    changes(out, "input", result.inputs);
    changes(out, "environment", result.environment);
    for (size_t i = 1; i < result.no_comparison.size(); ++i)
        out.paragraph("", "also: " + clean(result.no_comparison[i]));
    for (const std::string& note : result.notes) out.paragraph("", "note: " + clean(note));
    size_t shown_failures = 0, hidden = 0;
    std::string next, said;
    for (const Verdict& v : result.verdicts) {
        if (v.outcome != Outcome::worse && v.outcome != Outcome::unjudged) continue;
        if (next.empty()) next = v.next_step;
        if (!options.details && shown_failures == kMostShown) {
            ++hidden;
            continue;
        }
        if (shown_failures++ == 0) out.blank();
        failure(out, result, v, said);
    }
    if (hidden > 0) out.paragraph("", "... and " + std::to_string(hidden) + " more (--details)");
    bool first = true;
    for (const Verdict& v : result.verdicts) {
        const bool always = v.outcome == Outcome::better || v.outcome == Outcome::ambiguous;
        if (!always && !(options.details && v.outcome == Outcome::same)) continue;
        if (first) out.blank();
        first = false;
        line(out, v);
    }
    if (!next.empty() || !result.update_command.empty()) out.blank();
    if (!next.empty()) out.paragraph("Next: ", clean(next));
    if (!result.update_command.empty() &&
        (result.count(Outcome::better) > 0 || result.count(Outcome::worse) > 0))
        out.paragraph("To accept it: ", clean(result.update_command));
    return out.take();
}

}  // namespace attnscope
