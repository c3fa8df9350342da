#pragma once
// What a gate allows: a TOML file beside the baseline. Without one every exact value must hold, counters may
// move by their noise, and time is judged where there are runs enough.
//
//     version = 1
//     cannot_judge = "fail"             # "exit-3" (the default), "pass" or "fail"
//     environment = "report"            # another library version: "report", "fail" or "cannot-judge"
//     data_loss = "cannot-judge"        # or "allow"
//     new = "cannot-judge"              # what the baseline does not hold: "cannot-judge", "report" or "fail"
//
//     [classes]                         # each true unless it is switched off
//     time = false
//
//     [time]
//     matters = "3%"                    # the smallest difference that matters
//     false_alarms = "1%"               # of a whole gate run, over all its groups
//
//     [[limit]]                         # one bound; later ones win over earlier ones
//     implementation = "sdpa_*"         # patterns with * and ?; all where there is none
//     kernel = "*flash_fwd*"            # a kernel's full or short name; with it, the metric is the kernel's
//     metric = "registers"              # a pattern too; must match a metric that exists
//     may_worsen = "5%"                 # or a number: over the baseline
//     noise = "0.8%"                    # counters: what they vary by here, instead of the assumption (below)
//     at_most = 168                     # absolute, no baseline needed; also at_least
//     is = "flash"                      # words: backend, status; also not = "math"
//     ignore = true                     # not judged
//
// Counters are judged beside a noise floor: 5 %, and 0.5 % for counts of instructions. These two figures are
// assumptions, chosen before the collector met a GPU, not measurements. `attnscope gate RUN RUN RUN...
// --self-test` measures how much each counter varies between runs of one program on one machine, says where
// a floor is too low for it, and prints [[limit]]s with the noise that it saw.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/gate_facts.h"

namespace attnscope::gate {

/// A share (0.05 for "5%") or an amount in the metric's unit.
struct Allowance {
    double amount = 0;
    bool relative = false;
    double of(double baseline) const { return relative ? amount * baseline : amount; }
};

struct Limit {
    std::string implementation = "*", kernel,
                metric;  ///< kernel empty: of the implementation, or of every part
    std::optional<Allowance> may_worsen;
    std::optional<double> noise;  ///< a share, instead of the metric's own
    std::optional<double> at_most, at_least;
    std::string is, is_not;
    bool ignore = false;
    int line = 0;  ///< in the policy's file
    bool absolute() const { return at_most || at_least || !is.empty() || !is_not.empty(); }
    std::string bound() const;  ///< "at most 168"
    std::string cell() const;   ///< the same for a table's cell: "≤ 168"
    std::string text() const;   ///< "registers of *flash_fwd* in sdpa_*: at most 168"
};

enum class CannotJudge { exit_3, pass, fail };
enum class OnDifference { report, cannot_judge, fail };

struct Policy {
    std::string file;  ///< as it was named; empty: the built-in one
    CannotJudge cannot_judge = CannotJudge::exit_3;
    OnDifference environment = OnDifference::report;
    OnDifference unknown = OnDifference::cannot_judge;  ///< `new`
    bool allow_data_loss = false;
    bool exact = true, counters = true, time = true;
    double time_matters = 0.03;
    double false_alarms = 0.01;
    std::vector<Limit> limits;

    bool judges(MetricClass kind) const {
        return kind == MetricClass::exact ? exact : kind == MetricClass::counter ? counters : time;
    }
};

/// Throws Error, one sentence with "origin:line:column": no TOML, an unknown key or metric (with the nearest
/// name), a wrong type, a bound that nothing can satisfy, two limits that contradict one another.
Policy read_policy(std::string_view toml, const std::string& origin);
Policy load_policy(const std::string& file);

/// `*` is any text, `?` one character; nothing else is special. Linear in text times pattern.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace attnscope::gate
