#pragma once
// The text of a Pattern -> its steps: recursive descent, each part a sequence of steps of its own.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/pattern.h"

namespace attnscope {

class PatternParser {
  public:
    PatternParser(std::string_view text, std::vector<std::bitset<256>>& sets) : text_(text), sets_(sets) {}
    std::vector<Pattern::Step> take();

  private:
    using Steps = std::vector<Pattern::Step>;

    Steps alternatives();
    Steps sequence();
    Steps atom();
    Steps repeated(Steps part, size_t begin);
    Steps group();
    Steps one_of(const std::bitset<256>& set);
    std::bitset<256> brackets();
    /// What stands behind a backslash at `at_`; nullopt: an edge of a word.
    std::optional<std::bitset<256>> escape();
    /// "{2,5}" at `at_`: false when it is none, and then it is text.
    bool bounds(size_t& least, size_t& most);

    bool more() const { return at_ < text_.size(); }
    bool take(char c);
    void check_size(size_t steps, size_t begin) const;
    [[noreturn]] void fail(size_t place, const std::string& why) const;

    std::string_view text_;
    std::vector<std::bitset<256>>& sets_;
    size_t at_ = 0, depth_ = 0;
};

}  // namespace attnscope
