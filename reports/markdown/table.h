#pragma once
#include <string>

#include "attnscope/report.h"

namespace attnscope::reports {

/// A pipe table, padded so that it reads as plain text too, with what is missing, refused or long below it.
std::string markdown_table(const Table& table);

/// The full names that the cells shorten, folded; empty when there are none.
std::string markdown_full_names(const Table& table);

}  // namespace attnscope::reports
