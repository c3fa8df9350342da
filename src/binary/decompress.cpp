#include "decompress.h"

#include <lz4.h>
#include <zstd.h>

namespace attnscope::binary {
namespace {

// The largest cubin in PyTorch 2.11 is 45 MB; what promises more than this would only eat the host's memory.
constexpr uint64_t kLargestCubin = uint64_t{1} << 30;
// The most that one byte can stand for: LZ4's run lengths grow by 255 a byte; a zstd block of 128 KiB needs 4
// bytes.
constexpr uint64_t kLz4Ratio = 255;
constexpr uint64_t kZstdRatio = (128 << 10) / 4 + 1;

}  // namespace

std::vector<std::byte> decompress(const View& packed, Compression compression, uint64_t expected) {
    if (compression == Compression::none) return {packed.bytes().begin(), packed.bytes().end()};
    const uint64_t ratio = compression == Compression::lz4 ? kLz4Ratio : kZstdRatio;
    if (expected > kLargestCubin || expected / ratio > packed.size())
        packed.damaged("a compressed part promises an impossible size");
    std::vector<std::byte> plain(static_cast<size_t>(expected));
    if (compression == Compression::lz4) {
        const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(packed.bytes().data()),
                                            reinterpret_cast<char*>(plain.data()),
                                            static_cast<int>(packed.size()), static_cast<int>(plain.size()));
        if (got < 0 || static_cast<uint64_t>(got) != expected)
            packed.damaged("a part does not decompress (LZ4)");
        return plain;
    }
    const size_t got = ZSTD_decompress(plain.data(), plain.size(), packed.bytes().data(), packed.size());
    if (ZSTD_isError(got) != 0)
        packed.damaged(std::string("a part does not decompress (zstd: ") + ZSTD_getErrorName(got) + ")");
    if (got != expected) packed.damaged("a part does not decompress to the size it promises (zstd)");
    return plain;
}

}  // namespace attnscope::binary
