#pragma once
// A baseline: the facts that a change is held against, as a file that is committed and reviewed in a diff.
// Sorted, without dates, one value a line (schema/baseline.schema.json), so that a diff of two shows what
// changed.
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/gate_facts.h"

namespace attnscope::gate {

inline constexpr int kBaselineMajor = 1;

struct Baseline {
    std::string reason;  ///< why it is as it is: "flash after the mask was dropped"
    GateFacts facts;
};

/// JSON. The facts' `unusable`, `lost`, `throttled` and `findings` are not in it: a run that has them becomes
/// no baseline.
std::string to_json(const Baseline& baseline);

/// Reads what to_json wrote. Throws Error, one sentence that names `origin` and the place in it: no JSON, not
/// a baseline, of another major version, a value of the wrong type or an impossible one.
Baseline read_baseline(std::string_view json, const std::string& origin);
/// The same from a file; throws Error where it cannot be read.
Baseline load_baseline(const std::string& file);

/// What replaces what, in words, a line each: "sdpa_flash launches: 1 -> 2". Empty: nothing changes.
std::vector<std::string> difference(const Baseline& before, const Baseline& after);

}  // namespace attnscope::gate
