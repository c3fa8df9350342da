#pragma once
// What LibTorch itself says about the backends: which it chooses, in what order, and why it refuses the
// others.
#include <c10/util/Exception.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "implementations.h"

namespace attention {

const char* backend_name(int64_t sdp_backend);  ///< at::SDPBackend -> "flash"

/// The record `attnscope.choice` of schema/README.md.
nlohmann::json ask_choice(const Inputs& inputs, const AttentionProblem& options);
/// Why this backend is refused, in LibTorch's words; empty when it is not.
std::string refusal(const std::string& backend, const Inputs& inputs, const AttentionProblem& options);

/// Collects LibTorch's warnings while it lives: its reasons come as warnings.
class WarningCollector : public c10::WarningHandler {
  public:
    WarningCollector();
    ~WarningCollector() override;
    void process(const c10::Warning& warning) override;
    std::string text() const;  ///< all sentences, each once

  private:
    std::vector<std::string> sentences_;
    c10::WarningHandler* before_;
    bool always_before_;
};

}  // namespace attention
