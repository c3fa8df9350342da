#include "collectors/virtual_gpu/cuda/facade.h"

#include "collectors/virtual_gpu/core/init.h"

namespace attnscope::vgpu {

namespace {
__attribute__((constructor)) void hand_over() {
    set_entry_points(entry_points, entry_point_count);
}
}  // namespace

}  // namespace attnscope::vgpu
