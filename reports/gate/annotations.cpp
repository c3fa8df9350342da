// GitHub's workflow commands: https://docs.github.com/actions, "Workflow commands".
#include "attnscope/render_gate.h"
#include "gate/show.h"
#include "unicode.h"

namespace attnscope {
namespace {

using namespace reports;
using gate::Outcome;

constexpr size_t kMostOfAKind = 10;

/// The runner undoes these; a property also ends at a colon or a comma.
std::string escaped(const std::string& text, bool property) {
    std::string out;
    for (const char c : clean(text)) {
        if (c == '%')
            out += "%25";
        else if (property && c == ':')
            out += "%3A";
        else if (property && c == ',')
            out += "%2C";
        else
            out += c;
    }
    return out;
}

std::string command(const char* kind, const std::string& file, int line, const std::string& title,
                    const std::string& message) {
    std::string out = std::string("::") + kind + " ";
    if (!file.empty()) out += "file=" + escaped(file, true) + ",";
    if (!file.empty() && line > 0) out += "line=" + std::to_string(line) + ",";
    return out + "title=" + escaped(title, true) + "::" + escaped(message, false) + "\n";
}

}  // namespace

std::string render_gate_annotations(const gate::GateResult& result) {
    std::string out;
    for (const std::string& why : result.no_comparison)
        out += command("error", {}, 0, "attnscope gate: no comparison was made", why);
    size_t errors = result.no_comparison.size(), warnings = 0;
    for (const gate::Verdict& v : result.verdicts) {
        const bool error = v.outcome == Outcome::worse;
        if (!error && v.outcome != Outcome::unjudged) continue;
        if ((error ? errors : warnings)++ >= kMostOfAKind) continue;
        const auto source = source_line(v);
        const std::string file = source ? source->first : v.line > 0 ? result.policy.file : "";
        const std::string cause = v.cause.empty() ? "" : ". Likely cause: " + v.cause;
        out += command(error ? "error" : "warning", file, source ? source->second : v.line,
                       "attnscope gate: " + std::string(gate::to_string(v.outcome)), v.sentence + cause);
    }
    return out;
}

}  // namespace attnscope
