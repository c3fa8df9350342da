#pragma once
// CUPTI's host side, asked in a process of its own (lib/attnscope/attnscope_cupti_host): it takes 115 MB, and
// can crash on damaged input. Needs no GPU and no driver. Every function throws Error when the helper program
// or libcupti is missing, crashes or times out; its sentence names which, and the remedy.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attnscope {

/// A metric as CUPTI describes it.
struct VendorMetric {
    std::string name;                     ///< base name: "dram__bytes_read"
    std::string kind;                     ///< "counter", "ratio", "throughput"
    std::string description;              ///< CUPTI's own words
    std::string unit;                     ///< CUPTI's dimension; may be empty
    std::string hardware;                 ///< hardware unit; may be empty
    std::vector<std::string> submetrics;  ///< ".sum", ".avg.pct_of_peak_sustained_active"; filled on demand
};

struct CounterPlan {
    std::string chip;
    uint32_t cupti = 0;                ///< version of the libcupti that planned it
    std::vector<std::string> metrics;  ///< what is collected: vendor names that this chip has
    std::vector<std::string> absent;   ///< asked for, not collected: not on this chip, or `apart`
    size_t passes = 0;                 ///< 0 when nothing is left to collect
    /// On this chip, but CUPTI refuses them beside the names asked for before them (PCIe, NVLink beside
    /// others).
    std::vector<std::string> apart;
    std::string refused;  ///< plans() alone: why CUPTI refuses the chip; empty else
};

struct Evaluated {
    uint64_t images = 0, counters = 0, unjoined = 0;
    std::string ground;  ///< "real", "fixture"
};

/// A device of this machine, as the driver and CUPTI name it.
struct HostDevice {
    int device = 0;    ///< ordinal
    std::string name;  ///< "NVIDIA H100 80GB HBM3"
    std::string chip;  ///< "GH100"; empty when CUPTI does not say
};

/// What each chip of a CUPTI lacks.
struct UnknownByChip {
    std::vector<std::pair<std::string, std::vector<std::string>>> chips;  ///< chip, names it refuses
    std::vector<std::pair<std::string, std::string>> refused;  ///< chips that CUPTI lists and refuses; why
};

class CounterHost {
  public:
    /// `libcupti` is a file; empty: the first that is found (beside the toolkit, PyPI's nvidia-cuda-cupti,
    /// the cache of scripts/setup.sh, ATTNSCOPE_CUPTI). `tool` is the helper program; empty: beside this
    /// program.
    explicit CounterHost(std::string libcupti = {}, std::string tool = {});

    const std::string& libcupti() const { return libcupti_; }
    const std::string& tool() const { return tool_; }
    uint32_t version() const;  ///< the library's own API version; 130000 style, or 26 for 12.8
    std::vector<std::string> chips() const;
    std::vector<VendorMetric> metrics(const std::string& chip, const std::string& matching = {}) const;
    /// Names of this chip, among `names`, that CUPTI refuses.
    std::vector<std::string> unknown(const std::string& chip, const std::vector<std::string>& names) const;
    UnknownByChip unknown_by_chip(const std::vector<std::string>& names) const;
    /// Devices that the driver shows; none, and `why`, without one.
    std::vector<HostDevice> devices(std::string* why = nullptr) const;
    /// Plans all names together, in one call (each further call would cost passes of its own). With `config`,
    /// writes the config image there (collectors/cupti/counter_files.h), beside, then renamed.
    CounterPlan plan(const std::string& chip, const std::vector<std::string>& names,
                     const std::filesystem::path& availability = {},
                     const std::filesystem::path& config = {}) const;
    /// Many plans in one question, in the order asked: (chip, names).
    std::vector<CounterPlan> plans(
        const std::vector<std::pair<std::string, std::vector<std::string>>>& asked) const;
    /// Raw counter data of one process (`<stem>.data`; its configs lie beside it) to `<stem>.counters.jsonl`,
    /// beside, then renamed. What is damaged is a diagnostic in that file, never a value.
    Evaluated evaluate(const std::filesystem::path& data, const std::filesystem::path& out) const;

  private:
    std::string libcupti_, tool_;
};

/// The vendor names to collect on `chip` for a request "core", "core,memory", "core,dram__bytes_read.sum";
/// the first alternative of each role that this chip has. `absent` says which roles and names it lacks, with
/// the reason. Throws Error for a name that no chip has, with the nearest names.
struct ResolvedMetrics {
    std::vector<std::string> names;
    std::vector<std::pair<std::string, std::string>> absent;  ///< role or name, reason
};
ResolvedMetrics resolve_metrics(const CounterHost& host, const std::string& chip, const std::string& request);

}  // namespace attnscope
