#pragma once
// How the stand-in tells a client's author what the client did wrong: an error result, and a diagnostic that
// says why.
#include <cupti_result.h>

#include <string>

namespace attnscope::vgpu::cupti {

/// Under ATTNSCOPE_VGPU_STRICT.
bool strict_run();

/// Reports, and gives `result` back.
CUptiResult refuse(CUptiResult result, const char* function, const std::string& what,
                   const std::string& remedy);

/// The same for what crashes the real library, or is not defined: a strict run ends here, loudly.
CUptiResult refuse_crash(CUptiResult result, const char* function, const std::string& what,
                         const std::string& remedy);

}  // namespace attnscope::vgpu::cupti
