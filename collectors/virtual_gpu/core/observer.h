#pragma once
// What the core tells the observer (collectors/virtual_gpu/observer.h), kept for one that comes late.
#include <cstdint>
#include <string>

#include "collectors/virtual_gpu/core/api.h"

namespace attnscope::vgpu {

/// Once for each (device, key).
void report_assumed_figure(int device, const char* key);

/// The host was given `bytes` bytes, or a time, that nobody computed. Finds the program's line itself;
/// `cause` is a literal.
void report_uncomputed_read(uint64_t bytes, const char* cause, const char* returned);

/// `stream_id` is the number that CUPTI shows.
void report_library_call(const LibraryCall& call, uint32_t correlation, int device, uint32_t stream_id);

}  // namespace attnscope::vgpu
