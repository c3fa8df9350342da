#include "counter_book.h"

#include <algorithm>

#include "driver_functions.h"
#include "function_attributes.h"

namespace attnscope::collector {

void CounterBook::set_run(const std::string& folder, const std::string& stem, bool virtual_ground) {
    folder_ = folder;
    data_.set_path(folder + '/' + stem + ".data");
    virtual_ground_ = virtual_ground;
}

std::shared_ptr<ContextCounters> CounterBook::find(CUcontext context, uint32_t id) {
    if (context == nullptr) return nullptr;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& known : contexts_)
            if (known->handle == context) return known;
    }
    uint32_t device = 0;
    const OwnCall own;
    if (callbacks_.get_device_id(context, &device) != CUPTI_SUCCESS) return nullptr;
    if (id == 0 && callbacks_.get_context_id(context, &id) != CUPTI_SUCCESS) return nullptr;
    auto made = std::make_shared<ContextCounters>();
    made->handle = context;
    made->id = id;
    const std::lock_guard lock(mutex_);
    for (const auto& known : contexts_)  // another thread was quicker
        if (known->handle == context) return known;
    const auto known = std::find_if(devices_.begin(), devices_.end(), [device](const auto& d) {
        return static_cast<uint32_t>(d->ordinal) == device;
    });
    made->device = known != devices_.end()
                       ? *known
                       : devices_.emplace_back(std::make_shared<DeviceCounters>(static_cast<int>(device)));
    contexts_.push_back(made);
    return made;
}

std::vector<std::shared_ptr<ContextCounters>> CounterBook::contexts() const {
    const std::lock_guard lock(mutex_);
    return contexts_;
}

std::vector<std::shared_ptr<DeviceCounters>> CounterBook::devices() const {
    const std::lock_guard lock(mutex_);
    return devices_;
}

void CounterBook::forget(CUcontext context) {
    const std::lock_guard lock(mutex_);
    contexts_.erase(std::remove_if(contexts_.begin(), contexts_.end(),
                                   [context](const auto& known) { return known->handle == context; }),
                    contexts_.end());
}

void CounterBook::tell(const CuptiFailure& failure) {
    const bool expected = std::string_view(failure.code) == "counters-virtual";
    notices_.diagnostic(expected ? "info" : "error", failure.code, failure.message, failure.remedy);
}

const char* CounterBook::fail(ContextCounters& context, const CuptiFailure& failure, CUcontext current) {
    tell(failure);
    context.off.store(failure.code, std::memory_order_release);
    DeviceCounters& device = *context.device;
    if (device.enabled != nullptr && device.enabled == context.session) disable(device, current);
    return failure.code;
}

void CounterBook::disable(DeviceCounters& device, CUcontext current) {
    if (device.enabled == nullptr) return;
    const OwnCall own;
    const CurrentContext made_current(device.enabled->context(), current);
    const CuptiFailure failure = device.enabled->disable();
    const std::shared_ptr<CounterSession> session = std::move(device.enabled);
    device.enabled = nullptr;
    if (failure.code == nullptr) return;
    for (const auto& context : contexts())
        if (context->session == session && context->off.exchange(failure.code) == nullptr) tell(failure);
}

const char* CounterBook::make_ready(ContextCounters& context, CUcontext current) {
    DeviceCounters& device = *context.device;
    const OwnCall own;
    const CurrentContext made_current(context.handle, current);
    if (!device.prepared) {
        device.gate.set_preparing(true);
        const CuptiFailure failure = prepare(device, context.handle);
        device.gate.set_preparing(false);
        device.prepared = true;
        if (failure.code != nullptr) {
            tell(failure);
            device.off.store(failure.code, std::memory_order_release);
        }
    }
    if (const char* code = context.why_off()) return code;
    if (device.enabled != nullptr && device.enabled != context.session) disable(device, context.handle);
    if (context.session == nullptr)
        context.session = std::make_shared<CounterSession>(
            cupti_, profiler_, context.handle,
            mode_.ranges() ? CounterSession::Range::user : CounterSession::Range::automatic);
    if (context.session->enabled()) return nullptr;
    const CuptiFailure failure = context.session->enable(device.config);
    if (failure.code != nullptr) return fail(context, failure, context.handle);
    device.enabled = context.session;
    return nullptr;
}

const char* CounterBook::write(ContextCounters& context, DataHeader header, CUcontext current) {
    DeviceCounters& device = *context.device;
    header.kind = DataKind::image;
    header.device = device.ordinal;
    header.context = context.id;
    header.bytes = context.session->image().size();
    if (!device.config_written && data_.config(device.ordinal, device.config->key))
        device.config_written = true;
    if (device.config_written && data_.append(header, context.session->image().data())) return nullptr;
    return fail(context,
                {"counters-disk", "the counter data could not be written: " + folder_ + " takes no more",
                 "make room on the disk of the run's folder, or name another with -o"},
                current);
}

CuptiFailure CounterBook::check_device(const DeviceCounters& device) const {
    CUdevice handle = 0;
    if (driver_functions().device_get == nullptr ||
        driver_functions().device_get(&handle, device.ordinal) != CUDA_SUCCESS)
        return {"counters-failed", "cuDeviceGet does not know device " + std::to_string(device.ordinal), ""};
    ATTNSCOPE_PROFILER_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
    params.cuDevice = handle;
    params.api = CUPTI_PROFILER_RANGE_PROFILING;
    const CUptiResult result = profiler_.device_supported(&params);
    if (result != CUPTI_SUCCESS) return counters_failure(cupti_, "cuptiProfilerDeviceSupported", result);
    constexpr auto supported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    if (params.isSupported == supported) return {};
    if (virtual_ground_ && params.vGpu != supported && params.architecture == supported)
        return {"counters-virtual", "counters are not measured: virtual GPU", "use a real GPU"};
    struct Reason {
        const char* name;
        CUpti_Profiler_Support_Level level;
        const char* remedy;
    };
    const Reason reasons[] = {
        {"architecture", params.architecture, "use a GPU of compute capability 7.5 or later"},
        {"sli", params.sli, "switch SLI off"},
        {"vGpu", params.vGpu, "let the vGPU's host enable profiling for it, or use the whole GPU"},
        {"confidentialCompute", params.confidentialCompute, "switch confidential computing off"},
        {"cmp", params.cmp, "use a GPU that is not a mining processor (CMP)"},
        {"wsl", params.wsl, "use WSL 2 with a newer driver, or Linux itself"},
    };
    std::string names, remedies;
    for (const Reason& reason : reasons) {
        if (reason.level == supported) continue;
        names += (names.empty() ? "" : ", ") + std::string(reason.name);
        if (reason.level == CUPTI_PROFILER_CONFIGURATION_DISABLED) names += " (disabled)";
        remedies += (remedies.empty() ? "" : "; ") + std::string(reason.remedy);
    }
    return {"counters-unsupported-device",
            "CUPTI's Range Profiler does not support device " + std::to_string(device.ordinal) + ": " +
                (names.empty() ? "no reason given" : names),
            remedies.empty() ? "attnscope doctor says what is wrong with this machine" : remedies};
}

CuptiFailure CounterBook::ask_availability(CUcontext context, std::vector<uint8_t>& image) const {
    ATTNSCOPE_PROFILER_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
    params.ctx = context;
    CUptiResult result = profiler_.get_availability(&params);
    if (result == CUPTI_SUCCESS) {
        image.resize(params.counterAvailabilityImageSize);
        params.pCounterAvailabilityImage = image.data();
        result = profiler_.get_availability(&params);
    }
    if (result != CUPTI_SUCCESS)
        return counters_failure(cupti_, "cuptiProfilerGetCounterAvailability", result);
    image.resize(std::min(image.size(), params.counterAvailabilityImageSize));
    return {};
}

CuptiFailure CounterBook::prepare(DeviceCounters& device, CUcontext context) {
    ATTNSCOPE_PROFILER_PARAMS(CUpti_Profiler_Initialize_Params, params);
    CUptiResult result = profiler_.initialize(&params);
    if (result != CUPTI_SUCCESS) return counters_failure(cupti_, "cuptiProfilerInitialize", result);
    if (CuptiFailure failure = check_device(device); failure.code != nullptr) return failure;

    ATTNSCOPE_PROFILER_PARAMS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = static_cast<size_t>(device.ordinal);
    result = profiler_.get_chip_name(&chip);
    if (result != CUPTI_SUCCESS || chip.pChipName == nullptr)
        return counters_failure(cupti_, "cuptiDeviceGetChipName",
                                result != CUPTI_SUCCESS ? result : CUPTI_ERROR_UNKNOWN);
    ConfigQuestion question{folder_, chip.pChipName, cupti_.version, cupti_.path, {}, mode_.config_wait_ms};
    if (CuptiFailure failure = ask_availability(context, question.availability); failure.code != nullptr)
        return failure;
    CuptiFailure failure;
    device.config = request_config(question, failure);
    if (device.config == nullptr) return failure;
    const uint32_t passes = device.config->passes;
    if (passes <= 1 || (mode_.replay && !mode_.ranges())) return {};
    return {"counters-failed",
            "these metrics need " + std::to_string(passes) + " passes on " + question.chip + ", and " +
                (mode_.ranges() ? "a range is counted in one" : "kernels are replayed only when asked to"),
            mode_.ranges() ? "ask for fewer metrics, or count kernels (--range kernel)"
                           : "ask for fewer metrics, or add --replay"};
}

void CounterBook::lock_for_fork() {
    mutex_.lock();
    data_.lock_for_fork();
}

void CounterBook::unlock_for_fork() {
    data_.unlock_for_fork();
    mutex_.unlock();
}

}  // namespace attnscope::collector
