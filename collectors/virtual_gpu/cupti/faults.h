#pragma once
// Faults on demand, out of ATTNSCOPE_VGPU_FAULT: a comma list of
//   FUNCTION:N=RESULT   the N-th call (`*`: each) of an exported function answers CUPTI_ERROR_<RESULT> and
//                       does nothing else
//   no-driver           what needs a driver answers UNKNOWN, as the real library does without libcuda
//   privileges, busy    cuptiRangeProfilerEnable answers INSUFFICIENT_PRIVILEGES, HARDWARE_BUSY
//   out-of-memory[:Enable|:SetConfig|:Start]  that call of the Range Profiler; Enable when none is named
//   subscriber          another subscriber is already there, with a name
//   unsupported-device  the device's architecture has no range profiling
//   drop-buffers:N      each N-th activity buffer is lost; its records are counted as dropped
//   drop-ranges:N       each N-th range is lost; DecodeData counts it
//   undecodable[:N]     each (the N-th) DecodeData writes data that cannot be evaluated
//   extra-range:N       the N-th session has a range that no callback told of, as OptiX makes them
//   hang-launch:N       the N-th launch that is measured does not return for ATTNSCOPE_VGPU_HANG_MS (60000)
//   gone-at-exit        CUDA ends before the exit handlers that were there when the first context came: then
//                       every function answers UNKNOWN
// An item that is none of these is reported and ignored.
#include <cupti_result.h>

namespace attnscope::vgpu::cupti {

enum class Fault {
    subscriber,
    unsupported_device,
    drop_buffers,
    drop_ranges,
    undecodable,
    extra_range,
    hang_launch,
    gone_at_exit
};
constexpr int fault_count = 8;

bool any_faults();
/// A context came into being: gone-at-exit.
void prepare_exit_fault();
/// Counts a call of `function`; CUPTI_SUCCESS unless this one is to fail.
CUptiResult fault_at(const char* function);
/// Counts an occasion for this fault, and says whether it happens.
bool fault_happens(Fault fault);

}  // namespace attnscope::vgpu::cupti

/// The first line of every exported function.
#define ATTNSCOPE_FAULT_POINT                                                                  \
    if (attnscope::vgpu::cupti::any_faults())                                                  \
        if (const CUptiResult injected = attnscope::vgpu::cupti::fault_at(__func__); injected) \
    return attnscope::vgpu::cupti::answer(injected)
