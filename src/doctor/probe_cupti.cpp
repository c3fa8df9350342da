#include <dlfcn.h>

#include <cstdlib>

#include "answer_lines.h"
#include "ask_child.h"
#include "probes.h"

namespace attnscope::doctor {

CuptiFacts probe_cupti(const std::string& library, int limit_ms) {
    const Answer answer = ask_child(
        [&library](int out) {
            void* cupti = dlopen(library.c_str(), RTLD_LAZY);
            if (cupti == nullptr) {
                const char* why = dlerror();
                return say(out, "problem", why != nullptr ? why : "cannot be loaded");
            }
            say(out, "path", file_of(cupti));
            if (dlsym(cupti, "attnscopeVgpuSetObserver") != nullptr)
                return say(out, "problem", "it is attnscope's virtual one");
            uint32_t version = 0;
            const auto version_of = reinterpret_cast<int (*)(uint32_t*)>(dlsym(cupti, "cuptiGetVersion"));
            const int result = version_of != nullptr ? version_of(&version) : -1;
            if (result != 0 || version == 0) return say(out, "problem", "does not answer cuptiGetVersion");
            say(out, "version", version);
        },
        limit_ms);
    CuptiFacts facts;
    facts.path = library;
    each_line(answer.text, [&facts](const std::string& key, const std::string& value) {
        if (key == "path" && !value.empty()) facts.path = value;
        if (key == "problem") facts.problem = value;
        if (key == "version") facts.version = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    });
    if (!facts.version && facts.problem.empty())
        facts.problem = answer.timed_out ? "did not load in time" : "crashed while it was loaded";
    return facts;
}

}  // namespace attnscope::doctor
