#pragma once
// Events: a point in a stream's work. No time belongs to it, as nothing was measured.
#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "collectors/virtual_gpu/core/context.h"

namespace attnscope::vgpu {

struct GraphNode;

struct Event {
    CUevent handle = nullptr;
    uint32_t id = 0;
    Context* context = nullptr;
    unsigned flags = 0;

    std::mutex mutex;  ///< guards what follows
    bool recorded = false;
    uint64_t host_ticket = 0;                      ///< what the recording stream waited for
    uint64_t capture_id = 0;                       ///< not 0: recorded in that capture
    std::vector<GraphNode*> capture_dependencies;  ///< the nodes before it there
};

/// Where `stream` is now. On a capturing stream the event becomes part of the capture.
CUresult record_event(Event& event, Stream& stream, unsigned flags);
/// Work issued to `stream` from now on waits for the event. It joins the event's capture when there is one.
CUresult wait_event(Stream& stream, Event& event, unsigned flags);

}  // namespace attnscope::vgpu
