#pragma once
// A Report as bytes. Renderers format; they compute nothing, and never fail: what is missing, hostile or not
// UTF-8 is shown as such.
#include <cstddef>
#include <string>

#include "attnscope/report.h"

namespace attnscope {

struct TextOptions {
    size_t width = 80;     ///< columns of the terminal; no line is longer (40 at least)
    bool color = false;    ///< ANSI colours; the caller knows NO_COLOR, TERM and whether it is a terminal
    bool details = false;  ///< everything; else the banner, answer, table, notices and at most three findings
};

std::string render_text(const Report& report, TextOptions options = {});

/// For people: GitHub, GitLab, or as plain text.
std::string render_markdown(const Report& report);

/// Limits of GitHub: a comment's body; and what a reader of one bears with. Bytes.
inline constexpr size_t kCommentLimit = 65536, kCommentBudget = 4096;

struct CommentOptions {
    std::string id = "attnscope";       ///< tells comments on one pull request apart
    size_t budget = kCommentBudget;     ///< bytes, 600 at least; never more than kCommentLimit
    Severity from = Severity::warning;  ///< findings below are not told
};

/// Markdown for a pull request: its first line is a tag by which a poster finds the comment again:
/// `<!-- attnscope:id=ID -->`; then the verdict, one cause, at most twelve rows, and the rest folded, no
/// longer than the budget: what is left out is counted. Two lines after the tag when all is well.
std::string render_comment(const Report& report, const CommentOptions& options);

/// One self-contained page: no script, no network, well-formed as XML too. The JSON below is embedded in it.
std::string render_html(const Report& report);

/// {"schema":"attnscope-report","version":"2.1",...}: everything, unrounded (reports/report.schema.json);
/// `indented`: a line for each value, else one line.
std::string render_json(const Report& report, bool indented = true);

}  // namespace attnscope
