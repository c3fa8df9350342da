#include <set>
#include <utility>

#include "attnscope/render_gate.h"
#include "gate/show.h"
#include "gate/verdict_table.h"
#include "text/writer.h"
#include "unicode.h"

namespace attnscope {
namespace {

using namespace reports;
using gate::Outcome;
using gate::Verdict;

constexpr size_t kMostRows = 20, kMostReasons = 6;

void changes(TextWriter& out, const char* what, const std::vector<gate::Change>& all) {
    for (const gate::Change& c : all)
        out.paragraph("", std::string(what) + " changed: " + clean(c.label) + ": " + clean(c.before) +
                              " -> " + clean(c.after));
}

/// What is held against what.
void sides(TextWriter& out, const gate::GateResult& result) {
    std::string line = result.gpu + " (" + ground_note(result) + ")";
    if (!result.context.baseline_file.empty()) line += ", base: " + result.context.baseline_file;
    if (!result.policy.file.empty()) line += ", [line] of " + result.policy.file;
    out.paragraph("", line, Style::dim);
    if (!result.context.before.empty()) out.paragraph("base: ", result.context.before, Style::dim);
    if (!result.context.after.empty()) out.paragraph("head: ", result.context.after, Style::dim);
}

/// Worst first, the rows in full with `details`; what is the same only then.
std::vector<const Verdict*> rows_of(const gate::GateResult& result, bool details, size_t& hidden) {
    std::vector<const Verdict*> rows;
    for (const Verdict& v : result.verdicts) {
        if (v.outcome == Outcome::same && !details) continue;
        if (!details && rows.size() == kMostRows)
            ++hidden;
        else
            rows.push_back(&v);
    }
    return rows;
}

/// What a row cannot say: of a failure the likely cause, of the rest why nothing can be said. One cause often
/// fails several values.
void reasons(TextWriter& out, const std::vector<const Verdict*>& rows, bool details) {
    std::set<std::string> said;
    size_t hidden = 0, alike = 0;
    bool ambiguous = false;
    const auto say = [&](const char* first, const std::string& text) {
        if (text.empty() || !said.insert(text).second) return;
        if (!details && said.size() > kMostReasons)
            ++hidden;
        else
            out.paragraph(first, text);
    };
    for (const Verdict* v : rows) {
        // Times that too few runs tell nothing about have one reason.
        if (v->outcome == Outcome::ambiguous && !details && std::exchange(ambiguous, true)) {
            ++alike;
            continue;
        }
        const bool open = v->outcome == Outcome::unjudged || v->outcome == Outcome::ambiguous;
        if (open || (v->outcome == Outcome::worse && v->kind == gate::MetricClass::time))
            say(open ? "?  " : "   ", v->sentence);
        if (v->outcome != Outcome::same && !v->cause.empty()) say("why: ", v->subject + ": " + v->cause);
    }
    if (alike > 0)
        out.paragraph("", "... and " + std::to_string(alike) + " more that are ambiguous (--details)");
    if (hidden > 0) out.paragraph("", "... and " + std::to_string(hidden) + " more reasons (--details)");
}

}  // namespace

std::string render_line(const std::string& sentence) {
    return clean(sentence);
}

std::string render_gate_text(const gate::GateResult& result, TextOptions options) {
    TextWriter out(options, false);
    const std::string word = verdict_word(result);
    out.paragraph("", word + ": " + result.headline,
                  word == "PASSED"   ? Style::good
                  : word == "FAILED" ? Style::problem
                                     : Style::warning);
    sides(out, result);
    changes(out, "input", result.inputs);
    changes(out, "environment", result.environment);
    for (size_t i = 1; i < result.no_comparison.size(); ++i)
        out.paragraph("", "also: " + result.no_comparison[i]);
    for (const std::string& note : result.notes) out.paragraph("", "note: " + note);
    size_t hidden = 0;
    const std::vector<const Verdict*> rows = rows_of(result, options.details, hidden);
    if (!rows.empty()) {
        out.blank();
        write_verdicts(out, rows);
        if (hidden > 0) out.paragraph("", "... and " + std::to_string(hidden) + " more (--details)");
        out.blank();
        reasons(out, rows, options.details);
    }
    std::string next;
    for (const Verdict* v : rows)
        if (next.empty()) next = v->next_step;
    const bool offer = !result.update_command.empty() && result.verdicts.size() > result.count(Outcome::same);
    if (!next.empty() || offer) out.blank();
    if (!next.empty()) out.paragraph("Next: ", next);
    if (offer) out.paragraph("To accept it: ", result.update_command);
    return out.take();
}

}  // namespace attnscope
