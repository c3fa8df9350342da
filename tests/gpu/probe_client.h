#pragma once
// A plain client of CUPTI's Range Profiler and of the driver, apart from the collector's own, so that a
// question about CUPTI is not answered by our way of using it. Both libraries are looked up at run time: the
// program is built without them.
#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace attnscope::probe {

/// A function of libcuda.so.1 or libcupti.so.*; throws std::runtime_error where it is not there.
void* driver_symbol(const char* name);
void* cupti_symbol(const char* name);
std::string cupti_path();

template <class Function>
Function* driver_function(const char* name) {
    return reinterpret_cast<Function*>(driver_symbol(name));
}
template <class Function>
Function* cupti_function(const char* name) {
    return reinterpret_cast<Function*>(cupti_symbol(name));
}

std::string result_name(CUptiResult result);

/// A CUPTI call that did not succeed.
struct CuptiError : std::runtime_error {
    CuptiError(const char* function, CUptiResult code)
        : std::runtime_error(std::string(function) + " answered " + result_name(code)), result(code) {}
    CUptiResult result;
};

// DRIVER(cuCtxSynchronize)() and CUPTI(cuptiSubscribe)(...): throw unless they succeed. TRY_... returns the
// result.
#define TRY_DRIVER(function) (*attnscope::probe::driver_function<decltype(function)>(#function))
#define TRY_CUPTI(function) (*attnscope::probe::cupti_function<decltype(function)>(#function))
void check(const char* function, CUresult result);
void check(const char* function, CUptiResult result);
#define DRIVER(function, ...) attnscope::probe::check(#function, TRY_DRIVER(function)(__VA_ARGS__))
#define CUPTI(function, ...) attnscope::probe::check(#function, TRY_CUPTI(function)(__VA_ARGS__))

/// A context on device 0 with the probe's two kernels.
struct Gpu {
    explicit Gpu(const std::string& module_file);
    CUcontext context = nullptr;
    CUfunction spin = nullptr, touch = nullptr;

    /// `ctas` CTAs of one thread keep busy for `cycles` SM cycles.
    CUresult launch_spin(unsigned long long cycles, unsigned ctas = 1, CUstream stream = nullptr,
                         unsigned threads = 1) const;
    CUresult launch_touch(CUdeviceptr data, unsigned long long floats, CUstream stream = nullptr) const;
};

using Values = std::map<std::string, double>;

/// Which replay of which range; capacity and ranges a pass.
struct Config {
    CUpti_ProfilerRange range = CUPTI_AutoRange;
    CUpti_ProfilerReplayMode replay = CUPTI_KernelReplay;
    size_t capacity = 64, ranges_per_pass = 64;
};

/// Enable ... Disable in one context.
class Profiler {
  public:
    Profiler(CUcontext context, std::vector<std::string> metrics);
    ~Profiler();
    Profiler(const Profiler&) = delete;
    Profiler& operator=(const Profiler&) = delete;

    size_t passes() const { return passes_; }
    size_t image_bytes() const { return image_.size(); }
    const std::vector<uint8_t>& image() const { return image_; }
    CUptiResult configure(const Config& config);
    void reset_image();
    CUptiResult start();
    CUptiResult stop();
    CUptiResult push(const char* name);
    CUptiResult pop();
    CUptiResult decode(size_t* dropped = nullptr);
    size_t ranges() const;
    Values evaluate(size_t range) const;
    std::string range_name(size_t range) const;

  private:
    std::vector<std::string> metrics_;
    std::vector<const char*> names_;
    std::vector<uint8_t> config_, image_;
    std::string chip_;
    CUpti_Profiler_Host_Object* host_ = nullptr;
    CUpti_RangeProfiler_Object* object_ = nullptr;
    size_t passes_ = 0;
};

/// The mission's set for this chip: achieved occupancy, DRAM bytes, tensor pipe, cycles, time.
std::vector<std::string> core_metrics();

}  // namespace attnscope::probe
