#pragma once
#include <string>
#include <vector>

namespace attnscope::counters {

/// The file that ATTNSCOPE_CUPTI names, else the first libcupti.so.13, then .12, that has libnvperf_host.so
/// beside it: in a toolkit, in PyPI's packages, in the cache of scripts/setup.sh. Empty: none.
std::string find_cupti();

/// Where find_cupti() looks, in order.
std::vector<std::string> cupti_folders();

}  // namespace attnscope::counters
