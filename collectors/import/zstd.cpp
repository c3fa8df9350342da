#include <zstd.h>

#include "containers.h"

namespace attnscope::importer {
namespace {

class ZstdSource : public ByteSource {
  public:
    explicit ZstdSource(ByteSource& source)
        : source_(source), in_(ZSTD_DStreamInSize()), stream_(ZSTD_createDStream(), &ZSTD_freeDStream) {
        if (!stream_) done_ = true;
    }
    size_t read(char* out, size_t size) override {
        ZSTD_outBuffer to{out, size, 0};
        while (!done_ && to.pos == 0) step(to);
        if (!guard_.gave(to.pos, of_file())) finish(GrowthGuard::kProblem);
        return to.pos;
    }
    std::string problem() const override { return problem_; }
    uint64_t of_file() const override { return source_.of_file(); }

  private:
    void step(ZSTD_outBuffer& to) {
        if (from_.pos == from_.size) {
            const size_t got = source_.read(in_.data(), in_.size());
            from_ = {in_.data(), got, 0};
            if (got == 0) {
                // A frame may still hold output that did not fit before.
                if (pending_ != 0) pending_ = ZSTD_decompressStream(stream_.get(), &to, &from_);
                if (to.pos > 0) return;
                return pending_ == 0 ? finish({}) : finish("the zstd stream is cut short");
            }
        }
        pending_ = ZSTD_decompressStream(stream_.get(), &to, &from_);
        if (ZSTD_isError(pending_))
            finish(std::string("the zstd stream is damaged (") + ZSTD_getErrorName(pending_) + ")");
    }
    void finish(std::string problem) {
        done_ = true;
        if (problem_.empty()) problem_ = std::move(problem);
    }

    ByteSource& source_;
    std::vector<char> in_;
    std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream_;
    ZSTD_inBuffer from_{nullptr, 0, 0};
    GrowthGuard guard_;
    size_t pending_ = 0;
    bool done_ = false;
    std::string problem_;
};

}  // namespace

bool is_zstd(std::string_view head) {
    return head.size() >= 4 && head.substr(0, 4) == "\x28\xb5\x2f\xfd";
}

std::unique_ptr<ByteSource> unzstd(ByteSource& source) {
    return std::make_unique<ZstdSource>(source);
}

}  // namespace attnscope::importer
