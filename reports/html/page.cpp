#include <algorithm>

#include "../table_view.h"
#include "../unicode.h"
#include "../words.h"
#include "attnscope/render.h"
#include "chart.h"
#include "embedded_json.h"
#include "finding.h"
#include "style.h"
#include "table.h"
#include "value.h"

namespace attnscope {
namespace reports {
namespace {

constexpr size_t title_width = 240, strip_width = 100;  // of a first screen; the environment has all

std::string items(const std::vector<std::string>& lines) {
    std::string out = "<ul>\n";
    for (const std::string& line : lines) out += "<li>" + html_prose(line) + "</li>\n";
    return out + "</ul>\n";
}

std::string facts(const std::vector<Fact>& list, const char* css) {
    std::string out = "<dl class=\"" + std::string(css) + "\">\n";
    for (const Fact& fact : list)
        out += "<div><dt>" + html(fact.label) + "</dt><dd>" + html(fact.value) + "</dd></div>\n";
    return out + "</dl>\n";
}

struct Part {
    std::string id, title, body;
};

/// Everything below the first screen, in order, so that the contents can list it.
class Parts {
  public:
    explicit Parts(Ids& ids) : ids_(ids) {}

    void add(const std::string& id, const std::string& title, std::string body) {
        if (!body.empty()) parts_.push_back({ids_.make("", id), title, std::move(body)});
    }

    std::string contents() const {
        std::string out = "<nav aria-label=\"Contents\"><ul>";
        for (const Part& part : parts_)
            out += "<li><a href=\"#" + part.id + "\">" + html(part.title) + "</a></li>";
        return parts_.empty() ? "" : out + "</ul></nav>\n";
    }

    std::string bodies() const {
        std::string out;
        for (const Part& part : parts_)
            out += "<section aria-labelledby=\"" + part.id + "\">\n<h2 id=\"" + part.id + "\">" +
                   html(part.title) + "</h2>\n" + part.body + "</section>\n";
        return out;
    }

  private:
    Ids& ids_;
    std::vector<Part> parts_;
};

std::string title(const Report& report) {
    return html(report.title.empty() ? "attnscope report" : truncate(clean(report.title), title_width));
}

std::string head(const Report& report) {
    // No script, no connection, no image, frame, form or base: whatever a trace smuggles in has nothing to
    // call.
    return "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
           "charset=\"utf-8\"/>\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '" +
           style_hash() +
           "'; base-uri 'none'; form-action 'none'\"/>\n<meta name=\"viewport\" "
           "content=\"width=device-width, initial-scale=1\"/>\n"
           "<meta name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"generator\" "
           "content=\"attnscope " ATTNSCOPE_VERSION "\"/>\n<title>" +
           title(report) + (report.predicted ? " (predicted)" : "") + "</title>\n<style>" +
           std::string(style_sheet()) + "</style>\n</head>\n";
}

std::string notices(const Report& report, bool first) {
    std::string out;
    for (const Notice& notice : report.notices) {
        if (notice.first != first) continue;
        const bool bad = notice.level == NoticeLevel::error || notice.level == NoticeLevel::data_loss;
        out += std::string("<li class=\"") +
               (bad                                    ? "problem"
                : notice.level == NoticeLevel::warning ? "warning"
                                                       : "info") +
               "\"><b>" + sign(notice.level) + "\xC2\xA0" + word(notice.level) + "</b> " +
               html_prose(notice.message);
        if (notice.count > 1) out += " (" + with_separators(static_cast<double>(notice.count), 0) + " times)";
        if (!notice.remedy.empty())
            out += " <span class=\"remedy\">→ " + html_prose(notice.remedy) + "</span>";
        out += "</li>\n";
    }
    if (out.empty()) return out;
    return "<ul class=\"notices\" aria-label=\"" + std::string(first ? "What is missing" : "Notices") +
           "\">\n" + out + "</ul>\n";
}

std::string scope(const Report& report) {
    if (report.exact.empty() && report.not_exact.empty()) return {};
    std::string out = "<div class=\"scope\">\n";
    if (!report.exact.empty()) out += "<div><h2>Exact here</h2>\n" + items(report.exact) + "</div>\n";
    if (!report.not_exact.empty())
        out += "<div><h2>Not known here</h2>\n" + items(report.not_exact) + "</div>\n";
    return out + "</div>\n";
}

std::string legend(const Report& report) {
    std::string out;
    for (const LegendEntry& entry : legend_of(report))
        out += "<span><sup>" + entry.letter + "</sup>\xC2\xA0" + html(entry.meaning) + "</span> ";
    if (out.empty()) return {};
    return "<p class=\"key\"><b>Where numbers come from:</b> " + out +
           "<span><i>italics</i> no GPU measured it</span> <span>— missing, with its reason</span></p>\n";
}

std::string section_body(const Section& section, Ids& ids) {
    std::string out = section.sentence.empty() ? "" : "<p>" + html_prose(section.sentence) + "</p>\n";
    out += html_charts(section.charts, ids);
    std::string shown_help;  // tables of one section that have the same columns explain them once
    for (const Table& table : section.tables) {
        std::string key;
        for (const Column& column : table.columns) key += column.id + column.meaning + "\n";
        TableOptions options;
        options.column_help = key != shown_help;
        options.fold = options.same_once = true;
        shown_help = key;
        out += html_table(table, ids, options);
    }
    return out.empty() ? "<p class=\"empty\">Nothing here.</p>\n" : out;
}

std::string commands(const Report& report) {
    std::string out;
    for (const std::string& command : report.commands) out += html_command(command) + "\n";
    return out;
}

std::string data(const Report& report) {
    return "<p>" + json_link(report) +
           " holds every number, unrounded, with its unit, source and formula. It is inside this page; in a "
           "shell:</p>\n" +
           html_command(json_command()) + "\n";
}

std::vector<Fact> strip(const Report& report) {
    std::vector<Fact> out = strip_of(report);
    for (Fact& fact : out) fact.value = truncate(clean(fact.value), strip_width);
    return out;
}

std::string first_screen(const Report& report, Ids& ids) {
    std::string out = notices(report, true) + "<section class=\"first\" aria-label=\"Answer\">\n";
    if (!report.answer.empty()) {
        out += "<div class=\"answer\">\n";
        for (const std::string& sentence : report.answer) out += "<p>" + html_prose(sentence) + "</p>\n";
        out += "</div>\n";
    }
    out += html_table_in_two(report.implementations, ids);
    return out + notices(report, false) + "</section>\n";
}

}  // namespace
}  // namespace reports

std::string render_html(const Report& report) {
    using namespace reports;
    Ids ids;
    const Banner banner = banner_of(report);
    for (const char* taken : {"main", "attnscope-report"}) ids.make("", taken);
    const std::string first = first_screen(report, ids);
    Parts parts(ids);
    parts.add("findings", "Findings", html_findings(report.findings, ids));
    if (!report.checks_passed.empty())
        parts.add("checks", "Checks passed",
                  "<details><summary>" + std::to_string(report.checks_passed.size()) +
                      " checks passed</summary>\n" + facts(report.checks_passed, "facts") + "</details>\n");
    if (!report.cannot_tell.empty())
        parts.add("cannot-tell", "What this report cannot tell", items(report.cannot_tell));
    for (const Section& section : report.sections)
        parts.add(section.id.empty() ? "section" : section.id, section.title, section_body(section, ids));
    if (!report.methods.rows.empty()) {
        const std::string title =
            report.methods.title.empty() ? "How the numbers were made" : report.methods.title;
        parts.add("methods", title, html_table(report.methods, ids, {.title = false}));
    }
    if (!report.environment.empty())
        parts.add("environment", "Environment", facts(report.environment, "facts"));
    parts.add("reproduce", "Reproduce", commands(report));
    parts.add("data", "All of this as data", data(report));

    const std::vector<Fact> ran_where = strip(report);
    std::string out =
        head(report) + "<body>\n<a class=\"skip\" href=\"#main\">Skip to the answer</a>\n<header>\n<h1>" +
        title(report) + "</h1>\n" + (ran_where.empty() ? "" : facts(ran_where, "strip")) +
        "</header>\n<section class=\"banner " + (report.predicted ? "predicted" : "measured") +
        "\" aria-label=\"Predicted or measured\"><p><strong>" + banner.mark + "</strong> <span>" +
        html_prose(banner.sentence) + "</span></p></section>\n<main id=\"main\" tabindex=\"-1\">\n";
    out += first + scope(report) + legend(report) + parts.contents() + parts.bodies();
    out += "</main>\n<footer><p>Made by attnscope " ATTNSCOPE_VERSION
           ". This page has no script and loads nothing.</p></footer>\n</body>\n</html>\n";
    return out;
}

}  // namespace attnscope
