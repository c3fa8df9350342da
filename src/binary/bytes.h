#pragma once
// Reading numbers out of bytes that nobody vouches for: every access is checked, a bad one throws Error
// naming the file.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "attnscope/error.h"

namespace attnscope::binary {

using Bytes = std::span<const std::byte>;

/// Little-endian bytes with the name that errors give them. Does not own the memory.
class View {
  public:
    View(Bytes bytes, std::string_view origin) : bytes_(bytes), origin_(origin) {}

    size_t size() const { return bytes_.size(); }
    std::string_view origin() const { return origin_; }
    Bytes bytes() const { return bytes_; }

    /// True when [offset, offset + length) lies inside; safe against overflow.
    bool holds(uint64_t offset, uint64_t length) const {
        return offset <= bytes_.size() && length <= bytes_.size() - offset;
    }
    template <class T>
    T at(uint64_t offset) const {
        static_assert(std::is_trivially_copyable_v<T>);
        if (!holds(offset, sizeof(T))) damaged("it ends inside a header");
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof(T));
        return value;
    }
    Bytes slice(uint64_t offset, uint64_t length) const {
        if (!holds(offset, length)) damaged("a part reaches past its end");
        return bytes_.subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
    }
    /// The zero-terminated text at `offset`.
    std::string_view text(uint64_t offset) const {
        if (offset >= bytes_.size()) damaged("a name lies outside of it");
        const char* begin = reinterpret_cast<const char*>(bytes_.data()) + offset;
        const size_t room = bytes_.size() - static_cast<size_t>(offset);
        const void* end = std::memchr(begin, 0, room);
        if (end == nullptr) damaged("a name has no end");
        return {begin, static_cast<size_t>(static_cast<const char*>(end) - begin)};
    }
    [[noreturn]] void damaged(const std::string& how) const {
        throw Error(std::string(origin_) + ": damaged: " + how + "; get an intact copy of the file");
    }

  private:
    Bytes bytes_;
    std::string_view origin_;
};

}  // namespace attnscope::binary
