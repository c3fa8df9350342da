#pragma once
// Launches -> Steps: the figures of one launch, and what is alike.
#include <unordered_map>
#include <vector>

#include "attnscope/analysis.h"
#include "code.h"
#include "origins.h"

namespace attnscope {

/// What makes two launches alike: everything but when, where and in which order.
using StepKey = std::array<uint64_t, 16>;
struct StepKeyHash {
    size_t operator()(const StepKey& key) const noexcept;
};

/// Makes the Steps of one process.
class StepMaker {
  public:
    StepMaker(const Process& process, Ground ground);
    StepKey key(const Launch& launch) const;  ///< whatever launched it
    StepKey group_key(const Launch& launch);  ///< and launched by the same
    Step make(const Launch& launch);

  private:
    void fill_kernel(Step& step, const Launch& launch);
    void fill_occupancy(Step& step, const Launch& launch);

    const Process& process_;
    Ground ground_;
    Origins origins_;
    StepCode code_;
    std::vector<uint32_t> call_class_;  ///< equal calls have equal numbers
    std::unordered_map<uint32_t, std::pair<std::string, std::string>> names_;  ///< demangled once a name
};

/// Launches that are alike and launched by the same become one Step with `times`, by first appearance.
class StepGroups {
  public:
    explicit StepGroups(StepMaker& maker) : maker_(maker) {}
    void add(const Launch& launch, uint32_t index);
    /// Launches of each step, as the indices given to add(). Before take().
    const std::vector<std::vector<uint32_t>>& members() const { return members_; }
    std::vector<Step> take(bool timed);

  private:
    StepMaker& maker_;
    std::unordered_map<StepKey, size_t, StepKeyHash> index_;
    std::vector<Step> steps_;
    std::vector<std::vector<uint32_t>> members_;
    std::vector<double> total_ns_;
    std::vector<uint64_t> timed_;
};

/// The limits of one SM from the device's record; `missing` names the first figure that it lacks.
std::optional<SmLimits> sm_limits_of(const Device& device, std::string& missing);

/// "nothing was measured: virtual GPU", or why else there is no time.
Value no_time(Ground ground, const std::string& otherwise);

}  // namespace attnscope
