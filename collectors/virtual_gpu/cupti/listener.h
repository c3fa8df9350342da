#pragma once
// Where the core's events arrive. Contexts, streams and modules are followed from the start (clients attach
// late); API calls and work only while somebody asked for them.
namespace attnscope::vgpu::cupti {

/// Listens to the core as far as activity kinds and callbacks ask for.
void refresh_hooks();

}  // namespace attnscope::vgpu::cupti
