#include "comment.h"

#include <algorithm>

#include "../table_view.h"
#include "../unicode.h"
#include "../words.h"
#include "attnscope/render.h"
#include "escape.h"
#include "table.h"

namespace attnscope {
namespace reports {
namespace {

constexpr size_t kSentence = 360, kMostRows = 12, kMostColumns = 6, kReserve = 400;
constexpr size_t kWellBytes = 600;  // when all is well

std::string one_line(const std::string& text, size_t columns = kSentence) {
    return markdown_prose(truncate(clean(text), columns));
}

bool concerns(const Notice& notice) {
    return notice.level != NoticeLevel::info;
}

size_t count(const Report& report, Severity severity) {
    return static_cast<size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                             [&](const Finding& f) { return f.severity == severity; }));
}

std::string counted(size_t number, const char* one, const char* many) {
    return number == 0 ? "" : std::to_string(number) + (number == 1 ? one : many);
}

std::string listed(std::initializer_list<std::string> parts) {
    std::string out;
    for (const std::string& part : parts)
        if (!part.empty()) out += (out.empty() ? "" : ", ") + part;
    return out;
}

/// Sign and word: never the sign alone.
std::string verdict(const Report& report, bool well) {
    if (well) return "✅ nothing of concern";
    const auto notices = [&](NoticeLevel level) {
        return static_cast<size_t>(std::count_if(report.notices.begin(), report.notices.end(),
                                                 [&](const Notice& n) { return n.level == level; }));
    };
    const size_t lost = notices(NoticeLevel::data_loss), errors = notices(NoticeLevel::error);
    const size_t problems = count(report, Severity::problem);
    const std::string words = listed(
        {counted(lost, " loss of data", " losses of data"), counted(errors, " error", " errors"),
         counted(problems, " problem", " problems"),
         counted(count(report, Severity::warning) + notices(NoticeLevel::warning), " warning", " warnings")});
    if (lost + errors + problems > 0) return "❌ " + words;
    return words.empty() ? "• " + counted(report.findings.size(), " finding", " findings") : "▲ " + words;
}

/// The columns that say something, as many as a comment is wide, and the first rows.
Table narrow(const Table& table, size_t rows) {
    const TableView view = view_of(table);
    Table out{table.id, table.title, table.sentence, {}, {}};
    std::vector<size_t> chosen;
    for (size_t c = 0; c < view.columns.size() && chosen.size() < kMostColumns; ++c)
        if (c == 0 || view.columns[c].has_values)
            chosen.push_back(static_cast<size_t>(view.columns[c].column - table.columns.data()));
    for (const size_t c : chosen) out.columns.push_back(table.columns[c]);
    for (size_t r = 0; r < std::min(rows, table.rows.size()); ++r) {
        const Row& row = table.rows[r];
        out.rows.push_back({row.id, row.status, truncate(clean(row.note), kSentence), {}});
        for (const size_t c : chosen)
            if (c < row.cells.size()) {
                out.rows.back().cells.push_back(row.cells[c]);
                out.rows.back().cells.back().full_text.clear();
            }
    }
    return out;
}

/// As many rows as fit; how many did not.
size_t add_table(Comment& comment, const Table& table) {
    if (table.rows.empty()) return 0;
    for (size_t rows = std::min(kMostRows, table.rows.size()); rows > 0; --rows)
        if (comment.add("\n" + markdown_table(narrow(table, rows)))) return table.rows.size() - rows;
    return table.rows.size();
}

std::string finding_line(const Finding& finding) {
    return std::string("- ") + sign(finding.severity) + " " + word(finding.severity) + ": " +
           one_line(finding.claim) +
           (finding.id.empty() ? "" : " (" + markdown_code(truncate(clean(finding.id), 60)) + ")") + "\n";
}

std::string notice_line(const Notice& notice) {
    return std::string("- ") + sign(notice.level) + " " + word(notice.level) + ": " +
           one_line(notice.message) + (notice.remedy.empty() ? "" : " → " + one_line(notice.remedy)) + "\n";
}

/// What weighs most, in one sentence: what was lost or failed, else the first finding.
void add_cause(Comment& comment, const Report& report, const std::vector<const Finding*>& told) {
    for (const Notice& notice : report.notices)
        if (notice.level == NoticeLevel::data_loss || notice.level == NoticeLevel::error) {
            comment.add("\n**" + one_line(notice.message) + "**\n");
            if (!notice.remedy.empty()) comment.add("Remedy: " + one_line(notice.remedy) + "\n");
            return;
        }
    if (told.empty()) return;
    comment.add("\n**" + one_line(told.front()->claim) + "**\n");
    if (!told.front()->counter_evidence.empty())
        comment.add("Yet: " + one_line(told.front()->counter_evidence.front()) + "\n");
}

/// A fold of as many lines as fit; how many did not.
size_t add_fold(Comment& comment, const std::string& summary, const std::vector<std::string>& lines) {
    const std::string open = "\n<details><summary>" + summary + "</summary>\n\n", close = "\n</details>\n";
    if (lines.empty()) return 0;
    if (!comment.fits(open.size() + lines.front().size() + close.size())) return lines.size();
    std::string body = open;
    size_t shown = 0;
    while (shown < lines.size() && comment.fits(body.size() + lines[shown].size() + close.size()))
        body += lines[shown++];
    comment.add(body + close);
    return lines.size() - shown;
}

}  // namespace

/// The tag is inside an HTML comment: nothing of it may end the comment.
std::string comment_tag(const std::string& id) {
    std::string out;
    for (const char c : id.substr(0, 100)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '_' || c == '.';
        out += plain ? c : out.empty() || out.back() == '-' ? '_' : '-';
    }
    return "<!-- attnscope:id=" + (out.empty() ? "attnscope" : out) + " -->\n";
}

Comment::Comment(const std::string& id, size_t budget, size_t reserve)
    : text_(comment_tag(id)), budget_(std::min(budget, kCommentLimit)), reserve_(reserve) {}

void Comment::line(const std::string& markdown) {
    text_ += markdown + "\n";
}

bool Comment::add(const std::string& markdown) {
    if (!fits(markdown.size())) return false;
    text_ += markdown;
    return true;
}

std::string Comment::close(const std::string& markdown) {
    if (closes_with(markdown.size())) text_ += markdown;
    return std::move(text_);
}

}  // namespace reports

std::string render_comment(const Report& report, const CommentOptions& options) {
    using namespace reports;
    std::vector<const Finding*> told;
    for (const Finding& finding : report.findings)
        if (finding.severity >= options.from) told.push_back(&finding);
    const bool well = told.empty() && std::none_of(report.notices.begin(), report.notices.end(), concerns);
    const Banner banner = banner_of(report);
    const std::string ground = (banner.mark.empty() ? "" : banner.mark + " ") + banner.sentence;
    const std::string answer = report.answer.empty() ? report.title : report.answer.front();
    // In a comment GitHub keeps line ends: a sentence is one line.
    const auto begin = [&](size_t columns) {
        Comment comment(options.id, std::max(options.budget, kWellBytes), kReserve);
        comment.line("### attnscope: " + verdict(report, well));
        comment.line(one_line(answer, columns) + " *" + one_line(ground, columns / 2) + "*");
        return comment;
    };
    for (size_t columns = kSentence; well; columns = columns * 2 / 3)
        if (std::string text = begin(columns).close(""); text.size() <= kWellBytes) return text;
    Comment comment = begin(kSentence);
    add_cause(comment, report, told);
    const size_t rows = add_table(comment, report.implementations);
    std::vector<std::string> lines;
    for (const Notice& notice : report.notices)
        if (concerns(notice)) lines.push_back(notice_line(notice));
    for (const Finding* finding : told) lines.push_back(finding_line(*finding));
    const size_t folded = add_fold(comment,
                                   listed({counted(told.size(), " finding", " findings"),
                                           counted(lines.size() - told.size(), " notice", " notices")}),
                                   lines);
    const std::string cut = listed({counted(rows, " row", " rows"),
                                    counted(folded, " finding or notice", " findings and notices"),
                                    counted(report.sections.size(), " section", " sections")});
    std::string closing = cut.empty() ? "\n" : "\nNot shown here: " + cut + ". ";
    if (!report.commands.empty())
        closing += "The whole report: " + markdown_code(truncate(clean(report.commands.back()), 200));
    return comment.close(closing + "\n");
}

}  // namespace attnscope
