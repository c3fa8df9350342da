#pragma once
// External correlation: a stack of the client's ids for each thread and kind.
#include <cstdint>

namespace attnscope::vgpu::cupti {

struct Thread;

/// Ties the tops of this thread's stacks to the API call `correlation`; once a call.
void record_external_ids(Thread& thread, uint32_t correlation);

}  // namespace attnscope::vgpu::cupti
