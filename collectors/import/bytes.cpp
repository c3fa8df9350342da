#include "bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "attnscope/error.h"

namespace attnscope::importer {
namespace {

class FileSource : public ByteSource {
  public:
    FileSource(std::FILE* file, std::string name) : file_(file, &std::fclose), name_(std::move(name)) {}
    size_t read(char* out, size_t size) override {
        const size_t got = std::fread(out, 1, size, file_.get());
        given_ += got;
        if (got < size && std::ferror(file_.get())) problem_ = name_ + " cannot be read to its end";
        return got;
    }
    std::string problem() const override { return problem_; }
    uint64_t of_file() const override { return given_; }

  private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::string name_, problem_;
    uint64_t given_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (!file)
        throw Error(path.string() + ": cannot be read: " + std::strerror(errno) +
                    ": check its name and permissions");
    std::setvbuf(file, nullptr, _IONBF, 0);  // the window is the buffer
    return std::make_unique<FileSource>(file, path.string());
}

ByteWindow::ByteWindow(ByteSource& source, size_t block, size_t most)
    : source_(source), buffer_(block + kPadding), block_(block), most_(std::max(most, block)) {}

bool ByteWindow::more() {
    if (eof_ || full()) return false;
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    // Twice as much each time: what does not fit is scanned again, and must not be for every block.
    if (buffer_.size() - kPadding - end_ < block_ / 2)
        buffer_.resize(std::min((buffer_.size() - kPadding) * 2, most_ + block_) + kPadding);
    const size_t got = source_.read(buffer_.data() + end_, buffer_.size() - kPadding - end_);
    eof_ = got == 0;
    end_ += got;
    std::memset(buffer_.data() + end_, 0, kPadding);
    return got > 0;
}

void ByteWindow::consume(size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
}

size_t WindowSource::read(char* out, size_t size) {
    if (window_.size() == 0 && !window_.more()) return 0;
    const size_t taken = std::min(size, window_.size());
    std::memcpy(out, window_.begin(), taken);
    window_.consume(taken);
    return taken;
}

}  // namespace attnscope::importer
