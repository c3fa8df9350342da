#pragma once
// What launched a launch: LibTorch's operations and the program's NVTX ranges around it.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "attnscope/analysis.h"

namespace attnscope {

/// The origins of one process's launches. A chain of operations is cut at 64, counted from the launch: no
/// program nests deeper, a damaged run may.
class Origins {
  public:
    explicit Origins(const Process& process);

    StepOrigin of(const Launch& launch) const;

    /// Equal for launches that one row may stand for: the same names of operations, and the same tensors (by
    /// dtype, sizes and strides) for the innermost one. Numbers among the inputs do not count: a step or a
    /// seed changes with each call. Where there is no operation, the range's name counts.
    uint32_t group(const Launch& launch);

  private:
    uint32_t group_of_operation(uint32_t operation);
    uint32_t chain_of_operation(uint32_t operation);
    uint32_t range_of(const Launch& launch) const;

    const Process& process_;
    bool ranges_count_ = false;
    std::map<std::string, uint32_t> classes_;
    std::vector<uint32_t> chain_, group_;  ///< by operation; kNone: not asked for yet
    std::vector<uint32_t> program_range_;  ///< by range: itself or the nearest around it that is not ours
    std::map<uint32_t, uint32_t> range_group_;
};

/// For a table: "_flash_attention_forward in scaled_dot_product_attention", "backward of bmm", "range mlp";
/// empty where nothing is known.
std::string origin_words(const StepOrigin& origin);
/// All of it: "aten::copy_ < aten::_to_copy < aten::to (inputs: ...)".
std::string origin_chain(const StepOrigin& origin);

}  // namespace attnscope
