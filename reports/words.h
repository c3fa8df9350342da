#pragma once
// The words and signs for what the model says by enumerators. A sign never stands without its word or its
// legend.
#include <functional>
#include <string>
#include <vector>

#include "attnscope/report.h"

namespace attnscope::reports {

/// "b" for the binary, "bv" for the binary on a virtual GPU: source, then ground when it is not a real GPU.
std::string tag_of(const Provenance& provenance);
/// The same in superscript letters: "ᵇᵛ".
std::string superscript(const std::string& tag);
std::string superscript(size_t number);
/// "read from the binary (cubin)".
const char* describe(Source source);

struct LegendEntry {
    std::string letter, meaning;
};
/// The letters that this report uses, sources first.
std::vector<LegendEntry> legend_of(const Report& report);

const char* sign(Severity severity);
const char* word(Severity severity);
const char* sign(NoticeLevel level);
const char* word(NoticeLevel level);
const char* sign(RowStatus status);
const char* word(RowStatus status);  ///< empty for a normal row
const char* word(Chart::Kind kind);

bool is_predicted(const Value& value);  ///< no GPU measured it: virtual, or a fixture
/// Every number of the report comes from a virtual GPU, but for those that are cited from elsewhere.
bool is_all_virtual(const Report& report);
/// What kind of numbers these are, and the rest of the banner: its own first word where that is in capitals
/// ("RECORDED on ...").
struct Banner {
    std::string mark, sentence;
};
Banner banner_of(const Report& report);
/// What ran where, without what the title says.
std::vector<Fact> strip_of(const Report& report);
/// A next step that can be typed, not an experiment in words.
bool is_command(const std::string& next_step);

/// A command as a shell reads it in several lines: broken at spaces that no quotes hold, each line but the
/// last ended by a backslash, further ones indented. `lead`: columns that are taken before the first. Empty
/// where that cannot be done.
std::vector<std::string> shell_lines(const std::string& command, size_t width, size_t lead = 0);

/// Every value of a report, in reading order.
void for_each_value(const Report& report, const std::function<void(const Value&)>& visit);

/// Groups of findings that a format shows at once; the others are folded.
inline constexpr size_t findings_open = 7;

/// Findings of one rule that follow one another: the first is shown, the others stand folded behind it.
struct FindingGroup {
    size_t first = 0, count = 0;  ///< places in the report's list
};
std::vector<FindingGroup> groups_of(const std::vector<Finding>& findings);
/// "3 more of this rule", after the first of a group; empty: it is alone.
std::string more_of(const FindingGroup& group);
/// Those of the groups from the `shown`th on.
size_t findings_behind(const std::vector<FindingGroup>& groups, size_t shown);

}  // namespace attnscope::reports
