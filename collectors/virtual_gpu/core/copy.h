#pragma once
// Copies and memsets: what they do to known content, and the events that they raise.
#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "collectors/virtual_gpu/core/memory.h"

namespace attnscope::vgpu {

struct Issue;

/// `depth` slices of `height` rows of `width` bytes. A plain copy is one row.
struct CopyRequest {
    uintptr_t destination = 0, source = 0;
    size_t width = 0, height = 1, depth = 1;
    size_t destination_pitch = 0, source_pitch = 0;  ///< bytes from row to row
    size_t destination_slice = 0, source_slice = 0;  ///< bytes from slice to slice
    bool asynchronous = false;
    size_t bytes() const { return width * height * depth; }
};

/// Which sides the program names as device memory; `any` for unified addresses.
enum class Side : uint8_t { any, host, device };

/// CUDA_ERROR_INVALID_VALUE for a range that is no memory of the kind that was named.
CUresult check_copy(const CopyRequest& copy, Side destination, Side source);
/// Does it and raises its event. Reads of uncomputed device memory into host memory are reported here.
void perform_copy(const CopyRequest& copy, const Issue& issue);

struct SetRequest {
    uintptr_t destination = 0;
    uint32_t value = 0;
    uint8_t value_bytes = 1;
    size_t width = 0;  ///< in values
    size_t height = 1;
    size_t pitch = 0;  ///< bytes
    bool asynchronous = false;
    size_t bytes() const { return width * value_bytes * height; }
};
CUresult check_set(const SetRequest& set);
void perform_set(const SetRequest& set, const Issue& issue);

/// Host -> device without an event: the initial content of a module's variables.
void write_device(uintptr_t destination, const void* bytes, size_t size);
void clear_device(uintptr_t destination, size_t size);

}  // namespace attnscope::vgpu
