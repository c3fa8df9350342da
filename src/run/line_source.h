#pragma once
// Lines of a file, one block at a time, each followed by simdjson's padding: no copy a line, and memory that
// does not grow with the file.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace attnscope::run_reader {

class LineSource {
  public:
    /// A line longer than this is not a record: it is skipped and given as `oversized`.
    static constexpr size_t kMaxLine = size_t{64} << 20;

    explicit LineSource(std::FILE* file);

    struct Line {
        const char* text = nullptr;
        size_t length = 0;       ///< without the newline
        bool complete = true;    ///< ended by a newline
        bool oversized = false;  ///< `text` is not valid, `length` is
    };
    /// False at the end of the file. The text is valid until the next call.
    bool next(Line& line);
    bool read_error() const { return failed_; }

  private:
    bool fill();

    std::FILE* file_;
    std::vector<char> buffer_;
    size_t begin_ = 0, end_ = 0, block_;
    bool eof_ = false, failed_ = false;
};

}  // namespace attnscope::run_reader
