#include "pattern_parser.h"

#include <algorithm>
#include <charconv>

#include "attnscope/error.h"
#include "attnscope/names.h"

namespace attnscope {
namespace {

using Set = std::bitset<256>;
using Step = Pattern::Step;

constexpr size_t kMostSteps = 4000, kMostRepeats = 1000, kDeepest = 100;
constexpr size_t kNoLimit = SIZE_MAX;

Set range(unsigned char from, unsigned char to) {
    Set set;
    for (unsigned c = from; c <= to; ++c) set.set(c);
    return set;
}

Set single(char c) {
    return Set().set(static_cast<unsigned char>(c));
}

/// \d and its kin.
std::optional<Set> named_class(char c) {
    const Set digits = range('0', '9');
    switch (c) {
        case 'd':
            return digits;
        case 'D':
            return ~digits;
        case 'w':
        case 'W': {
            const Set word = digits | range('a', 'z') | range('A', 'Z') | single('_');
            return c == 'w' ? word : ~word;
        }
        case 's':
        case 'S': {
            const Set space = range('\t', '\r') | single(' ');
            return c == 's' ? space : ~space;
        }
        default:
            return std::nullopt;
    }
}

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void append(std::vector<Step>& to, const std::vector<Step>& part) {
    to.insert(to.end(), part.begin(), part.end());
}

Step split(size_t first, size_t second) {
    return {Step::Kind::split, static_cast<int32_t>(first), static_cast<int32_t>(second)};
}

}  // namespace

void PatternParser::fail(size_t place, const std::string& why) const {
    throw Error("\"" + printable(text_.substr(0, 200)) + "\" is no regular expression: " + why +
                " (at character " + std::to_string(place + 1) + ")");
}

bool PatternParser::take(char c) {
    if (!more() || text_[at_] != c) return false;
    ++at_;
    return true;
}

void PatternParser::check_size(size_t steps, size_t begin) const {
    if (steps > kMostSteps)
        fail(begin, "what begins here makes more than " + std::to_string(kMostSteps) + " steps");
}

std::vector<Step> PatternParser::take() {
    Steps steps = alternatives();
    if (more()) fail(at_, "no group is open that this could close");
    return steps;
}

PatternParser::Steps PatternParser::alternatives() {
    const size_t begin = at_;
    Steps steps = sequence();
    while (take('|')) {
        const Steps other = sequence();
        Steps both = {split(1, steps.size() + 2)};
        append(both, steps);
        both.push_back({Step::Kind::jump, static_cast<int32_t>(other.size() + 1), 0});
        append(both, other);
        steps = std::move(both);
        check_size(steps.size(), begin);
    }
    return steps;
}

PatternParser::Steps PatternParser::sequence() {
    const size_t begin = at_;
    Steps steps;
    while (more() && text_[at_] != '|' && text_[at_] != ')') {
        const size_t part = at_;
        append(steps, repeated(atom(), part));
        check_size(steps.size(), begin);
    }
    return steps;
}

PatternParser::Steps PatternParser::atom() {
    const size_t begin = at_;
    const char c = text_[at_++];
    switch (c) {
        case '(':
            return group();
        case '[':
            return one_of(brackets());
        case '.':
            return one_of(~Set());
        case '^':
            return {{Step::Kind::begin, 1, 1}};
        case '$':
            return {{Step::Kind::end, 1, 1}};
        case '\\':
            if (const auto set = escape()) return one_of(*set);
            return {{Step::Kind::word_edge, 1, 1}};
        case '*':
        case '+':
        case '?':
            fail(begin, std::string("nothing stands before ") + c + " that could be repeated");
        default:
            return one_of(single(c));
    }
}

PatternParser::Steps PatternParser::group() {
    const size_t begin = at_ - 1;
    if (++depth_ > kDeepest) fail(begin, "groups are nested deeper than " + std::to_string(kDeepest));
    if (take('?') && !take(':')) fail(begin, "only (?: is known of what (? can begin");
    Steps steps = alternatives();
    if (!take(')')) fail(begin, "the group that opens here is not closed");
    --depth_;
    return steps;
}

PatternParser::Steps PatternParser::one_of(const Set& set) {
    const auto known = std::find(sets_.begin(), sets_.end(), set);
    const auto index = static_cast<int32_t>(known - sets_.begin());
    if (known == sets_.end()) sets_.push_back(set);
    return {{Step::Kind::one_of, index, 0}};
}

std::optional<Set> PatternParser::escape() {
    if (!more()) fail(at_ - 1, "nothing follows the backslash");
    const char c = text_[at_++];
    if (c == 'b') return std::nullopt;
    if (const auto set = named_class(c)) return set;
    if (c >= '1' && c <= '9') fail(at_ - 2, "back-references are not supported");
    if (is_letter_or_digit(c)) fail(at_ - 2, std::string("\\") + c + " has no meaning here");
    return single(c);
}

Set PatternParser::brackets() {
    const size_t begin = at_ - 1;
    const bool negated = take('^');
    Set set;
    while (!take(']')) {
        if (!more()) fail(begin, "the [ that opens here is not closed");
        char from = text_[at_++];
        if (from == '\\') {
            const auto escaped = escape();
            if (!escaped) fail(at_ - 2, "\\b has no meaning between brackets");
            if (escaped->count() != 1) {
                set |= *escaped;
                continue;
            }
            from = text_[at_ - 1];
        }
        if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
            const size_t dash = at_;
            const char to = text_[at_ + 1];
            at_ += 2;
            if (to == '\\' || static_cast<unsigned char>(to) < static_cast<unsigned char>(from))
                fail(dash, "a range ends before it begins");
            set |= range(static_cast<unsigned char>(from), static_cast<unsigned char>(to));
            continue;
        }
        set |= single(from);
    }
    if (set.none()) fail(begin, "no character is between the brackets (\\] is the bracket itself)");
    return negated ? ~set : set;
}

bool PatternParser::bounds(size_t& least, size_t& most) {
    const size_t close = text_.find('}', at_);
    if (!more() || text_[at_] != '{' || close == std::string_view::npos) return false;
    const char *from = text_.data() + at_ + 1, *end = text_.data() + close;
    auto read = std::from_chars(from, end, least);
    if (read.ec != std::errc()) return false;
    most = least;
    if (read.ptr != end) {
        if (*read.ptr != ',') return false;
        most = kNoLimit;
        if (read.ptr + 1 != end) {
            read = std::from_chars(read.ptr + 1, end, most);
            if (read.ec != std::errc() || read.ptr != end) return false;
        }
    }
    if (most < least) fail(at_, "the repetition's limits are the wrong way round");
    if (std::max(least, most == kNoLimit ? 0 : most) > kMostRepeats)
        fail(at_, "more than " + std::to_string(kMostRepeats) + " repetitions");
    at_ = close + 1;
    return true;
}

PatternParser::Steps PatternParser::repeated(Steps part, size_t begin) {
    while (more()) {
        size_t least = 0, most = kNoLimit;
        if (take('+'))
            least = 1;
        else if (take('?'))
            most = 1;
        else if (!take('*') && !bounds(least, most))
            break;
        take('?');  // "as few as possible": the same to a search that only says yes or no
        const size_t copies = most == kNoLimit ? least + 1 : most;
        check_size((part.size() + 2) * copies, begin);
        Steps steps;
        for (size_t i = 0; i < least; ++i) append(steps, part);
        if (most == kNoLimit) {
            steps.push_back(split(1, part.size() + 2));
            append(steps, part);
            steps.push_back({Step::Kind::jump, -static_cast<int32_t>(part.size() + 1), 0});
        } else {
            for (size_t i = least; i < most; ++i) {
                steps.push_back(split(1, part.size() + 1));
                append(steps, part);
            }
        }
        part = std::move(steps);
    }
    return part;
}

}  // namespace attnscope
