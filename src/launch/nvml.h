#pragma once
// The few functions of NVML that read clocks, looked up at run time. Nothing here changes anything.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::launch {

/// Of one GPU, now. What NVML does not answer is nullopt.
struct ClockReading {
    unsigned device = 0;     ///< NVML's index
    std::string uuid, name;  ///< empty: not answered
    std::optional<unsigned> sm_mhz, memory_mhz, sm_max_mhz, memory_max_mhz, temperature_c, power_mw;
    std::optional<unsigned long long> throttle_reasons;
};

class Nvml {
  public:
    /// nullptr: the file is not there, is no NVML, or does not initialise.
    static std::unique_ptr<Nvml> load(const std::string& file);
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    std::vector<ClockReading> read() const;

  private:
    Nvml() = default;
    struct Functions;
    std::unique_ptr<Functions> functions_;
    std::vector<void*> devices_;
};

}  // namespace attnscope::launch
