#include "writer.h"

#include <algorithm>

#include "../unicode.h"
#include "../words.h"

namespace attnscope::reports {
namespace {

const char* code_of(Style style) {
    switch (style) {
        case Style::plain:
            return "";
        case Style::bold:
            return "\033[1m";
        case Style::dim:
            return "\033[2m";
        case Style::good:
            return "\033[32m";
        case Style::warning:
            return "\033[33m";
        case Style::problem:
            return "\033[31m";
        case Style::heading:
            return "\033[1;4m";
    }
    return "";
}

}  // namespace

TextWriter::TextWriter(TextOptions options, bool hide_virtual)
    : width_(std::max<size_t>(options.width, 40)), color_(options.color), hide_virtual_(hide_virtual) {}

std::string TextWriter::tag(std::string tag) const {
    if (hide_virtual_ && tag.ends_with('v')) tag.pop_back();
    return superscript(tag);
}

std::string TextWriter::styled(std::string_view text, Style style) const {
    if (!color_ || style == Style::plain || text.empty()) return std::string(text);
    return code_of(style) + std::string(text) + "\033[0m";
}

void TextWriter::blank() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
}

void TextWriter::heading(std::string_view title) {
    blank();
    for (const std::string& part : wrap(clean(title), width_)) line(styled(part, Style::heading));
}

void TextWriter::paragraph(std::string_view first, std::string_view text, Style style) {
    const std::string lead = truncate(first, width_ / 2);
    const size_t indent = width_of(lead);
    bool is_first = true;
    for (const std::string& part : wrap(clean(text), width_ - indent)) {
        line((is_first ? lead : std::string(indent, ' ')) + styled(part, style));
        is_first = false;
    }
    if (is_first && !lead.empty()) line(lead.substr(0, lead.find_last_not_of(' ') + 1));
}

void TextWriter::command(std::string_view first, std::string_view text, Style style) {
    const std::vector<std::string> lines = shell_lines(clean(text), width_, width_of(first));
    if (lines.empty()) return paragraph(first, text, style);
    line(std::string(first) + styled(lines.front(), style));
    for (size_t i = 1; i < lines.size(); ++i) {
        constexpr size_t indent = 4;  // shell_lines'
        line(lines[i].substr(0, indent) + styled(lines[i].substr(indent), style));
    }
}

std::string aligned(const std::string& text, size_t columns, bool right) {
    const std::string padding(columns - std::min(columns, width_of(text)), ' ');
    return right ? padding + text : text + padding;
}

void TextWriter::rule(size_t columns) {
    std::string dashes;
    for (size_t i = 0; i < columns; ++i) dashes += "─";
    line(styled(dashes, Style::dim));
}

void TextWriter::line(std::string_view text) {
    out_ += text;
    out_ += '\n';
}

}  // namespace attnscope::reports
