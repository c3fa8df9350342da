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

/// One self-contained page: no script, no network, well-formed as XML too. The JSON below is embedded in it.
std::string render_html(const Report& report);

/// {"schema":"attnscope-report","version":"2.0",...}: everything, unrounded (reports/report.schema.json).
std::string render_json(const Report& report);

}  // namespace attnscope
