#include "collectors/virtual_gpu/cupti/strict.h"

#include <cstdio>
#include <cstdlib>

#include "collectors/virtual_gpu/core/api.h"

namespace attnscope::vgpu::cupti {

bool strict_run() {
    static const bool strict = std::getenv("ATTNSCOPE_VGPU_STRICT") != nullptr;
    return strict;
}

CUptiResult refuse(CUptiResult result, const char* function, const std::string& what,
                   const std::string& remedy) {
    report("error", "cupti-contract", std::string(function) + ": " + what, remedy);
    return result;
}

CUptiResult refuse_crash(CUptiResult result, const char* function, const std::string& what,
                         const std::string& remedy) {
    if (strict_run()) {
        std::fprintf(stderr, "attnscope's CUPTI stand-in (ATTNSCOPE_VGPU_STRICT): %s: %s; %s\n", function,
                     what.c_str(), remedy.c_str());
        std::abort();
    }
    return refuse(result, function, what + " (the real library can crash here)", remedy);
}

}  // namespace attnscope::vgpu::cupti
