#include "align.h"

#include <algorithm>
#include <cstddef>

namespace attnscope::comparing {
namespace {

using Keys = std::vector<uint32_t>;

struct Span {
    size_t from = 0, to = 0;
    size_t size() const { return to - from; }
};

/// Lengths of the longest common subsequence of all of `a` with each beginning of `b` (`forward`), or with
/// each end.
std::vector<uint32_t> last_row(const Keys& a, Span x, const Keys& b, Span y, bool forward) {
    std::vector<uint32_t> row(y.size() + 1), previous(y.size() + 1);
    for (size_t i = 0; i < x.size(); ++i) {
        std::swap(row, previous);
        const uint32_t key = forward ? a[x.from + i] : a[x.to - 1 - i];
        for (size_t k = 0; k < y.size(); ++k) {
            const uint32_t other = forward ? b[y.from + k] : b[y.to - 1 - k];
            row[k + 1] = key == other ? previous[k] + 1 : std::max(row[k], previous[k + 1]);
        }
    }
    return row;
}

/// Hirschberg, "A linear space algorithm for computing maximal common subsequences", 1975.
void split(const Keys& a, Span x, const Keys& b, Span y, std::vector<std::pair<uint32_t, uint32_t>>& out) {
    if (x.size() == 0 || y.size() == 0) return;
    if (x.size() == 1) {
        const auto from = b.begin() + static_cast<std::ptrdiff_t>(y.from);
        const auto to = b.begin() + static_cast<std::ptrdiff_t>(y.to);
        const auto found = std::find(from, to, a[x.from]);
        if (found != to)
            out.emplace_back(static_cast<uint32_t>(x.from), static_cast<uint32_t>(found - b.begin()));
        return;
    }
    const size_t middle = x.from + x.size() / 2;
    const auto left = last_row(a, {x.from, middle}, b, y, true);
    const auto right = last_row(a, {middle, x.to}, b, y, false);
    size_t best = 0;
    for (size_t k = 1; k <= y.size(); ++k)
        if (left[k] + right[y.size() - k] > left[best] + right[y.size() - best]) best = k;
    split(a, {x.from, middle}, b, {y.from, y.from + best}, out);
    split(a, {middle, x.to}, b, {y.from + best, y.to}, out);
}

}  // namespace

std::vector<std::pair<uint32_t, uint32_t>> longest_common(const Keys& a, const Keys& b, double most_cells) {
    std::vector<std::pair<uint32_t, uint32_t>> out;
    const size_t shorter = std::min(a.size(), b.size());
    size_t first = 0, last = 0;
    while (first < shorter && a[first] == b[first]) ++first;
    while (last < shorter - first && a[a.size() - 1 - last] == b[b.size() - 1 - last]) ++last;
    for (size_t i = 0; i < first; ++i) out.emplace_back(static_cast<uint32_t>(i), static_cast<uint32_t>(i));
    const Span x{first, a.size() - last}, y{first, b.size() - last};
    if (double(x.size()) * double(y.size()) <= most_cells) split(a, x, b, y, out);
    for (size_t i = 0; i < last; ++i)
        out.emplace_back(static_cast<uint32_t>(x.to + i), static_cast<uint32_t>(y.to + i));
    return out;
}

}  // namespace attnscope::comparing
