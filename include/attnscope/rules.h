#pragma once
// Rules turn numbers into findings. One file a rule, one ordered table (src/rules/table.cpp).
#include <vector>

#include "attnscope/analysis.h"

namespace attnscope {

/// On which ground a rule can say something at all.
enum class Applies { always, measured, predicted };

struct Rule {
    const char* id;     ///< stable; the id of its findings
    const char* title;  ///< what it looks for; shown when it was silent
    /// Empty: the condition does not hold, or a number that it needs is missing.
    std::vector<Finding> (*find)(const Analysis& analysis);
    Applies applies = Applies::always;
    /// When it says nothing, after "silent where": "no record was lost". Empty: not written down.
    const char* silent = "";
};

/// In the order of the report within one severity.
const std::vector<Rule>& rules();

/// Of all rules: problems first, then by the table's order.
std::vector<Finding> find_all(const Analysis& analysis);

}  // namespace attnscope
