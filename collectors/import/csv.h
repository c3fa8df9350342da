#pragma once
// Comma-separated records as profilers print them between other output.
#include <string>
#include <string_view>
#include <vector>

#include "bytes.h"

namespace attnscope::importer {

/// Takes the next line, without its end; false at the end of the bytes. A line longer than the window is cut.
bool next_line(ByteWindow& bytes, std::string_view& line);

/// Whether a text of lines holds one that `wanted` accepts; bytes with a NUL are no text.
template <class Wanted>
bool any_line(std::string_view text, Wanted wanted) {
    if (text.find('\0') != std::string_view::npos) return false;
    for (size_t at = 0; at < text.size();) {
        const std::string_view line = text.substr(at, text.find('\n', at) - at);
        if (wanted(line)) return true;
        at += line.size() + 1;
    }
    return false;
}

/// Takes one record at a line's start; quoted cells may hold commas, doubled quotes and line ends. False at
/// the end of the bytes. `whole` is false where the bytes ended inside a quoted cell, or right behind the
/// record without a line end: the last cell may be cut.
bool next_record(ByteWindow& bytes, std::vector<std::string>& cells, bool& whole);

}  // namespace attnscope::importer
