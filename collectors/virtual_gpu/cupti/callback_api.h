#pragma once
// The one subscriber that CUPTI 13.0 allows a process, and what it asked to hear.
#include <cupti.h>

#include "collectors/virtual_gpu/core/hooks.h"

namespace attnscope::vgpu::cupti {

bool anybody_subscribed();
/// The API_ENTER or API_EXIT callback of a driver or runtime function.
void call_back(ApiCall& call, CUpti_ApiCallbackSite site);
/// Any other domain; `data` is the domain's own struct.
void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data);
void drop_subscriber();

}  // namespace attnscope::vgpu::cupti
