#pragma once
#include <string_view>

#include "importer.h"

namespace attnscope::importer {

bool is_nsys_stats(std::string_view head);
void read_nsys_stats(Input& input, Imported& out);

}  // namespace attnscope::importer
