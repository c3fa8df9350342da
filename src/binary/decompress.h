#pragma once
// The compressions that fatbinary uses for its entries.
#include <cstdint>
#include <vector>

#include "bytes.h"

namespace attnscope::binary {

enum class Compression { none, lz4, zstd };

/// `expected` is the size that the entry promises; another one is damage. Throws Error naming `packed`'s
/// origin.
std::vector<std::byte> decompress(const View& packed, Compression compression, uint64_t expected);

}  // namespace attnscope::binary
