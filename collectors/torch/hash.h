#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace attnscope::libtorch {

/// 64 bits, well mixed: two of 65,536 signatures share a number with a chance of 1 in 10^10, and then count
/// as one.
class Hash {
  public:
    explicit Hash(uint64_t seed = 0) : state_(seed ^ 0x9e3779b97f4a7c15u) {}
    void add(uint64_t a, uint64_t b) {
        const auto product = static_cast<Wide>(state_ ^ a) * (b ^ 0xe7037ed1a0b428dbu);
        state_ = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }
    void add(uint64_t a) { add(a, 0xa0761d6478bd642fu); }
    void add(std::string_view text) {
        uint64_t words[2];
        size_t at = 0;
        for (; at + sizeof words <= text.size(); at += sizeof words) {
            std::memcpy(words, text.data() + at, sizeof words);
            add(words[0], words[1]);
        }
        words[0] = words[1] = 0;
        std::memcpy(words, text.data() + at, text.size() - at);
        add(words[0], words[1] ^ static_cast<uint64_t>(text.size()) << 56);
    }
    /// Never 0.
    uint64_t value() const { return state_ != 0 ? state_ : 1; }

  private:
    __extension__ typedef unsigned __int128 Wide;
    uint64_t state_;
};

}  // namespace attnscope::libtorch
