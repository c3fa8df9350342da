#pragma once
#include <cupti_result.h>

namespace attnscope::vgpu::cupti {

bool profiler_initialised();
/// Range profiling is documented from compute capability 7.5 on.
bool has_range_profiling(int ordinal);
/// CUPTI_SUCCESS where a fixture gives counter values; else what a virtual GPU answers, with a diagnostic.
CUptiResult no_counters(const char* function);

/// The stand-in's counter availability image begins so: the host API must not hand it to the real library.
constexpr char availability_magic[8] = {'v', 'G', 'P', 'U', 'a', 'v', 'l', '1'};
constexpr unsigned availability_bytes = 64;  ///< the magic, then the chip's name, zero-filled

}  // namespace attnscope::vgpu::cupti
