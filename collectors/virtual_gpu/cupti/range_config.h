#pragma once
#include "collectors/virtual_gpu/cupti/range_call.h"

namespace attnscope::vgpu::cupti {

/// A number that an environment variable may change.
size_t number_of(const char* variable, size_t otherwise);

/// The configuration that SetConfig asks for; an error, with its diagnostic, where it is none.
CUptiResult read_config(Call& call, const CUpti_RangeProfiler_SetConfig_Params& params,
                        const std::string& chip, RangeConfig& config);

}  // namespace attnscope::vgpu::cupti
