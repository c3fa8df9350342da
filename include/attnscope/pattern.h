#pragma once
// Regular expressions from users, searched in kernel names. Whatever the expression, a search takes time in
// proportion to (length of the text) x (size of the expression): all ways to match are followed side by side
// (Thompson, "Regular expression search algorithm", CACM 11(6), 1968), so none is tried again.
//
//     abc . [a-z_] [^0-9]      characters; . is any one
//     \d \w \s \D \W \S        classes, ASCII; \ before anything else takes it as it is
//     ^ $ \b                   begin, end, edge of a word
//     (x) (?:x) x|y            groups, alternatives
//     x* x+ x? x{2} x{2,} x{2,5}   repetition, to 1,000; a further ? is taken and changes nothing
//
// No back-references, no look-around: they have no such bound.
#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

namespace attnscope {

class Pattern {
  public:
    /// Throws Error with the place of what is wrong, counted from 1, or where it is too large (4,000 steps).
    explicit Pattern(std::string_view text);

    bool found_in(std::string_view text) const;

    /// A step of the compiled expression. Jumps are relative, so that a repeated part can be copied.
    struct Step {
        enum class Kind : uint8_t { one_of, split, jump, begin, end, word_edge };
        Kind kind = Kind::jump;
        int32_t first = 1,
                second = 1;  ///< one_of: index of its set in `first`; split: both ways; jump: `first`
    };

  private:
    friend class PatternParser;
    void follow(size_t step, std::string_view text, size_t at, std::vector<uint32_t>& marks, uint32_t mark,
                std::vector<size_t>& out) const;

    std::vector<Step> steps_;  ///< behind the last one: it matched
    std::vector<std::bitset<256>> sets_;
};

}  // namespace attnscope
