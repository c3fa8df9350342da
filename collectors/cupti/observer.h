#pragma once
#include "../virtual_gpu/observer.h"

namespace attnscope::collector {

/// Records what the virtual GPU tells beyond CUPTI. Its functions are called by the program's threads.
const AttnscopeVgpuObserver* virtual_gpu_observer();

}  // namespace attnscope::collector
