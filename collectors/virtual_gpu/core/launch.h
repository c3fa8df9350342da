#pragma once
// Kernel launches: checked as the driver checks them, then recorded. Nothing is executed.
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/core/issue.h"
#include "collectors/virtual_gpu/core/module.h"

namespace attnscope::vgpu {

struct Stream;

struct LaunchShape {
    Dim3 grid, block;
    Dim3 cluster{0, 0, 0};  ///< zeros: none was asked for
    uint32_t dynamic_shared = 0;
    bool cooperative = false;
};

/// The driver's answer to a launch of this shape: CUDA_SUCCESS, or the error that a real device gives.
CUresult check_launch(const Function& function, const LaunchShape& shape);

/// Parameters as cuLaunchKernel takes them.
struct LaunchParameters {
    void** values = nullptr;  ///< one pointer for each parameter
    void** extra = nullptr;   ///< CU_LAUNCH_PARAM_*
};
/// The parameter block of a launch, in the kernel's own layout; empty where the parameters are not known.
/// CUDA_ERROR_INVALID_VALUE when there are none but should be.
CUresult pack_parameters(const Function& function, const LaunchParameters& parameters,
                         std::vector<std::byte>& block);

/// Records the launch, and forgets the content of memory that the kernel may write.
void perform_launch(const Function& function, const LaunchShape& shape, const LaunchParameters& parameters,
                    const Issue& issue);
void perform_launch(const Function& function, const LaunchShape& shape, const std::vector<std::byte>& block,
                    const Issue& issue);

/// A launch by the program: on a capturing stream it becomes a node.
CUresult launch(CUfunction handle, LaunchShape shape, CUstream stream, const LaunchParameters& parameters);

/// Takes one launch attribute into the shape. False for one that is not emulated, or a cluster of no CTAs.
bool apply_launch_attribute(LaunchShape& shape, CUlaunchAttributeID id, const CUlaunchAttributeValue& value);

/// CTAs of `threads` threads that are resident on one SM, by cuda_occupancy.h with opt-in shared memory.
/// Negative: its error.
int resident_ctas(const Function& function, int threads, size_t dynamic_shared);

}  // namespace attnscope::vgpu
