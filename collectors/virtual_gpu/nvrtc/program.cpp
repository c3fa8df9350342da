#include "nvrtc/program.h"

#include <algorithm>
#include <cctype>

namespace attnscope::vgpu::nvrtc {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string without_comments(const std::string& source) {
    std::string result;
    result.reserve(source.size());
    for (size_t i = 0; i < source.size(); ++i) {
        if (source.compare(i, 2, "//") == 0) {
            i = std::min(source.find('\n', i), source.size());
            result += '\n';
        } else if (source.compare(i, 2, "/*") == 0) {
            i = std::min(source.find("*/", i + 2), source.size() - 1) + 1;
            result += ' ';
        } else {
            result += source[i];
        }
    }
    return result;
}

/// Past the parenthesised group that starts at `at`.
size_t past_group(const std::string& text, size_t at) {
    int depth = 0;
    for (; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')' && --depth == 0) return at + 1;
    }
    return at;
}

/// The function's name after __global__: the first word that is followed by '(' and is no attribute.
std::string name_after(const std::string& text, size_t at) {
    static const std::vector<std::string> attributes = {"__launch_bounds__", "__cluster_dims__",
                                                        "__maxnreg__",       "__attribute__",
                                                        "__block_size__",    "__declspec"};
    while (at < text.size()) {
        while (at < text.size() && !is_word(text[at])) {
            if (text[at] == ';' || text[at] == '{') return {};
            ++at;
        }
        size_t end = at;
        while (end < text.size() && is_word(text[end])) ++end;
        std::string word = text.substr(at, end - at);
        size_t next = end;
        while (next < text.size() && std::isspace(static_cast<unsigned char>(text[next]))) ++next;
        bool call = next < text.size() && text[next] == '(';
        if (!call) {
            at = end;
            continue;
        }
        if (std::find(attributes.begin(), attributes.end(), word) == attributes.end()) return word;
        at = past_group(text, next);
    }
    return {};
}

}  // namespace

std::vector<std::string> kernels_in(const std::string& source) {
    std::vector<std::string> names;
    std::string text = without_comments(source);
    const std::string keyword = "__global__";
    for (size_t at = text.find(keyword); at != std::string::npos;
         at = text.find(keyword, at + keyword.size())) {
        if ((at > 0 && is_word(text[at - 1])) ||
            (at + keyword.size() < text.size() && is_word(text[at + keyword.size()])))
            continue;
        std::string name = name_after(text, at + keyword.size());
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
    return names;
}

void compile(Program& program) {
    program.image = "ATTNSCOPE-RUNTIME-SOURCE 1\n";
    for (const std::string& expression : program.expressions) {
        std::string lowered;
        std::copy_if(expression.begin(), expression.end(), std::back_inserter(lowered),
                     [](char c) { return !std::isspace(static_cast<unsigned char>(c)); });
        if (!lowered.empty() && lowered[0] == '&') lowered.erase(0, 1);
        program.lowered[expression] = lowered;
        program.image += "kernel " + lowered + "\n";
    }
    for (const std::string& kernel : kernels_in(program.source)) program.image += "kernel " + kernel + "\n";
    program.compiled = true;
}

}  // namespace attnscope::vgpu::nvrtc
