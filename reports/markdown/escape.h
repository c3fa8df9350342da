#pragma once
// Foreign text in Markdown: it reads as it is and does nothing.
#include <string>
#include <string_view>

namespace attnscope::reports {

/// Inline text: no emphasis, code, link, image, HTML, table cell, mention or mathematics comes of it.
std::string markdown_text(std::string_view text);

/// The same for our own sentences, which quote names in backticks: "an `attnscope.iteration` range".
std::string markdown_prose(const std::string& text);

/// A code span. In a table, a bar needs a backslash even here.
std::string markdown_code(std::string_view text, bool in_table = false);

/// For inside an HTML element that Markdown passes through, as <summary>.
std::string markdown_html(std::string_view text);

/// Lines of about `width` columns of Markdown that was escaped before; no line begins with what would make it
/// a list, heading or rule.
std::string markdown_lines(std::string_view markdown, size_t width, std::string_view first = {},
                           std::string_view others = {});

}  // namespace attnscope::reports
