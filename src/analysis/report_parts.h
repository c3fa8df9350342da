#pragma once
// The report's parts, each filled from the analysis alone. Words and order are here, looks are in reports/.
#include "attnscope/analysis.h"
#include "cells.h"

namespace attnscope::parts {

Table implementations_table(const Analysis& analysis);
/// LibTorch's own choice, and the backend that it chose is there by its own name: figures of the one are the
/// other's.
bool is_repeated(const Analysis& analysis, const Implementation& implementation);
/// "tensor pipe busy" for "tensor pipe busy, per active cycle": where no other share stands beside it.
std::string short_title(const CounterRole& role);
// Sections; one without tables and charts is left out.
Section charts_section(const Analysis& analysis);
Section prediction_section(const Analysis& analysis);  ///< bounds and their formulas
Section choice_section(const Analysis& analysis);      ///< LibTorch's choices of a backend
Section counters_section(const Analysis& analysis);
Section launches_section(const Analysis& analysis);
Section code_section(const Analysis& analysis);   ///< instructions and tiles of each kernel
Section apart_section(const Analysis& analysis);  ///< launches outside the iterations
/// What counters would tell and do not, each with its reason; the same reason once.
std::vector<std::string> uncounted(const Analysis& analysis);
std::vector<Row> counter_methods(const Analysis& analysis);
std::vector<Section> sections(const Analysis& analysis);
Table methods_table(const Analysis& analysis);
std::vector<std::string> answer(const Analysis& analysis);
std::vector<std::string> cannot_tell(const Analysis& analysis);

/// What is missing, by why, in the order in which the reasons come first.
using ByReason = std::vector<std::pair<std::string, std::vector<std::string>>>;
void add_reason(ByReason& all, const std::string& reason, std::string title);

Row words_row(std::string quantity, std::string formula, std::string source);
std::string dim_text(const std::optional<Dim3>& dim);  ///< "8 x 16 x 8"; empty when there is none

}  // namespace attnscope::parts
