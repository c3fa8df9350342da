#pragma once
// Copies and memsets among the watched driver calls: one row a function.
#include <cuda.h>

#include <cstdint>
#include <span>

namespace attnscope::collector {

struct MemoryCall {
    uint32_t cbid;
    bool memset;
    const char* kind;  ///< of a copy, where the function's name says it
    bool asynchronous, per_thread;
    /// Reads bytes, a copy's kind where the parameters say it, a memset's value.
    void (*read)(const void* parameters, uint64_t& bytes, const char*& kind, uint32_t* value);
    CUstream (*stream)(const void* parameters);  ///< nullptr: the call has none
};

std::span<const MemoryCall> memory_calls();
/// nullptr: neither a copy nor a memset.
const MemoryCall* memory_call(uint32_t cbid);

}  // namespace attnscope::collector
