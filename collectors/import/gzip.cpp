// gzip, also of several members one after the other (bgzip, pigz, `cat a.gz b.gz`). By ISA-L: it takes a
// third of zlib's time.
#include <isa-l/igzip_lib.h>

#include "containers.h"

namespace attnscope::importer {
namespace {

constexpr size_t kBlock = size_t{256} << 10;

/// What ISA-L means; it has no words of its own.
const char* words_of(int result) {
    switch (result) {
        case ISAL_INVALID_BLOCK:
            return "invalid block";
        case ISAL_INVALID_SYMBOL:
            return "invalid symbol";
        case ISAL_INVALID_LOOKBACK:
            return "a copy from before the beginning";
        case ISAL_INVALID_WRAPPER:
        case ISAL_UNSUPPORTED_METHOD:
            return "invalid header";
        case ISAL_INCORRECT_CHECKSUM:
            return "wrong checksum";
    }
    return "error";
}

class GzipSource : public ByteSource {
  public:
    explicit GzipSource(ByteSource& source) : source_(source), in_(kBlock) {
        isal_inflate_init(&stream_);
        stream_.crc_flag = ISAL_GZIP;
    }

    size_t read(char* out, size_t size) override {
        if (size > UINT32_MAX) size = UINT32_MAX;
        stream_.next_out = reinterpret_cast<uint8_t*>(out);
        stream_.avail_out = static_cast<uint32_t>(size);
        while (!done_ && stream_.avail_out == size) step();
        const size_t given = size - stream_.avail_out;
        if (!guard_.gave(given, of_file())) finish(GrowthGuard::kProblem);
        return given;
    }
    std::string problem() const override { return problem_; }
    uint64_t of_file() const override { return source_.of_file(); }

  private:
    bool fill() {
        const size_t got = source_.read(in_.data(), in_.size());
        stream_.next_in = reinterpret_cast<uint8_t*>(in_.data());
        stream_.avail_in = static_cast<uint32_t>(got);
        return got > 0;
    }
    void step() {
        if (stream_.avail_in == 0 && !held_back_ && !fill()) {
            if (!between_)
                finish("the gzip stream is cut short");
            else
                done_ = true;
            return;
        }
        // Zeros behind the last member are padding, anything else is not ours.
        if (between_ && members_ > 0 && *stream_.next_in != 0x1f) {
            done_ = true;
            return;
        }
        between_ = false;
        const int result = isal_inflate(&stream_);
        if (result < 0) return finish(std::string("the gzip stream is damaged (") + words_of(result) + ")");
        held_back_ = stream_.avail_out == 0;
        if (stream_.block_state != ISAL_BLOCK_FINISH) return;
        held_back_ = false;
        between_ = true;
        ++members_;
        isal_inflate_reset(&stream_);
        stream_.crc_flag = ISAL_GZIP;
    }
    void finish(std::string problem) {
        done_ = true;
        if (problem_.empty()) problem_ = std::move(problem);
    }

    ByteSource& source_;
    std::vector<char> in_;
    inflate_state stream_{};
    GrowthGuard guard_;
    bool done_ = false, between_ = true;
    bool held_back_ = false;  ///< what is read may hold more than there was room for
    uint64_t members_ = 0;
    std::string problem_;
};

}  // namespace

bool is_gzip(std::string_view head) {
    return head.size() >= 3 && head.substr(0, 3) == "\x1f\x8b\x08";
}

std::unique_ptr<ByteSource> gunzip(ByteSource& source) {
    return std::make_unique<GzipSource>(source);
}

}  // namespace attnscope::importer
