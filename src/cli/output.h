#pragma once
// Where a command's answer goes: a report in the format that was asked for, to a file or to standard output.
#include <string>
#include <string_view>

#include "attnscope/render.h"

namespace attnscope::cli {

/// `format`: md, html, json, comment, for which alone `comment` counts, else text, for which alone `text`
/// does.
std::string render(const Report& report, std::string_view format, const TextOptions& text,
                   const CommentOptions& comment);

/// `output` is a file, written whole or not at all, or "-". Throws Error when it cannot be written.
void put_out(const std::string& output, std::string_view bytes);

/// Throws Error when standard output has refused what was written to it.
void flush_output();

}  // namespace attnscope::cli
