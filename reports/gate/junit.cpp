#include <string_view>

#include "attnscope/render_gate.h"
#include "gate/show.h"
#include "unicode.h"

namespace attnscope {
namespace {

using namespace reports;
using gate::Outcome;
using gate::Verdict;

/// clean() has taken out what XML 1.0 cannot hold.
std::string xml(const std::string& text) {
    std::string out;
    for (const char c : clean(text)) switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    return out;
}

std::string test_case(const std::string& group, const std::string& name, const std::string& body) {
    return "    <testcase classname=\"" + xml(group) + "\" name=\"" + xml(name) + "\" time=\"0\"" +
           (body.empty() ? "/>\n" : ">" + body + "</testcase>\n");
}

/// Both are failures with a type: readers differ on whether an error fails a build, and what cannot be judged
/// must not be green.
std::string failure(const char* type, const std::string& message, const std::string& text) {
    return std::string("<failure type=\"") + type + "\" message=\"" + xml(message) + "\">" + text +
           "</failure>";
}

std::string body(const Verdict& v) {
    if (v.outcome == Outcome::same || v.outcome == Outcome::better) return {};
    std::string text = "limit: " + xml(v.limit);
    if (!v.cause.empty()) text += "\nlikely cause: " + xml(v.cause);
    if (!v.next_step.empty()) text += "\nnext: " + xml(v.next_step);
    if (v.outcome == Outcome::ambiguous)
        return "<skipped type=\"ambiguous\" message=\"" + xml(v.sentence) + "\">" + text + "</skipped>";
    return failure(gate::to_string(v.outcome), v.sentence, text);
}

}  // namespace

std::string render_gate_junit(const gate::GateResult& result) {
    std::string cases;
    for (const std::string& why : result.no_comparison)
        cases += test_case("attnscope.gate", "comparison",
                           failure("cannot judge", "No comparison was made", xml(why)));
    for (const Verdict& v : result.verdicts) {
        std::string name = v.metric.empty() ? v.rule : v.metric;
        if (v.rule.starts_with("budget/")) name += " (" + v.limit + ")";
        if (!v.part.empty()) name += " of " + v.part + (v.place.empty() ? "" : " in " + v.place);
        cases +=
            test_case(v.subject.empty() ? "attnscope.gate" : "attnscope.gate." + v.subject, name, body(v));
    }
    const size_t failures =
        result.count(Outcome::worse) + result.count(Outcome::unjudged) + result.no_comparison.size();
    const size_t tests = result.verdicts.size() + result.no_comparison.size();
    return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites>\n  <testsuite name=\"attnscope gate\" "
           "tests=\"" +
           std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
           "\" errors=\"0\" skipped=\"" + std::to_string(result.count(Outcome::ambiguous)) +
           "\" time=\"0\">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace attnscope
