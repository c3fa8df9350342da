#pragma once
#include <string_view>

#include "importer.h"

namespace attnscope::importer {

bool is_nsight_systems(std::string_view head);
void read_nsight_systems(Input& input, Imported& out);

}  // namespace attnscope::importer
