#pragma once
// A run held against a baseline and limits: a verdict for each value, an exit code for the whole. Exact
// values are judged first, counters beside their noise, times with statistics (attnscope/gate_time.h). What
// cannot be judged is a verdict as well: a gate that checks nothing is not green.
#include <optional>
#include <string>
#include <vector>

#include "attnscope/baseline.h"
#include "attnscope/error.h"
#include "attnscope/gate_facts.h"
#include "attnscope/policy.h"

namespace attnscope::gate {

enum class Outcome {
    worse,      ///< beyond its bound: the gate fails
    unjudged,   ///< the gate cannot say: absent on one side, matches nothing
    ambiguous,  ///< time: not told apart
    better,
    same,  ///< within its bound
};
const char* to_string(Outcome outcome);  ///< "worse", "cannot judge", "ambiguous", "better", "same"

struct Verdict {
    Outcome outcome = Outcome::same;
    std::string rule;  ///< stable: "exact/launches", "budget/registers", "matching/kernel"
    MetricClass kind = MetricClass::exact;
    std::string subject;  ///< implementation or range; empty: the run
    Level level = Level::implementation;
    std::string place, part;    ///< part: the full name; empty for a whole implementation
    std::string part_title;     ///< for people
    std::string range;          ///< of a part: the program's range that launched it; may be empty
    std::string metric;         ///< empty where it is about the thing itself
    Measurement before, after;  ///< without a metric where there is none: no baseline, a new kernel
    Provenance provenance;      ///< of both
    std::string change;    ///< for a table's cell: "+33.5 %", "+1", "new", "gone"; empty: none to speak of
    std::string limit;     ///< the bound in words: "no more than in the baseline"
    std::string bound;     ///< the same for a cell: "≤ base", "+5 %", "≤ 168"
    int line = 0;          ///< of the policy; 0: built in
    std::string sentence;  ///< what is the case
    std::string cause,
        next_step;  ///< of a failure: the likely cause, the command that shows it; may be empty

    std::string fingerprint() const;  ///< the same in every run of the gate for the same thing
};

struct Change {
    std::string label, before, after;
};

/// What the texts name.
struct GateContext {
    std::string baseline_file;  ///< empty: there is none
    std::vector<std::string> runs;
    std::string before = {},
                after = {};  ///< commands that were run in turns, in place of a baseline; else empty
};

struct GateResult {
    GateContext context;
    Policy policy;
    Ground ground = Ground::virtual_gpu;
    std::string gpu;
    std::vector<std::string> no_comparison;  ///< why nothing was compared; then there are no verdicts
    std::vector<Change> inputs, environment;
    std::vector<std::string> notes;  ///< what a reader must know: allowed losses, "deleted" limits
    std::vector<Verdict> verdicts;   ///< worst first, then in the facts' order
    Exit exit = Exit::cannot_judge;
    std::string headline;        ///< "1 value is worse than the baseline, 11 hold"
    std::string update_command;  ///< that makes this run the baseline; empty: nothing to update

    size_t count(Outcome outcome) const;
};

/// `baseline` may be nullptr where the policy has absolute limits. Never throws.
GateResult judge(const GateFacts& run, const Baseline* baseline, const Policy& policy,
                 const GateContext& context);

}  // namespace attnscope::gate
