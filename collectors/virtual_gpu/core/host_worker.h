#pragma once
// Host functions (cuLaunchHostFunc, cuStreamAddCallback) run on one thread of the driver, in the order of
// issue, as a real driver's do. They are the only work that takes time here; tickets say what waits for
// which.
#include <cstdint>
#include <functional>

namespace attnscope::vgpu {

/// Queues `function` and returns its ticket.
uint64_t run_on_host_worker(std::function<void()> function);
/// True when the ticket's function, and all before it, have run. 0 is always done.
bool host_ticket_done(uint64_t ticket);
/// Waits for it; returns at once on the worker itself.
void wait_for_host_ticket(uint64_t ticket);
/// Waits for all that were queued before this call.
void wait_for_host_functions();

}  // namespace attnscope::vgpu
