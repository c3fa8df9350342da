#pragma once
// Can this gate fail? Runs are held against themselves, then each value is worsened beyond its bound, one at
// a time, and the gate must see it. And how much do the runs differ among themselves: whether the bounds are
// beyond that, and what it proposes.
#include <string>
#include <vector>

#include "attnscope/gate.h"

namespace attnscope::gate {

/// How much a counter or a time varies between runs of one program on one machine: measured, where the
/// metric's own floor is an assumption.
struct Noise {
    std::string subject, metric;
    bool of_kernels = false;  ///< the greatest of the implementation's kernels; else the implementation's own
    size_t runs = 0;
    double spread = 0;    ///< (greatest - least) / median
    double allowed = 0;   ///< what the gate takes for noise now, or allows: a share; time: 0
    double proposed = 0;  ///< a share that such noise does not reach: twice the spread; less than is taken
                          ///< for noise now only from kRunsForLess runs on
    bool beyond() const { return allowed > 0 && spread > allowed; }  ///< the gate would cry wolf
    std::string sentence() const;
};
inline constexpr size_t kRunsForLess = 5;

struct SelfTest {
    GateResult same;                  ///< the runs against themselves: nothing may be worse
    size_t worsened = 0;              ///< values, parts and implementations that were made worse
    std::vector<std::string> missed;  ///< made worse, and the gate did not see it
    std::vector<std::string>
        cannot_fail;           ///< gated, and cannot be made worse, or not be told with so few runs
    std::vector<Noise> noise;  ///< of counters and times; empty with one run

    bool sees() const;           ///< it can fail, and does not where nothing changed
    bool passed() const;         ///< and no bound is within the noise
    std::string policy() const;  ///< the proposed bounds as [[limit]]s; empty: none
};

SelfTest self_test(const GateFacts& runs, const Policy& policy);

}  // namespace attnscope::gate
