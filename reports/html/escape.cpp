#include "escape.h"

#include <cctype>

#include "../unicode.h"
#include "../words.h"

namespace attnscope::reports {

std::string html(std::string_view raw) {
    std::string out;
    out.reserve(raw.size() + 16);
    for (const char c : clean(raw)) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else if (c == '\'')
            out += "&#39;";
        else
            out += c;
    }
    return out;
}

std::string html_prose(const std::string& text) {
    const auto parts = split_at_backticks(text);
    std::string out;
    for (size_t i = 0; i < parts.size(); ++i)
        out += i % 2 == 0 ? html(parts[i]) : "<code>" + html(parts[i]) + "</code>";
    return out;
}

std::string html_command(const std::string& command) {
    constexpr size_t width = 96;
    std::string out;
    for (const std::string& line : shell_lines(clean(command), width))
        out += (out.empty() ? "" : "\n") + html(line);
    return "<pre><code>" + (out.empty() ? html(command) : out) + "</code></pre>";
}

std::string Ids::make(std::string_view prefix, std::string_view name) {
    std::string id(prefix);
    for (const char c : name.substr(0, 60)) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            id += c;
        else if (!id.ends_with('-'))
            id += '-';
    }
    while (id.ends_with('-')) id.pop_back();
    std::string unique = id;
    for (int i = 2; !used_.insert(unique).second; ++i) unique = id + "-" + std::to_string(i);
    return unique;
}

std::string Ids::place_of(const std::string& text, bool& fresh) {
    const auto [it, first] = places_.try_emplace(text);
    fresh = first;
    if (first) it->second = make("n", std::to_string(places_.size()));
    return it->second;
}

}  // namespace attnscope::reports
