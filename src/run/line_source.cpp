#include "line_source.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>

namespace attnscope::run_reader {
namespace {
constexpr size_t kFirstBlock = size_t{64} << 10, kLargestBlock = size_t{4} << 20;
}

LineSource::LineSource(std::FILE* file) : file_(file), block_(kFirstBlock) {}

bool LineSource::fill() {
    if (eof_) return false;
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    const size_t wanted = end_ + block_ + simdjson::SIMDJSON_PADDING;
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    const size_t got = std::fread(buffer_.data() + end_, 1, block_, file_);
    end_ += got;
    if (got < block_) {
        eof_ = true;
        failed_ = std::ferror(file_) != 0;
    }
    block_ = std::min(2 * block_, kLargestBlock);  // small files stay cheap
    return got > 0;
}

bool LineSource::next(Line& line) {
    size_t scanned = 0;
    size_t dropped = 0;  // of an oversized line, already thrown away
    for (;;) {
        const char* start = buffer_.data() + begin_;
        const size_t available = end_ - begin_;
        const void* newline =
            available > scanned ? std::memchr(start + scanned, '\n', available - scanned) : nullptr;
        if (newline) {
            const size_t length = static_cast<size_t>(static_cast<const char*>(newline) - start);
            line = {start, dropped + length, true, dropped > 0};
            begin_ += length + 1;
            return true;
        }
        scanned = available;
        if (available > kMaxLine) {
            dropped += available;
            begin_ = end_;
            scanned = 0;
        }
        if (fill()) continue;
        if (end_ == begin_ && dropped == 0) return false;
        line = {buffer_.data() + begin_, dropped + (end_ - begin_), false, dropped > 0};
        begin_ = end_;
        return true;
    }
}

}  // namespace attnscope::run_reader
