#pragma once
// One chip as CUPTI's host API knows it: its metrics, and what collecting them takes.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host_api.h"

namespace attnscope::cupti_host {

/// Every chip that this CUPTI lists; one may still be refused when it is asked for (GV11B is).
std::vector<std::string> supported_chips(const HostApi& api);

struct Metric {
    std::string name;  ///< base name
    CUpti_MetricType type = CUPTI_METRIC_TYPE_COUNTER;
    std::string description, unit, hardware;
};

struct Plan {
    std::vector<std::string> metrics;  ///< what this chip has, in the order asked for, each once
    std::vector<std::string> absent;   ///< what it has not
    std::vector<std::string> apart;    ///< what CUPTI refuses beside the names before it
    size_t passes = 0;
    std::string image;
};

class ChipHost {
  public:
    /// `availability`: cuptiProfilerGetCounterAvailability's image; empty: none. Throws Error.
    ChipHost(const HostApi& api, std::string chip, std::string availability = {});
    ~ChipHost();
    ChipHost(const ChipHost&) = delete;
    ChipHost& operator=(const ChipHost&) = delete;

    const std::string& chip() const { return chip_; }
    std::vector<Metric> metrics() const;
    std::vector<std::string> submetrics(const Metric& metric) const;
    /// Whether the full name, roll-up and all, can be collected and evaluated here.
    bool knows(const std::string& name) const;
    /// Plans all names in one call. Uses objects of its own: a name that is refused spoils its object.
    Plan plan(const std::vector<std::string>& names) const;

    /// Ranges in a decoded counter data image.
    CUptiResult ranges(const std::string& image, size_t& count) const;
    /// Values in the order of `names`; NaN where CUPTI writes none.
    CUptiResult evaluate(const std::string& image, size_t range, const std::vector<const char*>& names,
                         std::vector<double>& values) const;
    /// nullopt: CUPTI does not say.
    std::optional<std::string> range_name(const std::string& image, size_t range) const;

  private:
    void set_apart(Plan& plan) const;
    void make_image(Plan& plan) const;
    CUptiResult add(const std::vector<std::string>& names) const;
    std::optional<CUpti_MetricType> type_of(const std::string& name) const;
    std::vector<std::string> list_submetrics(const std::string& name, CUpti_MetricType type) const;

    const HostApi& api_;
    std::string chip_, availability_;
    CUpti_Profiler_Host_Object* object_ = nullptr;
};

const char* to_string(CUpti_MetricType type);  ///< "counter", "ratio", "throughput"

}  // namespace attnscope::cupti_host
