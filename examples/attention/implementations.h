#pragma once
// Seven ways to compute the same attention.
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "attnscope/attention.h"

namespace attention {

using attnscope::AttentionMask;
using attnscope::AttentionProblem;

struct Inputs {
    at::Tensor query, key, value;  ///< (B, H, Sq, D), (B, Hkv, Sk, D), (B, Hkv, Sk, D)
    at::Tensor mask;               ///< SDPA's: bool (true = take part) or additive; undefined when none
    at::Tensor hidden;             ///< naive's: bool, true = masked out; undefined when nothing is
    at::Tensor gradient;           ///< (B, H, Sq, D), with --backward
};
Inputs make_inputs(const AttentionProblem& options);
/// Query, key, value and mask without memory behind them: to ask with, not to compute.
Inputs make_shadows(const AttentionProblem& options);

struct Implementation {
    const char* name;
    const char* backend;  ///< the SDPA backend that it forces; "" for the naive ones; "auto"
    at::Tensor (*compute)(const Inputs& inputs, const AttentionProblem& options);
};

const std::vector<Implementation>& implementations();

/// Allows exactly this SDPA backend while it lives ("auto": LibTorch's defaults), then restores the defaults.
class BackendGuard {
  public:
    explicit BackendGuard(const std::string& backend);
    ~BackendGuard();
    BackendGuard(const BackendGuard&) = delete;
    BackendGuard& operator=(const BackendGuard&) = delete;
};

}  // namespace attention
