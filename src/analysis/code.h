#pragma once
// The machine code of a step's kernel: instructions that the run's files hold, and what its name says.
#include <map>

#include "attnscope/analysis.h"

namespace attnscope {

/// Of one process.
class StepCode {
  public:
    explicit StepCode(const Process& process);
    /// Fills `mix` or `mix_absent`, and `decoded`; `full_name` is set already.
    void fill(Step& step, const Launch& launch);

  private:
    const Process& process_;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, const NamedCode*> code_;
    std::map<uint32_t, std::optional<AttentionKernelName>> names_;  ///< decoded once a name
};

}  // namespace attnscope
