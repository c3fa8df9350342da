#pragma once
// Can this gate fail? Runs are held against themselves, then each value is worsened beyond its bound, one at
// a time, and the gate must see it. And how much do the runs differ among themselves: what bounds that
// proposes.
#include <string>
#include <vector>

#include "attnscope/gate.h"

namespace attnscope::gate {

/// How much a value varies between runs of one program.
struct Noise {
    std::string subject, metric;
    size_t runs = 0;
    double spread = 0;    ///< (greatest - least) / median
    double proposed = 0;  ///< a bound that such noise does not reach: a share
};

struct SelfTest {
    GateResult same;                  ///< the runs against themselves: nothing may be worse
    size_t worsened = 0;              ///< values, parts and implementations that were made worse
    std::vector<std::string> missed;  ///< made worse, and the gate did not see it
    std::vector<std::string>
        cannot_fail;           ///< gated, and cannot be made worse, or not be told with so few runs
    std::vector<Noise> noise;  ///< of counters and times; empty with one run

    bool passed() const { return same.count(Outcome::worse) == 0 && worsened > 0 && missed.empty(); }
    std::string policy() const;  ///< the proposed bounds as [[limit]]s; empty: none
};

SelfTest self_test(const GateFacts& runs, const Policy& policy);

}  // namespace attnscope::gate
