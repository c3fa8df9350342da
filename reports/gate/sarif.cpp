// SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/
#include <map>
#include <nlohmann/json.hpp>

#include "attnscope/render_gate.h"
#include "gate/show.h"
#include "unicode.h"

namespace attnscope {
namespace {

using namespace reports;
using gate::Outcome;
using gate::Verdict;
using Json = nlohmann::ordered_json;

const char* level(Outcome outcome) {
    return outcome == Outcome::worse ? "error" : outcome == Outcome::unjudged ? "warning" : "note";
}

/// A reference of RFC 3986, relative unless the path is absolute: everything but plain characters and the
/// slash as %XX.
std::string uri(const std::string& path) {
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out = path.starts_with('/') ? "file://" : "";
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (plain.find(c) != std::string_view::npos)
            out += c;
        else
            out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
    return out;
}

Json location(const std::string& file, int line) {
    return {{"physicalLocation",
             {{"artifactLocation", {{"uri", uri(file)}}}, {"region", {{"startLine", line > 0 ? line : 1}}}}}};
}

std::string rule_words(const std::string& rule) {
    if (rule.starts_with("exact/")) return "an exact value is worse than in the baseline: " + rule.substr(6);
    if (rule.starts_with("counter/")) return "a hardware counter moved beyond its bound: " + rule.substr(8);
    if (rule.starts_with("time/")) return "the time is worse than in the baseline";
    if (rule.starts_with("budget/")) return "a value is beyond its absolute limit: " + rule.substr(7);
    if (rule == "comparison") return "no comparison was made";
    return "something has no counterpart: " + rule.substr(rule.find('/') + 1);
}

}  // namespace

std::string render_gate_sarif(const gate::GateResult& result) {
    Json results = Json::array();
    std::map<std::string, size_t> rules;
    Json rule_list = Json::array();
    const auto add = [&](const std::string& rule, const char* how, const std::string& message,
                         const std::string& file, int line, const std::string& fingerprint) {
        const auto [it, fresh] = rules.try_emplace(rule, rules.size());
        if (fresh) rule_list.push_back({{"id", rule}, {"shortDescription", {{"text", rule_words(rule)}}}});
        Json one = {{"ruleId", rule},
                    {"ruleIndex", it->second},
                    {"level", how},
                    {"message", {{"text", clean(message)}}}};
        if (!file.empty()) one["locations"] = Json::array({location(file, line)});
        one["partialFingerprints"] = {{"attnscope/v1", fingerprint}};
        results.push_back(std::move(one));
    };
    for (const std::string& why : result.no_comparison)
        add("comparison", "warning", "No comparison was made: " + why, result.context.baseline_file, 1,
            "comparison");
    for (const Verdict& v : result.verdicts) {
        if (v.outcome == Outcome::same || v.outcome == Outcome::ambiguous) continue;
        const auto source = source_line(v);
        const std::string file = source       ? source->first
                                 : v.line > 0 ? result.policy.file
                                              : result.context.baseline_file;
        std::string message = v.sentence + ". Limit: " + v.limit + ".";
        if (!v.cause.empty()) message += " Likely cause: " + v.cause;
        add(v.rule, level(v.outcome), message, file, source ? source->second : v.line, v.fingerprint());
    }
    const Json sarif = {
        {"$schema",
         "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
        {"version", "2.1.0"},
        {"runs",
         Json::array(
             {{{"tool",
                {{"driver",
                  {{"name", "attnscope gate"}, {"version", ATTNSCOPE_VERSION}, {"rules", rule_list}}}}},
               {"results", results}}})}};
    return sarif.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attnscope
