#include "finding.h"

#include "../words.h"
#include "table.h"
#include "value.h"

namespace attnscope::reports {
namespace {

std::string evidence_table(const Finding& finding, const std::string& heading) {
    std::string out = scroll_region(heading) +
                      "<table class=\"evidence\"><caption class=\"sr\">Evidence for " + html(finding.claim) +
                      "</caption>\n<thead><tr><th scope=\"col\">quantity</th><th scope=\"col\" "
                      "class=\"n\">value</th><th scope=\"col\">against</th>"
                      "<th scope=\"col\">how it was made</th></tr></thead>\n<tbody>\n";
    for (const Evidence& evidence : finding.evidence) {
        const Value& value = evidence.value;
        Value shown = value;
        shown.formula.clear();  // it has a column of its own
        out += "<tr><th scope=\"row\">" + html(evidence.label) + "</th><td class=\"n\">" + html_value(shown) +
               "</td><td>" + html(evidence.compared_with) + "</td><td>";
        if (!value.formula.empty())
            out += "<code>" + html(value.formula) + "</code>";
        else if (is_shown(value))
            out += html(describe(value.provenance.source));
        out += "</td></tr>\n";
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

}  // namespace

std::string html_finding(const Finding& finding, size_t number, Ids& ids) {
    const std::string id = ids.make("f-", finding.id + "-" + finding.subject);
    std::string out = std::string("<article class=\"finding ") + word(finding.severity) +
                      "\" aria-labelledby=\"" + id + "\">\n<h3 id=\"" + id + "\"><span class=\"rank\">P" +
                      std::to_string(number) + "</span>" + html_prose(finding.claim) +
                      "</h3>\n<p class=\"about\"><b>" + sign(finding.severity) + "\xC2\xA0" +
                      word(finding.severity) + "</b>";
    if (!finding.subject.empty()) out += " · <code>" + html(finding.subject) + "</code>";
    if (!finding.id.empty()) out += " · rule <code>" + html(finding.id) + "</code>";
    out += "</p>\n<dl class=\"argument\">\n";
    if (!finding.evidence.empty()) out += entry("Evidence", evidence_table(finding, id));
    if (!finding.counter_evidence.empty()) out += entry("Yet", paragraphs(finding.counter_evidence));
    if (!finding.nsight_compute_would_say.empty())
        out += entry("Nsight Compute would say",
                     "<p class=\"ncu\">" + html_prose(finding.nsight_compute_would_say) + "</p>");
    if (!finding.next_step.empty()) {
        const std::string step = html(finding.next_step);
        out += entry("Next step", is_command(finding.next_step)
                                      ? "<pre><code>" + step + "</code></pre>"
                                      : "<p>" + html_prose(finding.next_step) + "</p>");
    }
    return out + "</dl>\n</article>\n";
}

}  // namespace attnscope::reports
