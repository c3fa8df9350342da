#include <nlohmann/json.hpp>

#include "attnscope/render_gate.h"
#include "gate/show.h"

namespace attnscope {
namespace {

using gate::Outcome;
using Json = nlohmann::ordered_json;

Json value(const gate::Measurement& m) {
    if (m.metric.empty()) return nullptr;  // there is no such side
    if (!m.text.empty()) return {{"text", m.text}};
    if (m.samples.empty()) return {{"absent", m.absent}};
    Json out = {{"number", m.number()}};
    if (m.samples.size() > 1) out["samples"] = m.samples;
    return out;
}

Json changes(const std::vector<gate::Change>& all) {
    Json out = Json::array();
    for (const gate::Change& c : all)
        out.push_back({{"label", c.label}, {"before", c.before}, {"after", c.after}});
    return out;
}

Json verdict(const gate::Verdict& v) {
    Json out = {
        {"outcome", gate::to_string(v.outcome)}, {"rule", v.rule}, {"class", gate::to_string(v.kind)}};
    const auto put = [&](const char* key, const std::string& text) {
        if (!text.empty()) out[key] = text;
    };
    put("implementation", v.subject);
    if (!v.part.empty()) out["kind"] = gate::to_string(v.level);
    put("part", v.part);
    put("place", v.place);
    if (const gate::GateMetric* metric = gate::find_gate_metric(v.metric)) {
        out["metric"] = v.metric;
        out["unit"] = to_string(metric->unit);
        out["source"] = to_string(v.provenance.source);
        out["ground"] = to_string(v.provenance.ground);
    }
    out["before"] = value(v.before);
    out["after"] = value(v.after);
    put("limit", v.limit);
    if (v.line > 0) out["policy_line"] = v.line;
    out["sentence"] = v.sentence;
    put("cause", v.cause);
    put("next_step", v.next_step);
    out["fingerprint"] = v.fingerprint();
    return out;
}

}  // namespace

std::string render_gate_json(const gate::GateResult& result) {
    Json out = {{"schema", "attnscope-verdict"},
                {"version", "1.0"},
                {"exit_code", static_cast<int>(result.exit)},
                {"verdict", reports::verdict_word(result)},
                {"headline", result.headline},
                {"ground", to_string(result.ground)},
                {"gpu", result.gpu},
                {"runs", result.context.runs},
                {"baseline", result.context.baseline_file},
                {"before_command", result.context.before},
                {"after_command", result.context.after},
                {"policy", result.policy.file},
                {"no_comparison", result.no_comparison},
                {"inputs_changed", changes(result.inputs)},
                {"environment_changed", changes(result.environment)},
                {"notes", result.notes}};
    for (const Outcome o :
         {Outcome::worse, Outcome::unjudged, Outcome::ambiguous, Outcome::better, Outcome::same})
        out["counts"][gate::to_string(o)] = result.count(o);
    out["verdicts"] = Json::array();
    for (const gate::Verdict& v : result.verdicts) out["verdicts"].push_back(verdict(v));
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attnscope
