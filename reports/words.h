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
/// A next step that can be typed, not an experiment in words.
bool is_command(const std::string& next_step);

/// Every value of a report, in reading order.
void for_each_value(const Report& report, const std::function<void(const Value&)>& visit);

/// Findings and sections that a format shows at once; the others are folded.
inline constexpr size_t findings_open = 7;

}  // namespace attnscope::reports
