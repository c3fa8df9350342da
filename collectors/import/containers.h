#pragma once
// What a file may be wrapped in.
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bytes.h"

namespace attnscope::importer {

bool is_gzip(std::string_view head);
bool is_zstd(std::string_view head);
bool is_tar(std::string_view head);

/// The decompressed bytes of `source`, which must outlive it. A stream that grows without measure
/// (decompression bomb) ends with a problem().
std::unique_ptr<ByteSource> gunzip(ByteSource& source);
std::unique_ptr<ByteSource> unzstd(ByteSource& source);

/// Calls `member` for each regular file of the archive, in its order, with its name and its bytes. Returns
/// why the archive ended early; empty when it did not.
std::string for_each_member(ByteWindow& archive,
                            const std::function<void(const std::string& name, ByteSource& bytes)>& member);

/// Guards a decompressor: no honest trace is this much smaller on disk than what it holds, in all its
/// wrappings together.
class GrowthGuard {
  public:
    /// False once `bytes` more are too many for what was read of the file.
    bool gave(size_t bytes, uint64_t of_file) {
        out_ += bytes;
        return out_ <= kFree || out_ / kMostGrowth <= of_file;
    }
    static constexpr uint64_t kFree = uint64_t{64} << 20, kMostGrowth = 400;
    static constexpr const char* kProblem =
        "it grows to more than 400 times its size, which no trace does (a decompression bomb?)";

  private:
    uint64_t out_ = 0;
};

}  // namespace attnscope::importer
