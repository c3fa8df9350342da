#include <algorithm>
#include <set>

#include "../chart_table.h"
#include "../format.h"
#include "../table_view.h"
#include "../unicode.h"
#include "../words.h"
#include "attnscope/render.h"
#include "escape.h"
#include "table.h"

namespace attnscope {
namespace reports {
namespace {

constexpr size_t width = 100;

std::string paragraph(const std::string& text) {
    return text.empty() ? "" : markdown_lines(markdown_prose(text), width) + "\n";
}

std::string item(const std::string& markdown) {
    return markdown_lines(markdown, width, "- ", "  ");
}

std::string heading(int level, const std::string& text) {
    return std::string(static_cast<size_t>(level), '#') + " " + markdown_prose(text) + "\n\n";
}

std::string folded(const std::string& summary, const std::string& body) {
    return "<details><summary>" + markdown_html(summary) + "</summary>\n\n" + body + "\n</details>\n\n";
}

/// A block of commands that no line of it can end.
std::string code_block(const std::vector<std::string>& lines) {
    std::string body;
    size_t longest = 2, run = 0;
    for (const std::string& line : lines) {
        const std::string text = clean(line);
        for (const char c : text) {
            run = c == '`' ? run + 1 : 0;
            longest = std::max(longest, run);
        }
        body += text + "\n";
    }
    const std::string fence(longest + 1, '`');
    return fence + "sh\n" + body + fence + "\n\n";
}

std::string facts(const std::vector<Fact>& list) {
    std::string out;
    for (const Fact& fact : list)
        out += item("**" + markdown_text(fact.label) + "**: " + markdown_text(fact.value));
    return out;
}

std::string value_text(const Value& value) {
    if (!is_shown(value)) return std::string(dash) + " (" + markdown_text(absent_reason(value)) + ")";
    const std::string text = format_with_words(*value.number, value.unit);
    return (is_predicted(value) ? "*" + text + "*" : "**" + text + "**") +
           superscript(tag_of(value.provenance));
}

std::string notices(const Report& report, bool first) {
    std::string out;
    for (const Notice& notice : report.notices) {
        if (notice.first != first) continue;
        std::string text = std::string(sign(notice.level)) + " **" + word(notice.level) +
                           "**: " + markdown_prose(notice.message);
        if (notice.count > 1)
            text += " (" + with_separators(static_cast<double>(notice.count), 0) + " times)";
        if (!notice.remedy.empty()) text += " → " + markdown_prose(notice.remedy);
        out += item(text);
    }
    return out.empty() ? out : (first ? "" : "Notices:\n\n") + out + "\n";
}

std::string head(const Report& report) {
    const Banner banner = banner_of(report);
    std::string out = heading(1, report.title);
    out += markdown_lines("**" + banner.mark + "** " + markdown_prose(banner.sentence), width, "> ", "> ");
    const auto listed = [&](const char* label, const std::vector<std::string>& lines) {
        for (size_t i = 0; i < lines.size(); ++i)
            out += (i == 0 ? std::string(">\n> **") + label + "**\n>\n" : "") +
                   markdown_lines(markdown_prose(lines[i]), width, "> - ", ">   ");
    };
    listed("Exact here", report.exact);
    listed("Not known here", report.not_exact);
    out += "\n" + notices(report, true);
    for (const std::string& sentence : report.answer) out += markdown_lines(markdown_prose(sentence), width);
    if (!report.answer.empty()) out += "\n";
    std::string strip;
    for (const Fact& fact : strip_of(report))
        strip += (strip.empty() ? "" : " · ") + markdown_text(fact.label) + " **" +
                 markdown_text(fact.value) + "**";
    if (!strip.empty()) out += markdown_lines(strip, width) + "\n";
    return out;
}

std::string legend(const Report& report) {
    std::string text;
    for (const LegendEntry& entry : legend_of(report))
        text += (text.empty() ? "" : " · ") + superscript(entry.letter) + " " + markdown_text(entry.meaning);
    if (text.empty()) return {};
    return markdown_lines(
               "Where numbers come from: " + text +
                   ". Numbers that no GPU measured are in *italics*; — is missing, with its reason.",
               width) +
           "\n";
}

std::string finding(const Finding& finding, size_t number) {
    std::string out = "### P" + std::to_string(number) + " " + sign(finding.severity) + " " +
                      markdown_prose(finding.claim) + "\n\n";
    std::string about = finding.subject.empty() ? "" : markdown_code(finding.subject) + " · ";
    about += std::string(word(finding.severity)) +
             (finding.id.empty() ? "" : " · rule " + markdown_code(finding.id));
    out += about + "\n\n";
    for (const Evidence& evidence : finding.evidence) {
        std::string line = markdown_text(evidence.label) + ": " + value_text(evidence.value);
        if (!evidence.compared_with.empty()) line += " (" + markdown_text(evidence.compared_with) + ")";
        if (!evidence.value.formula.empty()) line += " — " + markdown_code(evidence.value.formula);
        out += item(line);
    }
    for (const std::string& counter : finding.counter_evidence)
        out += item("**yet**: " + markdown_prose(counter));
    if (!finding.nsight_compute_would_say.empty())
        out += item("**Nsight Compute would say**: " + markdown_prose(finding.nsight_compute_would_say));
    if (!finding.next_step.empty())
        out += item("**next**: " + (is_command(finding.next_step) ? markdown_code(finding.next_step)
                                                                  : markdown_prose(finding.next_step)));
    return out + "\n";
}

std::string findings(const Report& report) {
    if (report.findings.empty()) return {};
    std::string out = heading(2, "Findings"), rest;
    const std::vector<FindingGroup> groups = groups_of(report.findings);
    for (size_t g = 0; g < groups.size(); ++g) {
        std::string others;
        for (size_t i = groups[g].first; i < groups[g].first + groups[g].count; ++i) {
            const bool aside = i > groups[g].first && g < findings_open;  // no fold within a fold
            (aside ? others : g < findings_open ? out : rest) += finding(report.findings[i], i + 1);
        }
        if (!others.empty()) out += folded(more_of(groups[g]), others);
    }
    if (!rest.empty())
        out += folded(std::to_string(findings_behind(groups, findings_open)) + " more findings", rest);
    return out;
}

/// What it shows, and its numbers, folded.
std::string picture(const Chart& chart) {
    std::string out =
        markdown_lines("**" + markdown_text(chart.title) + "**: " + markdown_prose(chart.sentence), width) +
        "\n";
    if (chart.points.empty()) return out;
    return out + folded(chart.title + " (the chart's numbers)",
                        paragraph(scales_of(chart)) + markdown_table(table_of(chart)));
}

std::string section(const Section& section, std::set<std::string>& told) {
    std::string out = heading(2, section.title) + paragraph(section.sentence);
    for (const Table& table : section.tables) {
        std::string body = paragraph(table.sentence) + markdown_table(table);
        if (const std::string names = markdown_full_names(table, told); !names.empty()) body += "\n" + names;
        out += folded(table.title + " (" + std::to_string(table.rows.size()) +
                          (table.rows.size() == 1 ? " row)" : " rows)"),
                      body);
    }
    for (const Chart& chart : section.charts) out += picture(chart);
    return out;
}

std::string columns_meaning(const Table& table) {
    std::string out;
    for (const Column& column : table.columns)
        if (!column.meaning.empty())
            out += item("**" + markdown_text(column.title) + "**: " + markdown_text(column.meaning));
    return out.empty() ? out : folded("What the columns mean", out);
}

std::string tail(const Report& report) {
    std::string out;
    if (!report.cannot_tell.empty()) {
        out += heading(2, "What this report cannot tell");
        for (const std::string& line : report.cannot_tell) out += item(markdown_prose(line));
        out += "\n";
    }
    if (!report.checks_passed.empty())
        out += folded("Checks passed (" + std::to_string(report.checks_passed.size()) + ")",
                      facts(report.checks_passed));
    if (!report.methods.rows.empty()) {
        out += heading(2, report.methods.title.empty() ? "How the numbers were made" : report.methods.title) +
               paragraph(report.methods.sentence);
        out += folded(std::to_string(report.methods.rows.size()) + " quantities",
                      markdown_table(report.methods));
    }
    if (!report.environment.empty()) out += heading(2, "Environment") + facts(report.environment) + "\n";
    if (!report.commands.empty()) out += heading(2, "Reproduce") + code_block(report.commands);
    return out;
}

}  // namespace
}  // namespace reports

std::string render_markdown(const Report& report) {
    using namespace reports;
    std::string out = head(report);
    if (!report.implementations.rows.empty()) out += markdown_table(report.implementations) + "\n";
    out +=
        notices(report, false) + legend(report) + columns_meaning(report.implementations) + findings(report);
    std::set<std::string> told;
    for (const Section& part : report.sections) out += section(part, told);
    out += tail(report);
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
}

}  // namespace attnscope
