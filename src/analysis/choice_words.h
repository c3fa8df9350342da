#pragma once
// LibTorch's choice of a backend in words. Codes: schema/README.md, "Operations".
#include <string>

#include "attnscope/run.h"

namespace attnscope::words {

/// "with ..." or "without ...", for an obstacle that was taken away: "mask" -> "without the mask".
std::string without_obstacle(const std::string& removed);
/// "pad-head-dim" -> "query, key and value are copied to pad the head dimension ...".
std::string hidden_work(const std::string& code);
/// "query, key and value bf16[8,16,1024,64], is_causal": the arguments of scaled_dot_product_attention that
/// are not their defaults. Anything that is not understood is shown as it is.
std::string attention_inputs(const std::vector<std::string>& inputs);
/// What LibTorch says about one backend: "chosen", "would take it; ...", "refused: ...".
std::string backend_answer(const AttentionChoice::Backend& backend, const std::string& chosen);

}  // namespace attnscope::words
