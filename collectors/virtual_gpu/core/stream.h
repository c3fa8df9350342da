#pragma once
// Streams. Nothing takes time on the virtual GPU: what is issued is done, unless it waits for a host
// function.
#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "collectors/virtual_gpu/core/context.h"

namespace attnscope::vgpu {

struct Capture;
struct GraphNode;

enum class StreamKind { legacy, per_thread, created };
constexpr int greatest_priority = -5;  // what current drivers answer

struct Stream {
    CUstream handle = nullptr;
    uint32_t id = 0;  ///< as CUPTI shows it
    Context* context = nullptr;
    unsigned flags = 0;
    int priority = 0;
    StreamKind kind = StreamKind::created;
    std::atomic<uint64_t> host_ticket{0};  ///< the last host function that its work waits for; 0 none

    std::atomic<Capture*> capture{nullptr};        ///< the capture that it takes part in
    std::vector<GraphNode*> capture_dependencies;  ///< guarded by graph_mutex()

    /// Work of the legacy stream orders itself with this stream's.
    bool blocking() const { return kind == StreamKind::created && (flags & CU_STREAM_NON_BLOCKING) == 0; }
};

Stream* create_stream(Context& context, unsigned flags, int priority, StreamKind kind);
void destroy_stream(Stream& stream);

/// The stream that a handle means on this thread: 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD included.
/// CUDA_ERROR_INVALID_HANDLE for what is none, CUDA_ERROR_INVALID_CONTEXT when stream 0 has no context.
CUresult find_stream(CUstream handle, Stream*& stream);

/// CUpti_ActivitySynchronizationType.
enum class SyncKind : uint32_t { event = 1, stream_wait_event = 2, stream = 3, context = 4 };
void raise_synchronised(Context& context, const Stream* stream, SyncKind kind, uint32_t event_id = 0);

}  // namespace attnscope::vgpu
