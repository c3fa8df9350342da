#pragma once
// Times of two sets of process runs, told apart or not. A run is the replicate: what differs between runs of
// one program (layout, clocks, neighbours) is not averaged away by more iterations inside one, so each run
// gives one number. The interval is the exact one of Mann and Whitney's rank test on the logarithms (Hodges
// and Lehmann, "Estimates of location based on rank tests", 1963): it assumes no shape of the noise, only
// that the runs are independent and that both sides' noise is alike; its price is a least number of runs.
#include <cstddef>
#include <optional>
#include <vector>

namespace attnscope::gate {

enum class TimeOutcome { same, better, worse, ambiguous };

/// Changes are shares of the first side: 0.05 is 5 % slower.
struct TimeComparison {
    TimeOutcome outcome = TimeOutcome::ambiguous;
    std::optional<double> change;     ///< median of all ratios between the sides
    std::optional<double> low, high;  ///< at the corrected level; absent: too few runs for one
    size_t runs_needed = 0;           ///< a side, for an interval at this level
};

/// `before` and `after`: one time for each run, positive. `false_alarms` is the share for the whole gate run:
/// each of its `groups` gets its part of it (Bonferroni). `matters`: the smallest change that is worse or
/// better. worse: the interval lies above 0 and the change is above `matters`; same: a 95 % interval lies
/// within `matters`; everything else is ambiguous, as are times that are not positive and finite.
TimeComparison compare_times(const std::vector<double>& before, const std::vector<double>& after,
                             double matters, double false_alarms, size_t groups);

/// P(U <= u) of Mann and Whitney's U where both sides are alike: exact to 40 a side, above the normal
/// approximation.
double rank_sum_probability(size_t n, size_t m, size_t u);

}  // namespace attnscope::gate
