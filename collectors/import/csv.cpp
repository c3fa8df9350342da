#include "csv.h"

#include <cstring>

namespace attnscope::importer {

bool next_line(ByteWindow& bytes, std::string_view& line) {
    // What was given before is in view until now: consumed by its own length and line end.
    size_t searched = 0;
    while (true) {
        const auto* end =
            static_cast<const char*>(std::memchr(bytes.begin() + searched, '\n', bytes.size() - searched));
        if (end) {
            line = {bytes.begin(), static_cast<size_t>(end - bytes.begin())};
            bytes.consume(line.size() + 1);
            break;
        }
        searched = bytes.size();
        if (bytes.more()) continue;
        if (bytes.size() == 0) return false;
        line = bytes.view();
        bytes.consume(bytes.size());
        break;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
}

namespace {

enum class Parse { whole, unfinished };

/// One record of `text` into `cells`; `used` is its length with the line end.
Parse parse(std::string_view text, std::vector<std::string>& cells, size_t& used) {
    cells.clear();
    std::string cell;
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c != '"') {
                cell.push_back(c);
            } else if (i + 1 < text.size() && text[i + 1] == '"') {
                cell.push_back('"');
                ++i;
            } else {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            cells.push_back(std::move(cell));
            cell.clear();
        } else if (c == '\n') {
            if (cell.ends_with('\r')) cell.pop_back();
            cells.push_back(std::move(cell));
            used = i + 1;
            return Parse::whole;
        } else {
            cell.push_back(c);
        }
    }
    cells.push_back(std::move(cell));
    used = text.size();
    return Parse::unfinished;
}

}  // namespace

bool next_record(ByteWindow& bytes, std::vector<std::string>& cells, bool& whole) {
    if (bytes.size() == 0 && !bytes.more()) return false;
    while (true) {
        size_t used = 0;
        const Parse result = parse(bytes.view(), cells, used);
        if (result == Parse::unfinished && bytes.more()) continue;
        whole = result == Parse::whole;
        bytes.consume(used);
        return true;
    }
}

}  // namespace attnscope::importer
