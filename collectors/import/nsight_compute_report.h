#pragma once
#include <string_view>

#include "importer.h"

namespace attnscope::importer {

bool is_nsight_compute_report(std::string_view head);
void read_nsight_compute_report(Input& input, Imported& out);

}  // namespace attnscope::importer
