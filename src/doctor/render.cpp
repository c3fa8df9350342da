#include <algorithm>
#include <nlohmann/json.hpp>

#include "attnscope/doctor.h"
#include "attnscope/names.h"

namespace attnscope::doctor {
namespace {

/// Breaks at spaces alone: what is copied from here stays whole.
void append_wrapped(std::string& out, const std::string& text, size_t indent, size_t width) {
    size_t column = indent;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        at = end + 1;
        if (word.empty()) continue;
        if (column > indent && column + 1 + word.size() > width) {
            out += '\n' + std::string(indent, ' ');
            column = indent;
        }
        if (column > indent) out += ' ', ++column;
        out += word;
        column += word.size();
    }
    out += '\n';
}

std::string padded(std::string text, size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
}

}  // namespace

std::string render_text(const Diagnosis& diagnosis, size_t width) {
    constexpr size_t kState = 9;
    size_t name = 0;
    for (const Finding& finding : diagnosis.findings) name = std::max(name, finding.check.size());
    const size_t indent = kState + name + 2;
    width = std::max(width, indent + 20);
    std::string out;
    for (const Finding& finding : diagnosis.findings) {
        const std::string state = finding.state == State::fail ? "FAIL" : to_string(finding.state);
        out += padded(state, kState) + padded(printable(finding.check), name + 2);
        append_wrapped(out, printable(finding.seen), indent, width);
        if (finding.remedy.empty()) continue;
        out += std::string(indent, ' ');
        append_wrapped(out, "-> " + printable(finding.remedy), indent, width);
    }
    out += '\n';
    append_wrapped(out, printable(diagnosis.verdict), 0, width);
    return out;
}

std::string render_json(const Diagnosis& diagnosis) {
    using nlohmann::json;
    const auto uses = [](const std::vector<Use>& list) {
        json out = json::array();
        for (const Use use : list) out.push_back(to_string(use));
        return out;
    };
    json findings = json::array();
    for (const Finding& finding : diagnosis.findings) {
        json one = {{"check", finding.check}, {"state", to_string(finding.state)}, {"seen", finding.seen}};
        if (!finding.remedy.empty()) one["remedy"] = finding.remedy;
        one["blocks"] = uses(finding.blocks);
        findings.push_back(std::move(one));
    }
    const json document = {{"schema", "attnscope-doctor"},           {"version", "1.0"},
                           {"attnscope", ATTNSCOPE_VERSION},         {"wanted", to_string(diagnosis.wanted)},
                           {"usable", diagnosis.usable_as_wanted()}, {"usable_for", uses(diagnosis.usable)},
                           {"verdict", diagnosis.verdict},           {"findings", findings}};
    return document.dump(2, ' ', true, json::error_handler_t::replace) + '\n';
}

}  // namespace attnscope::doctor
