#include "words.h"

#include <array>

#include "format.h"
#include "unicode.h"

namespace attnscope::reports {
namespace {

struct SourceWords {
    char letter;
    const char* superscript;
    const char* meaning;
};
// In the order of Source and of Ground.
constexpr std::array<SourceWords, 6> sources{{{'c', "ᶜ", "hardware counter, read through CUPTI"},
                                              {'t', "ᵗ", "recorded launch or copy (CUPTI activity)"},
                                              {'b', "ᵇ", "read from the binary (cubin)"},
                                              {'=', "⁼", "computed exactly from other values"},
                                              {'m', "ᵐ", "model: an estimate or a bound, by its formula"},
                                              {'r', "ʳ", "reported by LibTorch, its allocator or NVML"}}};
constexpr std::array<SourceWords, 4> grounds{{{' ', "", "real GPU"},
                                              {'i', "ⁱ", "from elsewhere: another tool's file, or published"},
                                              {'f', "ᶠ", "fixture: made for a test"},
                                              {'v', "ᵛ", "virtual GPU: predicted, nothing was measured"}}};

const SourceWords& words_of(Source source) {
    return sources.at(static_cast<size_t>(source));
}
const SourceWords& words_of(Ground ground) {
    return grounds.at(static_cast<size_t>(ground));
}

void visit_table(const Table& table, const std::function<void(const Value&)>& visit) {
    for (const Row& row : table.rows)
        for (const Cell& cell : row.cells)
            if (cell.text.empty()) visit(cell.value);
}

}  // namespace

std::string tag_of(const Provenance& provenance) {
    std::string tag(1, words_of(provenance.source).letter);
    if (provenance.ground != Ground::real) tag += words_of(provenance.ground).letter;
    return tag;
}

std::string superscript(const std::string& tag) {
    std::string out;
    for (const char letter : tag) {
        for (const auto& entry : sources)
            if (entry.letter == letter) out += entry.superscript;
        for (const auto& entry : grounds)
            if (entry.letter == letter) out += entry.superscript;
    }
    return out;
}

std::string superscript(size_t number) {
    static constexpr std::array digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string out;
    for (const char digit : std::to_string(number)) out += digits.at(static_cast<size_t>(digit - '0'));
    return out;
}

const char* describe(Source source) {
    return words_of(source).meaning;
}

std::vector<LegendEntry> legend_of(const Report& report) {
    std::array<bool, sources.size()> used_sources{};
    std::array<bool, grounds.size()> used_grounds{};
    for_each_value(report, [&](const Value& value) {
        if (!is_shown(value)) return;
        used_sources.at(static_cast<size_t>(value.provenance.source)) = true;
        used_grounds.at(static_cast<size_t>(value.provenance.ground)) = true;
    });
    std::vector<LegendEntry> legend;
    for (size_t i = 0; i < sources.size(); ++i)
        if (used_sources[i]) legend.push_back({std::string(1, sources[i].letter), sources[i].meaning});
    for (size_t i = 1; i < grounds.size(); ++i)
        if (used_grounds[i]) legend.push_back({std::string(1, grounds[i].letter), grounds[i].meaning});
    return legend;
}

const char* sign(Severity severity) {
    switch (severity) {
        case Severity::good:
            return "✓";
        case Severity::info:
            return "•";
        case Severity::warning:
            return "▲";
        case Severity::problem:
            return "✕";
    }
    return "?";
}

const char* word(Severity severity) {
    switch (severity) {
        case Severity::good:
            return "good";
        case Severity::info:
            return "info";
        case Severity::warning:
            return "warning";
        case Severity::problem:
            return "problem";
    }
    return "?";
}

const char* sign(NoticeLevel level) {
    switch (level) {
        case NoticeLevel::info:
            return "•";
        case NoticeLevel::warning:
            return "▲";
        case NoticeLevel::error:
            return "✕";
        case NoticeLevel::data_loss:
            return "✕";
    }
    return "?";
}

const char* word(NoticeLevel level) {
    switch (level) {
        case NoticeLevel::info:
            return "note";
        case NoticeLevel::warning:
            return "warning";
        case NoticeLevel::error:
            return "error";
        case NoticeLevel::data_loss:
            return "data lost";
    }
    return "?";
}

const char* sign(RowStatus status) {
    switch (status) {
        case RowStatus::normal:
            return "";
        case RowStatus::best:
            return "★";
        case RowStatus::refused:
            return "✕";
        case RowStatus::failed:
            return "✕";
        case RowStatus::not_run:
            return "○";
    }
    return "?";
}

const char* word(RowStatus status) {
    switch (status) {
        case RowStatus::normal:
            return "";
        case RowStatus::best:
            return "best";
        case RowStatus::refused:
            return "refused";
        case RowStatus::failed:
            return "failed";
        case RowStatus::not_run:
            return "not run";
    }
    return "?";
}

const char* word(Chart::Kind kind) {
    switch (kind) {
        case Chart::Kind::bars:
            return "bars";
        case Chart::Kind::stacked_bars:
            return "stacked bars";
        case Chart::Kind::dots:
            return "dots";
        case Chart::Kind::scatter:
            return "scatter";
        case Chart::Kind::lanes:
            return "lanes";
    }
    return "?";
}

bool is_predicted(const Value& value) {
    return value.provenance.ground == Ground::virtual_gpu || value.provenance.ground == Ground::fixture;
}

bool is_all_virtual(const Report& report) {
    bool all = true, any = false;
    for_each_value(report, [&](const Value& value) {
        all = all && (!is_shown(value) || value.provenance.ground == Ground::virtual_gpu ||
                      value.provenance.ground == Ground::imported);
        any = any || (is_shown(value) && value.provenance.ground == Ground::virtual_gpu);
    });
    return all && (any || report.predicted);
}

Banner banner_of(const Report& report) {
    const size_t end = report.banner.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (end != std::string::npos && end >= 4 && report.banner[end] == ' ')
        return {report.banner.substr(0, end), report.banner.substr(end + 1)};
    return {report.predicted ? "PREDICTED" : "MEASURED", report.banner};
}

bool is_command(const std::string& next_step) {
    for (const char* start : {"attnscope ", "./", "examples/", "python", "cmake ", "$ "})
        if (next_step.starts_with(start)) return true;
    return false;
}

void for_each_value(const Report& report, const std::function<void(const Value&)>& visit) {
    visit_table(report.implementations, visit);
    for (const Finding& finding : report.findings)
        for (const Evidence& evidence : finding.evidence) visit(evidence.value);
    for (const Section& section : report.sections) {
        for (const Chart& chart : section.charts)
            for (const Chart::Point& point : chart.points) {
                visit(point.x);
                visit(point.y);
            }
        for (const Table& table : section.tables) visit_table(table, visit);
    }
    visit_table(report.methods, visit);
}

std::vector<std::string> shell_lines(const std::string& command, size_t width, size_t lead) {
    std::vector<std::string> words(1);
    bool quoted = false, escaped = false;
    for (const char c : command) {
        const bool literal = escaped;  // behind a backslash that no quotes hold
        escaped = c == '\\' && !quoted && !literal;
        if (c == '\'' && !literal) quoted = !quoted;
        if (c == ' ' && !quoted && !literal)
            words.emplace_back();
        else
            words.back() += c;
    }
    std::vector<std::string> lines = {words.front()};
    for (size_t i = 1; i < words.size(); ++i) {
        const size_t before = lines.size() == 1 ? lead : 0;
        if (before + width_of(lines.back()) + 1 + width_of(words[i]) + 2 <= width)
            lines.back() += " " + words[i];
        else
            lines.push_back("    " + words[i]);
    }
    for (size_t i = 0; i < lines.size(); ++i)
        if (quoted || (i == 0 ? lead : 0) + width_of(lines[i]) + 2 > width) return {};
    for (size_t i = 0; i + 1 < lines.size(); ++i) lines[i] += " \\";
    return lines;
}

std::vector<Fact> strip_of(const Report& report) {
    std::vector<Fact> out;
    for (const Fact& fact : report.strip)
        if (!report.title.ends_with(": " + fact.value)) out.push_back(fact);
    return out;
}

std::vector<FindingGroup> groups_of(const std::vector<Finding>& findings) {
    std::vector<FindingGroup> out;
    for (size_t i = 0; i < findings.size(); ++i) {
        const bool same = i > 0 && !findings[i].id.empty() && findings[i].id == findings[i - 1].id &&
                          findings[i].severity == findings[i - 1].severity;
        if (!same) out.push_back({i, 0});
        ++out.back().count;
    }
    return out;
}

std::string more_of(const FindingGroup& group) {
    return group.count > 1 ? std::to_string(group.count - 1) + " more of this rule" : std::string();
}

size_t findings_behind(const std::vector<FindingGroup>& groups, size_t shown) {
    size_t count = 0;
    for (size_t g = shown; g < groups.size(); ++g) count += groups[g].count;
    return count;
}

}  // namespace attnscope::reports
