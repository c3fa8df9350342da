#pragma once
// Bytes of a file, a decompressor or a member of an archive, as a stream: memory does not grow with the file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::importer {

class ByteSource {
  public:
    virtual ~ByteSource() = default;
    /// Up to `size` bytes into `out`; 0 at the end, and where no more can be had.
    virtual size_t read(char* out, size_t size) = 0;
    /// Why the stream ended before its end ("the gzip stream is cut short"); empty when it did not.
    virtual std::string problem() const { return {}; }
    /// How many bytes of the file on disk were read for what was given so far.
    virtual uint64_t of_file() const = 0;
};

/// Throws Error when the file cannot be opened.
std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path);

/// A part of a source in view. `begin`..`end` are valid until the next more() or consume(), and kPadding
/// zero bytes follow `end`.
class ByteWindow {
  public:
    static constexpr size_t kPadding = 64, kBlock = size_t{1} << 20;
    explicit ByteWindow(ByteSource& source, size_t block = kBlock, size_t most = size_t{64} << 20);

    const char* begin() const { return buffer_.data() + begin_; }
    const char* end() const { return buffer_.data() + end_; }
    std::string_view view() const { return {begin(), end_ - begin_}; }
    size_t size() const { return end_ - begin_; }
    uint64_t offset() const { return offset_; }  ///< of begin() in the stream
    bool full() const { return end_ - begin_ >= most_; }
    bool at_end() const { return eof_; }  ///< nothing follows end()

    /// More bytes after end(): false at the end of the stream, and when full().
    bool more();
    void consume(size_t bytes);
    const ByteSource& source() const { return source_; }

  private:
    ByteSource& source_;
    std::vector<char> buffer_;
    size_t begin_ = 0, end_ = 0, block_, most_;
    uint64_t offset_ = 0;
    bool eof_ = false;
};

/// The bytes of a window as a source again, from where it stands.
class WindowSource : public ByteSource {
  public:
    explicit WindowSource(ByteWindow& window) : window_(window) {}
    size_t read(char* out, size_t size) override;
    std::string problem() const override { return window_.source().problem(); }
    uint64_t of_file() const override { return window_.source().of_file(); }

  private:
    ByteWindow& window_;
};

}  // namespace attnscope::importer
