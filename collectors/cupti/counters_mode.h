#pragma once
// What the launcher asks of this process by its environment (src/launch sets it for the program).
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace attnscope::collector {

/// What one counter value covers.
enum class CountedUnit : uint8_t { none, kernel, implementation, nvtx };

struct CountersMode {
    CountedUnit unit = CountedUnit::none;  ///< none: an activity collection
    bool replay = false;                   ///< kernels may run several times, once for each pass
    uint32_t config_wait_ms = 30'000;      ///< how long a launch waits for the launcher's config image
    uint32_t watchdog_s = 30;              ///< how long a counted launch may take

    bool on() const { return unit != CountedUnit::none; }
    bool ranges() const { return on() && unit != CountedUnit::kernel; }
};

inline uint32_t number_of_environment(const char* name, uint32_t otherwise) {
    const char* text = std::getenv(name);
    const std::string_view digits = text == nullptr ? std::string_view() : text;
    uint32_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return !digits.empty() && read.ec == std::errc() && read.ptr == digits.data() + digits.size() ? value
                                                                                                  : otherwise;
}

inline CountersMode counters_mode() {
    CountersMode mode;
    const char* text = std::getenv("ATTNSCOPE_COUNTERS");
    const std::string_view unit = text == nullptr ? std::string_view() : text;
    if (unit == "kernel") mode.unit = CountedUnit::kernel;
    if (unit == "range-implementation") mode.unit = CountedUnit::implementation;
    if (unit == "range-nvtx") mode.unit = CountedUnit::nvtx;
    mode.replay = number_of_environment("ATTNSCOPE_COUNTERS_REPLAY", 0) == 1;
    mode.config_wait_ms = number_of_environment("ATTNSCOPE_CONFIG_WAIT_MS", mode.config_wait_ms);
    mode.watchdog_s = number_of_environment("ATTNSCOPE_WATCHDOG_S", mode.watchdog_s);
    return mode;
}

}  // namespace attnscope::collector
