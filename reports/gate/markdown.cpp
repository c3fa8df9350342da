#include <algorithm>

#include "attnscope/render_gate.h"
#include "gate/show.h"
#include "markdown/comment.h"
#include "markdown/escape.h"
#include "unicode.h"

namespace attnscope {
namespace {

using namespace reports;
using gate::Outcome;
using gate::Verdict;

constexpr size_t kLongestCell = 160, kLongestProse = 400;  // columns
constexpr size_t kLeast = 512, kClosing = 220;             // bytes

std::string cell(const std::string& text) {
    return markdown_text(truncate(clean(text), kLongestCell));
}
std::string prose(const std::string& text) {
    return markdown_text(truncate(clean(text), kLongestProse));
}

std::string row(const Verdict& v, const gate::GateResult& result) {
    std::string limit = cell(v.bound);
    if (v.line > 0) limit += " (line " + std::to_string(v.line) + ")";
    const char* mark = result.ground == Ground::virtual_gpu ? "*" : "";
    const auto value = [&](const gate::Measurement& m) {
        const std::string text = cell(shown(m));
        return m.samples.empty() ? text : mark + text + mark;
    };
    return std::string("| ") + symbol(v.outcome) + " " + gate::to_string(v.outcome) + " | " +
           cell(where_words(v)) + " | " + cell(metric_words(v)) + " | " + value(v.before) + " | " +
           value(v.after) + " | " + cell(v.change) + " | " + limit + " |\n";
}

std::string changes(const char* what, const std::vector<gate::Change>& all) {
    std::string out;
    for (const gate::Change& c : all)
        out += std::string(what) + " changed: " + cell(c.label) + ": " + cell(c.before) + " → " +
               cell(c.after) + "\n\n";
    return out;
}

}  // namespace

std::string render_gate_markdown(const gate::GateResult& result, const std::string& id, size_t budget) {
    const std::string word = verdict_word(result);
    Comment comment(id.empty() ? "gate" : id, std::max(budget, kLeast), kClosing);
    comment.line(std::string("### attnscope gate: ") + (word == "PASSED"   ? "✅ passed"
                                                        : word == "FAILED" ? "❌ failed"
                                                                           : "❔ cannot judge"));
    comment.line(prose(result.headline) + ". " + cell(result.gpu) + ", " + ground_note(result) + ".");
    // Everything beyond the two lines is added while it fits; what did not is counted.
    size_t left_out = 0;
    const auto add = [&](const std::string& text) {
        const bool fits = comment.add(text);
        left_out += !fits;
        return fits;
    };
    if (!result.context.before.empty())
        add("base: " + markdown_code(truncate(clean(result.context.before), kLongestCell)) +
            ", head: " + markdown_code(truncate(clean(result.context.after), kLongestCell)) + "\n");
    if (word == "PASSED" && result.inputs.empty() && result.environment.empty() &&
        result.count(Outcome::better) == 0)
        return comment.close("");
    add("\n" + changes("Input", result.inputs));
    add(changes("Environment", result.environment));
    for (size_t i = 1; i < result.no_comparison.size(); ++i)
        add("- " + prose(result.no_comparison[i]) + "\n");
    for (const std::string& note : result.notes) add("- " + prose(note) + "\n");
    std::string cause, next;
    for (const Verdict& v : result.verdicts)
        if (v.outcome == Outcome::worse || v.outcome == Outcome::unjudged) {
            if (cause.empty()) {
                cause = "\n**" + prose(v.sentence) + "**" +
                        (v.cause.empty() ? "" : "  \nLikely cause: " + prose(v.cause)) + "\n";
                next = v.next_step;
            }
        }
    if (!cause.empty()) add(cause);
    const auto interesting = [](const Verdict& v) { return v.outcome != Outcome::same; };
    if (std::any_of(result.verdicts.begin(), result.verdicts.end(), interesting) &&
        add("\n| | where | metric | base | head | change | limit |\n|-|-|-|--:|--:|--:|-|\n"))
        for (const Verdict& v : result.verdicts)
            if (interesting(v)) add(row(v, result));
    const size_t same = result.count(Outcome::same);
    std::string tail = "\n";
    if (left_out > 0) tail += std::to_string(left_out) + " more did not fit here. ";
    if (same > 0)
        tail += std::to_string(same) + (same == 1 ? " value is" : " values are") + " within bounds. ";
    const auto command = [&](const char* what, const std::string& text) {
        const std::string code =
            std::string(what) + markdown_code(truncate(clean(text), kLongestProse)) + "\n";
        if (!text.empty() && comment.closes_with(tail.size() + code.size())) tail += code;
    };
    command("To see it: ", next);
    if (result.verdicts.size() > result.count(Outcome::same))
        command("To accept it: ", result.update_command);
    return comment.close(tail + (tail.back() == '\n' ? "" : "\n"));
}

}  // namespace attnscope
