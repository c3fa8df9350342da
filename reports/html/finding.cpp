#include "finding.h"

#include <algorithm>

#include "../words.h"
#include "table.h"
#include "value.h"

namespace attnscope::reports {
namespace {

constexpr size_t index_from = 3;  // fewer are seen at once

std::string evidence_table(const Finding& finding, const std::string& heading) {
    std::string out = scroll_region(heading) +
                      "<table class=\"evidence\"><caption class=\"sr\">Evidence</caption>\n<thead><tr><th "
                      "scope=\"col\">quantity</th><th scope=\"col\">value</th><th scope=\"col\">against</th>"
                      "<th scope=\"col\">how it was made</th></tr></thead>\n<tbody>\n";
    const std::string* above = nullptr;
    for (const Evidence& evidence : finding.evidence) {
        const Value& value = evidence.value;
        Value shown = value;
        shown.formula.clear();  // it has a column of its own
        out += "<tr><th>" + html(evidence.label) + "</th><td>" + html_value(shown) + "</td><td>" +
               html(evidence.compared_with) + "</td><td>";
        if (above && !value.formula.empty() && *above == value.formula)
            out += "as above";
        else if (!value.formula.empty())
            out += "<code>" + html(value.formula) + "</code>";
        else if (is_shown(value))
            out += html(describe(value.provenance.source));
        out += "</td></tr>\n";
        above = &value.formula;
    }
    return out + "</tbody></table></div>";
}

std::string entry(const char* term, const std::string& description) {
    return std::string("<dt>") + term + "</dt>\n<dd>" + description + "</dd>\n";
}

std::string paragraphs(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out += "<p>" + html_prose(text) + "</p>";
    return out;
}

/// "Head: rest", or "Head. Rest": a heading is short enough to be read in passing.
struct Claim {
    std::string head, rest;
};

Claim split(const std::string& claim) {
    constexpr size_t shortest = 12, longest = 130;
    bool in_code = false;
    for (size_t at = 0; at + 2 < std::min(claim.size(), longest); ++at) {
        if (claim[at] == '`') in_code = !in_code;
        if (in_code || at < shortest || claim[at + 1] != ' ') continue;
        if (claim[at] == ':' || claim[at] == '.') return {claim.substr(0, at + 1), claim.substr(at + 2)};
    }
    return {claim, {}};
}

std::string about(const Finding& finding) {
    std::string out = "<p class=\"about\"><b>" + std::string(sign(finding.severity)) + "\xC2\xA0" +
                      word(finding.severity) + "</b>";
    if (!finding.subject.empty()) out += " · <code>" + html(finding.subject) + "</code>";
    if (!finding.id.empty()) out += " · rule <code>" + html(finding.id) + "</code>";
    return out + "</p>\n";
}

std::string id_of(const Finding& finding, Ids& ids) {
    return ids.make("f-", finding.id + "-" + finding.subject);
}

std::string article(const Finding& finding, size_t number, const std::string& id) {
    const Claim claim = split(finding.claim);
    std::string out = std::string("<article class=\"finding ") + word(finding.severity) +
                      "\" aria-labelledby=\"" + id + "\">\n<h3 id=\"" + id + "\"><span class=\"rank\">P" +
                      std::to_string(number) + "</span>" + html_prose(claim.head) + "</h3>\n";
    if (!claim.rest.empty()) out += "<p class=\"claim\">" + html_prose(claim.rest) + "</p>\n";
    out += about(finding) + "<dl class=\"argument\">\n";
    if (!finding.evidence.empty()) out += entry("Evidence", evidence_table(finding, id));
    if (!finding.counter_evidence.empty()) out += entry("Yet", paragraphs(finding.counter_evidence));
    if (!finding.nsight_compute_would_say.empty())
        out += entry("Nsight Compute would say",
                     "<p class=\"ncu\">" + html_prose(finding.nsight_compute_would_say) + "</p>");
    if (!finding.next_step.empty())
        out += entry("Next step", is_command(finding.next_step)
                                      ? html_command(finding.next_step)
                                      : "<p>" + html_prose(finding.next_step) + "</p>");
    return out + "</dl>\n</article>\n";
}

/// All claims at a glance, also of those that are folded.
std::string index(const std::vector<Finding>& findings, const std::vector<std::string>& places) {
    std::string out = "<ol class=\"index\">\n";
    for (size_t i = 0; i < findings.size(); ++i) {
        const Finding& finding = findings[i];
        std::string head = split(finding.claim).head;
        if (head.ends_with(':')) head.pop_back();
        out += "<li class=\"" + std::string(word(finding.severity)) + "\"><span class=\"rank\">P" +
               std::to_string(i + 1) + "</span><b>" + sign(finding.severity) + "\xC2\xA0" +
               word(finding.severity) + "</b> <a href=\"#" + places[i] + "\">" + html_prose(head) +
               "</a></li>\n";
    }
    return out + "</ol>\n";
}

}  // namespace

std::string html_findings(const std::vector<Finding>& findings, Ids& ids) {
    if (findings.empty()) return {};
    std::vector<std::string> places;
    for (const Finding& finding : findings) places.push_back(id_of(finding, ids));
    std::string out = findings.size() > index_from ? index(findings, places) : "", rest;
    const std::vector<FindingGroup> groups = groups_of(findings);
    for (size_t g = 0; g < groups.size(); ++g) {
        std::string& to = g < findings_open ? out : rest;
        std::string others;
        for (size_t i = groups[g].first; i < groups[g].first + groups[g].count; ++i)
            (i == groups[g].first ? to : others) += article(findings[i], i + 1, places[i]);
        if (!others.empty())
            to += "<details class=\"rest\"><summary>" + more_of(groups[g]) + "</summary>\n" + others +
                  "</details>\n";
    }
    if (rest.empty()) return out;
    const size_t more = findings_behind(groups, findings_open);
    return out + "<details class=\"rest\"><summary>" + std::to_string(more) + " more finding" +
           (more == 1 ? "" : "s") + "</summary>\n" + rest + "</details>\n";
}

}  // namespace attnscope::reports
