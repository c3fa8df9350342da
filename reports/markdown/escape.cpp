#include "escape.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "../unicode.h"

namespace attnscope::reports {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80;
}

bool is_only(std::string_view word, char c) {
    return word.find_first_not_of(c) == std::string_view::npos;
}

/// A word that would begin a list item, a heading, a quotation, a fence or an underline.
bool begins_block(std::string_view word) {
    if (word.empty()) return false;
    if (word == "+" || word[0] == '>' || word.starts_with("~~~")) return true;
    if (is_only(word, '#') || is_only(word, '-') || is_only(word, '=')) return true;
    const size_t digits = word.find_first_not_of("0123456789");
    return digits != 0 && digits == word.size() - 1 && (word[digits] == '.' || word[digits] == ')');
}

/// The end of the word at `at`: a space, but not one in a code span.
size_t end_of_word(std::string_view markdown, size_t at) {
    while (at < markdown.size() && markdown[at] != ' ') {
        if (markdown[at] == '\\') {
            at += 2;
        } else if (markdown[at] == '`') {
            const size_t run = std::min(markdown.find_first_not_of('`', at), markdown.size()) - at;
            size_t close = at + run;
            for (size_t length = 0; close < markdown.size() && length != run;) {
                close = std::min(markdown.find('`', close), markdown.size());
                length = std::min(markdown.find_first_not_of('`', close), markdown.size()) - close;
                close += length;
            }
            at = close;
        } else {
            ++at;
        }
    }
    return std::min(at, markdown.size());
}

std::string guarded(std::string_view word) {
    if (!begins_block(word)) return std::string(word);
    if (word[0] < '0' || word[0] > '9') return "\\" + std::string(word);
    return std::string(word.substr(0, word.size() - 1)) + "\\" + word.back();
}

}  // namespace

std::string markdown_text(std::string_view raw) {
    const std::string text = clean(raw);
    std::string out;
    out.reserve(text.size() + 16);
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool inside_word = i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
        const bool before_word = i + 1 < text.size() && is_word(text[i + 1]);
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (std::string_view("\\`*[]|~$").find(c) != std::string_view::npos ||
                 (c == '_' && !inside_word) || (c == '!' && i + 1 < text.size() && text[i + 1] == '['))
            out += std::string("\\") + c;
        else if ((c == '@' || c == '#') && before_word)
            out += c + std::string("&#8203;");  // nobody is notified, no issue linked
        else
            out += c;
    }
    return out;
}

std::string markdown_prose(const std::string& text) {
    const auto parts = split_at_backticks(text);
    std::string out;
    for (size_t i = 0; i < parts.size(); ++i)
        out += i % 2 == 0 ? markdown_text(parts[i]) : markdown_code(parts[i]);
    return out;
}

std::string markdown_code(std::string_view raw, bool in_table) {
    std::string text = clean(raw);
    size_t longest = 0, run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    if (in_table) {
        // A backslash before an escaped bar would end the escape: a span in a table cannot hold one.
        std::string escaped;
        for (const char c : text) {
            if (c == '|')
                escaped += "\\|";
            else if (c == '\\')
                escaped += "⧵";
            else
                escaped += c;
        }
        text = std::move(escaped);
    }
    if (text.find_first_not_of(' ') == std::string::npos) return "(empty)";
    const std::string fence(longest + 1, '`');
    const bool pad = text.front() == '`' || text.back() == '`' || (text.front() == ' ' && text.back() == ' ');
    return fence + (pad ? " " : "") + text + (pad ? " " : "") + fence;
}

std::string markdown_html(std::string_view raw) {
    // Within a line of HTML nothing is Markdown; a reader of less care than CommonMark's finds no code or
    // link to open either.
    static constexpr std::pair<char, const char*> entities[] = {
        {'<', "&lt;"},  {'>', "&gt;"},  {'&', "&amp;"}, {'"', "&quot;"},
        {'`', "&#96;"}, {'[', "&#91;"}, {'*', "&#42;"}};
    std::string out;
    for (const char c : clean(raw)) {
        const auto* found = std::find_if(std::begin(entities), std::end(entities),
                                         [&](const auto& entity) { return entity.first == c; });
        if (found != std::end(entities))
            out += found->second;
        else
            out += c;
    }
    return out;
}

std::string markdown_lines(std::string_view markdown, size_t width, std::string_view first,
                           std::string_view others) {
    std::string out, line(first);
    bool empty = true;
    size_t used = width_of(first);
    for (size_t at = 0; at < markdown.size();) {
        const size_t end = end_of_word(markdown, at);
        const std::string_view word = markdown.substr(at, end - at);
        at = end + 1;
        if (word.empty()) continue;
        const size_t columns = width_of(word);
        if (!empty && used + 1 + columns > width) {
            out += line + "\n";
            line = others;
            used = width_of(others);
            empty = true;
        }
        if (!empty) line += ' ', ++used;
        line += empty ? guarded(word) : std::string(word);
        used += columns;
        empty = false;
    }
    return out + line + "\n";
}

}  // namespace attnscope::reports
