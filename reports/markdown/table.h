#pragma once
#include <set>
#include <string>

#include "attnscope/report.h"

namespace attnscope::reports {

/// A pipe table, padded so that it reads as plain text too, with what is missing, refused or long below it.
std::string markdown_table(const Table& table);

/// The full names that the cells shorten, folded; empty when there are none. One that an earlier table has
/// told is in `told`, and not told again.
std::string markdown_full_names(const Table& table, std::set<std::string>& told);

}  // namespace attnscope::reports
