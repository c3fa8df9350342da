#pragma once
#include <string_view>

#include "importer.h"

namespace attnscope::importer {

bool is_kineto(std::string_view head);
void read_kineto(Input& input, Imported& out);

}  // namespace attnscope::importer
