#pragma once
// What is known of the bytes of a piece of device memory: a value that a memset left, or what the host wrote.
// All else is unknown: untouched, or computed by a kernel that never ran.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace attnscope::vgpu {

/// One known range. `bytes` empty: a repeated value.
struct Known {
    size_t end = 0;  ///< offset behind the last byte
    uint32_t value = 0;
    uint8_t value_bytes = 1;  ///< 1, 2 or 4
    size_t phase = 0;         ///< the offset where the first value (or bytes[0]) lies
    std::shared_ptr<const std::byte[]> bytes;
};

/// A known range cut out of a Content, for a copy to another one.
struct KnownPiece {
    size_t offset;  ///< from the start of what was cut
    Known known;    ///< `end` and `phase` likewise
};

/// Not synchronised, but for `empty()`: the owner's mutex guards it. Offsets are bytes from the owner's base.
class Content {
  public:
    /// Nothing is known. May be asked without the lock: a launch asks it for every pointer.
    bool empty() const { return ranges_count_.load(std::memory_order_relaxed) == 0; }

    void forget(size_t from, size_t to);
    void clear();
    /// A memset: `value_bytes`-wide values, the first at `from`.
    void set(size_t from, size_t to, uint32_t value, uint8_t value_bytes);
    /// The host wrote. False when the bound on kept bytes (ATTNSCOPE_VGPU_KEPT_BYTES, 1 GiB) is reached: the
    /// range is then unknown.
    bool write(size_t from, size_t to, const void* bytes);
    /// A kernel got a pointer to `from`: it may have written from there to the next boundary of known
    /// content, or to `end`.
    void forget_reached(size_t from, size_t end);

    /// Copies the known bytes of [from, to) to `out` and leaves the others alone. Returns how many are
    /// unknown.
    size_t read(size_t from, size_t to, std::byte* out) const;
    /// The known pieces of [from, to), with offsets from `from`.
    std::vector<KnownPiece> cut(size_t from, size_t to) const;
    void paste(size_t at, const std::vector<KnownPiece>& pieces);

  private:
    void count() { ranges_count_.store(ranges_.size(), std::memory_order_relaxed); }
    void insert(size_t from, Known known);

    std::map<size_t, Known> ranges_;  ///< by first byte; they do not overlap
    std::atomic<size_t> ranges_count_{0};
};

/// Bytes of device memory that the host wrote and that are kept, in the whole process.
size_t kept_bytes();

}  // namespace attnscope::vgpu
