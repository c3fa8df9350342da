#pragma once
// What the driver says of a kernel: registers, static shared memory, local memory, name.
#include <cuda.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace attnscope::collector {

/// Absent: the driver did not say. Sizes in bytes; registers and local memory of one thread, shared memory of
/// one block without the dynamic part.
struct FunctionFacts {
    std::optional<uint32_t> registers, static_shared, local_per_thread;
    /// Blocks of the cluster that was fixed when the kernel was compiled; zeros: none, or not said.
    std::array<uint32_t, 3> required_cluster{};
    std::string name;  ///< mangled; empty: the driver did not say
};

/// Finds the driver's functions, which takes the loader's lock: once, when collection starts.
void prepare_facts();

/// Of `function_or_kernel`, a CUfunction or a CUkernel (nothing tells which; CUDA 13.0, cuLaunchKernel). A
/// CUkernel's attributes are those on `device`. Known ones are answered without the driver; the others ask it
/// in the calling thread. Any thread; from callbacks of CUPTI too. Never throws but std::bad_alloc.
FunctionFacts facts_of(CUcontext context, void* function_or_kernel, int device);
/// The same, shared by all who ask. Never null.
std::shared_ptr<const FunctionFacts> shared_facts_of(CUcontext context, void* function_or_kernel, int device);

/// Before a module of `context` is unloaded, and when `context` is destroyed: handles are used again.
/// nullptr forgets all (a library of kernels was unloaded).
void forget_module(CUcontext context);

/// This thread is inside a driver call of ours: whoever watches the program's calls must let it pass.
bool inside_own_call();

/// Marks the driver calls of its scope as ours.
class OwnCall {
  public:
    OwnCall();
    ~OwnCall();
    OwnCall(const OwnCall&) = delete;
    OwnCall& operator=(const OwnCall&) = delete;
};

}  // namespace attnscope::collector
