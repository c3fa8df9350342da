#include "attnscope/pattern.h"

#include "pattern_parser.h"

namespace attnscope {
namespace {

bool is_word(std::string_view text, size_t at) {
    if (at >= text.size()) return false;
    const char c = text[at];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

Pattern::Pattern(std::string_view text) {
    PatternParser parser(text, sets_);
    steps_ = parser.take();
}

/// Adds what can be reached from `step` without a character: the steps that want one, and the end.
void Pattern::follow(size_t step, std::string_view text, size_t at, std::vector<uint32_t>& marks,
                     uint32_t mark, std::vector<size_t>& out) const {
    std::vector<size_t> open = {step};
    while (!open.empty()) {
        const size_t here = open.back();
        open.pop_back();
        if (marks[here] == mark) continue;
        marks[here] = mark;
        if (here == steps_.size()) {
            out.push_back(here);
            continue;
        }
        const Step& s = steps_[here];
        const auto go = [&](int32_t by) {
            open.push_back(static_cast<size_t>(static_cast<int64_t>(here) + by));
        };
        switch (s.kind) {
            case Step::Kind::one_of:
                out.push_back(here);
                break;
            case Step::Kind::split:
                go(s.second);
                go(s.first);
                break;
            case Step::Kind::jump:
                go(s.first);
                break;
            case Step::Kind::begin:
                if (at == 0) go(1);
                break;
            case Step::Kind::end:
                if (at == text.size()) go(1);
                break;
            case Step::Kind::word_edge:
                if ((at > 0 && is_word(text, at - 1)) != is_word(text, at)) go(1);
                break;
        }
    }
}

bool Pattern::found_in(std::string_view text) const {
    std::vector<uint32_t> marks(steps_.size() + 1, 0);
    std::vector<size_t> now, next;
    uint32_t mark = 1;
    for (size_t at = 0;; ++at) {
        follow(0, text, at, marks, mark, now);  // a match may begin anywhere
        next.clear();
        ++mark;
        for (const size_t step : now) {
            if (step == steps_.size()) return true;
            if (at < text.size() &&
                sets_[static_cast<size_t>(steps_[step].first)].test(static_cast<uint8_t>(text[at])))
                follow(step + 1, text, at + 1, marks, mark, next);
        }
        if (at == text.size()) return false;
        now.swap(next);
        ++mark;
        // What is already there is not added again by the search that begins here.
        for (const size_t step : now) marks[step] = mark;
    }
}

}  // namespace attnscope
