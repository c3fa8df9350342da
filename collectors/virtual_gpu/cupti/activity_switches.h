#pragma once
// Which activity records a client asked for: by kind, by single API function, by context.
#include <cupti.h>

#include <cstdint>

namespace attnscope::vgpu::cupti {

/// What cuptiActivityEnable answers: SUCCESS, NOT_COMPATIBLE for a kind whose records nobody makes here,
/// INVALID_KIND.
CUptiResult check_kind(CUpti_ActivityKind kind);

void switch_kind(CUpti_ActivityKind kind, bool on);
/// Supersedes switch_kind for one context.
void switch_kind_of_context(uint32_t context_id, CUpti_ActivityKind kind, bool on);
void switch_api(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool on);
void switch_everything_off();

/// In any context.
bool kind_enabled(CUpti_ActivityKind kind);
bool kind_wanted(CUpti_ActivityKind kind, uint32_t context_id);
bool api_wanted(uint32_t domain, uint32_t cbid, uint32_t context_id);
/// Something is on: the driver's calls must be listened to.
bool anything_enabled();

}  // namespace attnscope::vgpu::cupti
