// gzip, also of several members one after the other (bgzip, pigz, `cat a.gz b.gz`).
#include <zlib.h>

#include "containers.h"

namespace attnscope::importer {
namespace {

constexpr size_t kBlock = size_t{256} << 10;
constexpr int kGzipOnly = 16 + MAX_WBITS;

class GzipSource : public ByteSource {
  public:
    explicit GzipSource(ByteSource& source) : source_(source), in_(kBlock) {
        if (inflateInit2(&stream_, kGzipOnly) != Z_OK) finish("zlib could not start");
    }
    ~GzipSource() override { inflateEnd(&stream_); }
    GzipSource(const GzipSource&) = delete;
    GzipSource& operator=(const GzipSource&) = delete;

    size_t read(char* out, size_t size) override {
        if (size > UINT32_MAX) size = UINT32_MAX;
        stream_.next_out = reinterpret_cast<Bytef*>(out);
        stream_.avail_out = static_cast<uInt>(size);
        while (!done_ && stream_.avail_out == size) step();
        const size_t given = size - stream_.avail_out;
        if (!guard_.gave(given)) finish(GrowthGuard::kProblem);
        return given;
    }
    std::string problem() const override { return problem_; }

  private:
    bool fill() {
        const size_t got = source_.read(in_.data(), in_.size());
        stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
        stream_.avail_in = static_cast<uInt>(got);
        guard_.took(got);
        return got > 0;
    }
    void step() {
        if (stream_.avail_in == 0 && !fill()) {
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
        const int result = inflate(&stream_, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            between_ = true;
            ++members_;
            inflateReset(&stream_);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            finish(std::string("the gzip stream is damaged (") + (stream_.msg ? stream_.msg : "zlib error") +
                   ")");
        }
    }
    void finish(std::string problem) {
        done_ = true;
        if (problem_.empty()) problem_ = std::move(problem);
    }

    ByteSource& source_;
    std::vector<char> in_;
    z_stream stream_{};
    GrowthGuard guard_;
    bool done_ = false, between_ = true;
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
