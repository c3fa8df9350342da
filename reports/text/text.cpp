#include <utility>

#include "../chart_table.h"
#include "../format.h"
#include "../unicode.h"
#include "../words.h"
#include "table.h"

namespace attnscope {
namespace reports {
namespace {

constexpr size_t findings_short = 3, evidence_short = 3;

Style style_of(Severity severity) {
    switch (severity) {
        case Severity::good:
            return Style::good;
        case Severity::info:
            return Style::plain;
        case Severity::warning:
            return Style::warning;
        case Severity::problem:
            return Style::problem;
    }
    return Style::plain;
}

void write_facts(TextWriter& writer, const std::vector<Fact>& facts) {
    size_t widest = 0;
    for (const Fact& fact : facts) widest = std::max(widest, width_of(clean(fact.label)));
    widest = std::min(widest, writer.width() / 3);
    for (const Fact& fact : facts) {
        std::string label = truncate(clean(fact.label), widest);
        label += std::string(widest - width_of(label) + 2, ' ');
        writer.paragraph(label, fact.value);
    }
}

void write_strip(TextWriter& writer, const Report& report) {
    std::string strip;
    for (const Fact& fact : strip_of(report))
        strip += (strip.empty() ? "" : " · ") + fact.label + " " + fact.value;
    writer.paragraph("", strip, Style::dim);
}

void write_banner(TextWriter& writer, const Report& report, bool all) {
    const Banner banner = banner_of(report);
    writer.paragraph(banner.mark + " ", banner.sentence, Style::bold);
    if (!all) return;
    for (const std::string& line : report.exact) writer.paragraph("  exact: ", line);
    for (const std::string& line : report.not_exact) writer.paragraph("  not known: ", line);
}

void write_notices(TextWriter& writer, const Report& report, bool first) {
    bool blank = !first;
    for (const Notice& notice : report.notices) {
        if (notice.first != first) continue;
        if (std::exchange(blank, false)) writer.blank();
        const std::string times =
            notice.count > 1 ? " (" + with_separators(static_cast<double>(notice.count), 0) + " times)" : "";
        const Style style = notice.level == NoticeLevel::info      ? Style::plain
                            : notice.level == NoticeLevel::warning ? Style::warning
                                                                   : Style::problem;
        const std::string remedy = notice.remedy.empty() ? "" : " → " + notice.remedy;
        writer.paragraph(std::string(sign(notice.level)) + " " + word(notice.level) + ": ",
                         notice.message + times + remedy, style);
    }
}

std::string line_of(const TextWriter& writer, const Evidence& evidence) {
    std::string line = evidence.label + " ";
    if (is_shown(evidence.value))
        line += format_with_words(*evidence.value.number, evidence.value.unit) +
                writer.tag(tag_of(evidence.value.provenance));
    else
        line += "— (" + absent_reason(evidence.value) + ")";
    if (!evidence.compared_with.empty()) line += " (" + evidence.compared_with + ")";
    return line;
}

void write_step(TextWriter& writer, const std::string& lead, const std::string& step, Style style) {
    if (is_command(step))
        writer.command(lead, step, style);
    else
        writer.paragraph(lead, step, style);
}

void write_finding(TextWriter& writer, const Finding& finding, size_t number, bool all) {
    writer.blank();
    const std::string lead = "P" + std::to_string(number) + " " + sign(finding.severity) + " ";
    const std::string subject =
        finding.subject.empty() || finding.claim.starts_with(finding.subject) ? "" : finding.subject + ": ";
    writer.paragraph(lead, subject + finding.claim, style_of(finding.severity));
    const std::string indent = "     ";
    if (all) {
        for (const Evidence& evidence : finding.evidence) {
            const std::string& formula = evidence.value.formula;
            writer.paragraph(indent + "evidence: ",
                             line_of(writer, evidence) + (formula.empty() ? "" : " = " + formula));
        }
    } else if (!finding.evidence.empty()) {
        std::string line;
        const size_t shown = std::min(evidence_short, finding.evidence.size());
        for (size_t i = 0; i < shown; ++i) line += (i > 0 ? "; " : "") + line_of(writer, finding.evidence[i]);
        if (shown < finding.evidence.size())
            line += "; and " + std::to_string(finding.evidence.size() - shown) + " more";
        writer.paragraph(indent + "evidence: ", line);
    }
    for (const std::string& counter : finding.counter_evidence) {
        writer.paragraph(indent + "yet: ", counter);
        if (!all) break;
    }
    if (!finding.nsight_compute_would_say.empty() && all)
        writer.paragraph(indent + "Nsight Compute would say: ", finding.nsight_compute_would_say);
    if (!finding.next_step.empty() && all)
        write_step(writer, indent + "next: ", finding.next_step, Style::plain);
}

void write_findings(TextWriter& writer, const Report& report, bool all) {
    if (report.findings.empty()) return;
    writer.heading("Findings");
    const std::vector<FindingGroup> groups = groups_of(report.findings);
    const size_t shown = all ? groups.size() : std::min(findings_short, groups.size());
    for (size_t g = 0; g < shown; ++g) {
        const size_t first = groups[g].first;
        write_finding(writer, report.findings[first], first + 1, all);
        for (size_t i = first + 1; all && i < first + groups[g].count; ++i)
            write_finding(writer, report.findings[i], i + 1, all);
        if (!all && groups[g].count > 1) writer.paragraph("     and ", more_of(groups[g]) + ".", Style::dim);
    }
    if (shown < groups.size()) {
        writer.blank();
        writer.paragraph("",
                         "… and " + std::to_string(findings_behind(groups, shown)) +
                             " more in the Markdown or HTML report.",
                         Style::dim);
    }
}

void write_list(TextWriter& writer, const char* title, const std::vector<std::string>& lines,
                const std::string& bullet) {
    if (lines.empty()) return;
    writer.heading(title);
    for (const std::string& line : lines) writer.paragraph(bullet, line);
}

/// Its numbers: a terminal has the table, the pages have the picture.
void write_chart(TextWriter& writer, const Chart& chart) {
    writer.blank();
    writer.paragraph("", chart.title, Style::bold);
    writer.paragraph("", chart.sentence);
    if (chart.points.empty()) return;
    writer.paragraph("", scales_of(chart));
    write_table(writer, table_of(chart));
}

void write_details(TextWriter& writer, const Report& report) {
    for (const Section& section : report.sections) {
        writer.heading(section.title);
        writer.paragraph("", section.sentence);
        for (const Chart& chart : section.charts) write_chart(writer, chart);
        for (const Table& table : section.tables) {
            writer.blank();
            writer.paragraph("", table.title, Style::bold);
            writer.paragraph("", table.sentence);
            write_table(writer, table);
        }
    }
    write_list(writer, "What this report cannot tell", report.cannot_tell, "- ");
    if (!report.checks_passed.empty()) {
        writer.heading("Checks passed (" + std::to_string(report.checks_passed.size()) + ")");
        write_facts(writer, report.checks_passed);
    }
    if (!report.methods.rows.empty()) {
        writer.heading(report.methods.title.empty() ? "How the numbers were made" : report.methods.title);
        write_table(writer, report.methods);
    }
    if (!report.environment.empty()) {
        writer.heading("Environment");
        write_facts(writer, report.environment);
    }
}

void write_legend(TextWriter& writer, const Report& report) {
    std::string legend;
    bool cited = false;
    for (const LegendEntry& entry : legend_of(report)) {
        const std::string letter = writer.tag(entry.letter);
        cited = cited || entry.letter == "i";
        legend += (legend.empty() ? "" : " · ") +
                  (!letter.empty() ? letter
                   : cited         ? "all others"
                                   : "all") +
                  " " + entry.meaning;
    }
    if (!legend.empty()) writer.paragraph("", legend, Style::dim);
    if (report.implementations.rows.empty()) return;
    for (const Row& row : report.implementations.rows)
        if (row.status == RowStatus::best) return writer.paragraph("", "★ best", Style::dim);
}

void write_next(TextWriter& writer, const Report& report) {
    // A report of findings alone says it with each.
    if (report.implementations.rows.empty() && !report.findings.empty()) return;
    std::string next;
    for (const Finding& finding : report.findings)
        if (next.empty()) next = finding.next_step;
    if (next.empty() && !report.commands.empty()) next = report.commands.front();
    if (next.empty()) return;
    writer.blank();
    write_step(writer, "Next: ", next, Style::bold);
}

}  // namespace
}  // namespace reports

std::string render_text(const Report& report, TextOptions options) {
    using namespace reports;
    TextWriter writer(options, is_all_virtual(report));
    write_banner(writer, report, options.details);
    write_notices(writer, report, true);
    writer.blank();
    writer.paragraph("", report.title, Style::bold);
    write_strip(writer, report);
    writer.blank();
    for (const std::string& sentence : report.answer) writer.paragraph("", sentence);
    if (!report.implementations.rows.empty()) {
        writer.blank();
        write_table(writer, report.implementations);
    }
    write_notices(writer, report, false);
    write_findings(writer, report, options.details);
    if (options.details) write_details(writer, report);
    writer.blank();
    write_legend(writer, report);
    write_next(writer, report);
    return writer.take();
}

}  // namespace attnscope
