#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>

#include "answer_lines.h"
#include "ask_child.h"
#include "probes.h"

namespace attnscope::doctor {

std::string file_of(void* library) {
    link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(map->l_name, error);
    return error ? std::string(map->l_name) : real.string();
}

DriverFacts probe_driver(const std::string& library) {
    constexpr int kLimitMs = 5000,
                  kUseLimitMs = 65000;  // real_gpu gives the driver a minute to start the GPUs
    DriverFacts facts;
    const Answer loaded = ask_child(
        [&library](int out) {
            void* driver = dlopen(library.c_str(), RTLD_NOW);
            if (driver == nullptr) return;
            say(out, "library", file_of(driver));
            int version = 0;  // needs no cuInit
            const auto version_of = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
            if (version_of != nullptr && version_of(&version) == 0 && version > 0) say(out, "cuda", version);
        },
        kLimitMs);
    each_line(loaded.text, [&facts](const std::string& key, const std::string& value) {
        if (key == "library") facts.library = value;
        if (key == "cuda") facts.cuda = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
    });

    // The launcher's own question, so that both say the same. In a child because it waits for its own.
    const Answer used = ask_child(
        [](int out) {
            const launch::RealGpu gpu = launch::look_for_real_gpu();
            say(out, "present", gpu.device_present ? 1 : 0);
            say(out, "usable", gpu.usable ? 1 : 0);
            say(out, "reason", gpu.reason);
            say(out, "remedy", gpu.remedy);
            for (const std::string& name : gpu.names) say(out, "name", name);
        },
        kUseLimitMs);
    launch::RealGpu& gpu = facts.gpu;
    gpu.reason = used.timed_out ? "the driver did not answer within a minute"
                                : "the driver crashed while it was asked";
    gpu.remedy = "run nvidia-smi to see what is wrong with the driver";
    each_line(used.text, [&gpu](const std::string& key, const std::string& value) {
        if (key == "present") gpu.device_present = value == "1";
        if (key == "usable") gpu.usable = value == "1";
        if (key == "reason") gpu.reason = value;
        if (key == "remedy") gpu.remedy = value;
        if (key == "name") gpu.names.push_back(value);
    });
    return facts;
}

}  // namespace attnscope::doctor
