#include <algorithm>
#include <cmath>

#include "attnscope/gate_time.h"

namespace attnscope::gate {
namespace {

constexpr size_t kExact = 40;        // a side
constexpr double kSameLevel = 0.05;  // of the interval that says "same": no alarm, so not corrected

/// How many of the (n+m choose n) orders give each U: the Gaussian binomial coefficient, term by term.
std::vector<double> orders_by_u(size_t n, size_t m) {
    const size_t top = n * m;
    std::vector<double> ways(top + 1, 0);
    ways[0] = 1;
    for (size_t i = 1; i <= n; ++i) {
        for (size_t u = top; u >= m + i && u <= top; --u) ways[u] -= ways[u - m - i];
        for (size_t u = i; u <= top; ++u) ways[u] += ways[u - i];
    }
    return ways;
}

/// The largest k with P(U <= k - 1) <= level: the k-th least and k-th greatest difference bound the shift.
size_t interval_rank(size_t n, size_t m, double level) {
    size_t k = 0;
    if (n <= kExact && m <= kExact) {
        const std::vector<double> ways = orders_by_u(n, m);
        double all = 0, below = 0;
        for (const double w : ways) all += w;
        while (k < ways.size() && (below += ways[k]) / all <= level) ++k;
        return std::min(k, n * m / 2);
    }
    while (k < n * m / 2 && rank_sum_probability(n, m, k) <= level) ++k;
    return k;
}

size_t runs_for(double level) {
    double orders = 1;  // (2n choose n)
    for (size_t n = 1; n < 64; ++n) {
        orders *= double(2 * n) * double(2 * n - 1) / (double(n) * double(n));
        if (1 / orders <= level) return n;
    }
    return 64;
}

bool usable(const std::vector<double>& times) {
    return std::all_of(times.begin(), times.end(), [](double t) { return std::isfinite(t) && t > 0; });
}

}  // namespace

double rank_sum_probability(size_t n, size_t m, size_t u) {
    if (n == 0 || m == 0) return 1;
    u = std::min(u, n * m);
    if (n <= kExact && m <= kExact) {
        const std::vector<double> ways = orders_by_u(n, m);
        double all = 0, below = 0;
        for (size_t i = 0; i < ways.size(); ++i) {
            all += ways[i];
            if (i <= u) below += ways[i];
        }
        return below / all;
    }
    const double mean = double(n) * double(m) / 2, sd = std::sqrt(mean * double(n + m + 1) / 6);
    return 0.5 * std::erfc(-(double(u) + 0.5 - mean) / sd / std::sqrt(2.0));
}

TimeComparison compare_times(const std::vector<double>& before, const std::vector<double>& after,
                             double matters, double false_alarms, size_t groups) {
    TimeComparison out;
    const double level = false_alarms / double(std::max<size_t>(groups, 1)) / 2;  // of each end
    out.runs_needed = runs_for(level);
    if (before.empty() || after.empty() || !usable(before) || !usable(after)) return out;
    std::vector<double> changes;
    for (const double a : before)
        for (const double b : after) changes.push_back(std::log(b / a));
    std::sort(changes.begin(), changes.end());
    const size_t all = changes.size();
    const double middle = all % 2 ? changes[all / 2] : (changes[all / 2 - 1] + changes[all / 2]) / 2;
    out.change = std::expm1(middle);
    const double worse_from = std::log1p(matters), better_from = std::log1p(-matters);
    if (const size_t k = interval_rank(before.size(), after.size(), level); k > 0) {
        const double low = changes[k - 1], high = changes[all - k];
        out.low = std::expm1(low);
        out.high = std::expm1(high);
        if (low > 0 && middle > worse_from) out.outcome = TimeOutcome::worse;
        if (high < 0 && middle < better_from) out.outcome = TimeOutcome::better;
    }
    if (out.outcome != TimeOutcome::ambiguous) return out;
    const size_t k = interval_rank(before.size(), after.size(), kSameLevel / 2);
    if (k > 0 && changes[k - 1] >= better_from && changes[all - k] <= worse_from)
        out.outcome = TimeOutcome::same;
    return out;
}

}  // namespace attnscope::gate
