#pragma once
// The core's events as CUPTI's records. Nobody measured when a kernel, copy or memset ran: start = end = 0,
// CUPTI's own "could not be collected". With ATTNSCOPE_VGPU_TICKS=1 they are an order instead (for clients
// that drop such records): the host's time of issue, made strictly increasing over the process, one tick
// each. API calls and synchronisations are measured on the host.
#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/cupti/objects.h"

namespace attnscope::vgpu::cupti {

struct Thread;

void record_kernel(const KernelEvent& event);
void record_copy(const CopyEvent& event);
void record_memset(const MemsetEvent& event);
void record_synchronisation(const SyncEvent& event);
void record_api_call(const ApiCall& call, const Thread& thread);
void record_devices();
void record_context(const ContextObject& context);
void record_stream(const StreamObject& stream, uint32_t correlation);
void record_module(uint32_t context_id, uint32_t module_id);

}  // namespace attnscope::vgpu::cupti
