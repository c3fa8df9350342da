#pragma once
// Counter values for tests, out of the file that ATTNSCOPE_VGPU_COUNTERS names:
//   {"attnscope_fixture": 1, "note": "where the values come from",
//    "kernels": [{"match": "<ECMAScript regex, searched in the mangled name>",
//                 "metrics": {"dram__bytes_read.sum": 1234.0, ...}}, ...],
//    "ranges": [the same; searched in the range's names, joined by "/"]}
// The first entry that matches counts. A virtual GPU has no other values: without a fixture there are none.
#include <string>

namespace attnscope::vgpu::cupti {

/// False also where the file is damaged, which is reported.
bool fixture_loaded();

/// NaN where the fixture has nothing.
double fixture_kernel(const std::string& mangled_name, const std::string& metric);
double fixture_range(const std::string& path, const std::string& metric);

}  // namespace attnscope::vgpu::cupti
