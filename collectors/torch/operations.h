#pragma once
// Follows LibTorch's operations on every thread.
#include "sink.h"

namespace attnscope::libtorch {

/// Registers the callback. The sink stays in use until the process ends.
void follow_operations(const AttnscopeTorchSink& sink);

}  // namespace attnscope::libtorch
