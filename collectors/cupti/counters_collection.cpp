#include "counters_collection.h"

#include <cerrno>
#include <exception>

#include "driver_functions.h"
#include "session.h"
#include "subscriber_watch.h"
#include "wake.h"

namespace attnscope::collector {
namespace {

CountersCollection* g_collection = nullptr;

constexpr CUpti_CallbackId kResources[] = {
    CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
    CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING};

class Counted {
  public:
    explicit Counted(std::atomic<uint32_t>& number) : number_(number) {
        number_.fetch_add(1, std::memory_order_seq_cst);
    }
    ~Counted() { number_.fetch_sub(1, std::memory_order_seq_cst); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

  private:
    std::atomic<uint32_t>& number_;
};

}  // namespace

CountersCollection::CountersCollection(Session& session, const CountersMode& mode)
    : session_(session),
      mode_(mode),
      recorder_(session.file()),
      book_(cupti_, callbacks_, profiler_, session.notices(), mode_),
      launches_(book_, captures_, session.notices(), mode_),
      ranges_(book_, captures_, session.notices(), mode_) {}

CuptiFailure CountersCollection::start(const char* hints, const std::string& run, const std::string& stem,
                                       bool virtual_ground) {
    virtual_ground_ = virtual_ground;
    book_.set_run(run + "/counters", stem, virtual_ground);
    g_collection = this;
    CuptiFailure failure = find_cupti(cupti_, hints, [this](CuptiApi& found) { return subscribe(found); });
    if (failure.code != nullptr) {
        const std::string_view code = failure.code;
        if (code == "cupti-absent" || code == "cupti-too-old") failure.code = "counters-no-cupti";
        return failure;
    }
    if (!start_subscriber_watch(on_about_to_profile))
        session_.notices().diagnostic(
            "warning", "counters-subscriber",
            "attnscope cannot see when the program's own profiler wants CUPTI: such a profiler is refused",
            "run the program without its profiler");
    return {};
}

CuptiFailure CountersCollection::subscribe(CuptiApi& cupti) {
    callbacks_ = {};
    profiler_ = {};
    const char* missing = look_up_callbacks(cupti.library, callbacks_);
    if (missing == nullptr) missing = look_up_range_profiler(cupti.library, profiler_);
    if (missing != nullptr)
        return {"counters-no-cupti", cupti.path + " lacks " + missing, "use CUPTI 12.6 or later"};
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    CUptiResult result = CUPTI_SUCCESS;
    if (callbacks_.subscribe_v2 != nullptr) {
        CUpti_SubscriberParams params{};
        params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
        params.subscriberName = "attnscope";
        params.oldSubscriberName = holder;
        params.oldSubscriberSize = sizeof holder;
        result = callbacks_.subscribe_v2(&subscriber_, on_callback, this, &params);
    } else {
        result = callbacks_.subscribe(&subscriber_, on_callback, this);
    }
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return {"counters-subscriber",
                (*holder != '\0' ? "\"" + std::string(holder) + "\"" : std::string("another CUPTI client")) +
                    " already holds CUPTI in this process: launches are not recorded, and have no counters",
                "run the program without the other profiler or debugger"};
    if (result != CUPTI_SUCCESS)
        return counters_failure(
            cupti, callbacks_.subscribe_v2 != nullptr ? "cuptiSubscribe_v2" : "cuptiSubscribe", result);
    CuptiFailure failure = enable_callbacks(cupti);
    if (failure.code != nullptr) callbacks_.unsubscribe(subscriber_);
    return failure;
}

CuptiFailure CountersCollection::enable_callbacks(const CuptiApi& cupti) {
    const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
        return callbacks_.enable_callback(1, subscriber_, domain, cbid);
    };
    for (const uint32_t cbid : watched_calls()) {
        const CUptiResult result = enable(CUPTI_CB_DOMAIN_DRIVER_API, cbid);
        // A library older than 13.0 does not know the newest functions: then nobody calls them either.
        const bool newer =
            result == CUPTI_ERROR_INVALID_PARAMETER && cbid != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
        if (result != CUPTI_SUCCESS && !newer) return counters_failure(cupti, "cuptiEnableCallback", result);
    }
    for (const CUpti_CallbackId cbid : kResources)
        if (const CUptiResult result = enable(CUPTI_CB_DOMAIN_RESOURCE, cbid); result != CUPTI_SUCCESS)
            return counters_failure(cupti, "cuptiEnableCallback", result);
    return {};
}

/// CUPTI calls back into C: nothing is thrown out of here. The program's errno stays its own.
void CountersCollection::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                                     const void* data) {
    auto& collection = *static_cast<CountersCollection*>(self);
    const Session* session = Session::get();
    if (session == nullptr || !session->recording() || data == nullptr || inside_own_call()) return;
    const int saved = errno;
    const Counted inside(collection.inside_);
    if (!collection.closed_.load(std::memory_order_seq_cst)) {
        try {
            if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
                collection.on_resource(cbid, *static_cast<const CUpti_ResourceData*>(data));
            } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
                const auto& call = *static_cast<const CUpti_CallbackData*>(data);
                if (call.callbackSite == CUPTI_API_ENTER)
                    collection.on_enter(cbid, kind_of(cbid), call);
                else
                    collection.on_exit(cbid, kind_of(cbid), call);
            }
        } catch (const std::exception&) {
            // Out of memory: this launch is lost, the program goes on.
        }
    }
    errno = saved;
}

void CountersCollection::on_about_to_profile(const char* function) {
    try {
        if (g_collection != nullptr && Session::get() != nullptr) g_collection->yield(function);
    } catch (const std::exception&) {
        // Out of memory: the program's call goes through all the same.
    }
}

/// On the thread that is about to subscribe. Other threads may be in callbacks or in launches; what does not
/// end in time is left as it is.
void CountersCollection::yield(const char* function) {
    if (subscriber_ == nullptr || yielded_.exchange(true)) return;
    launches_.stop();
    ranges_.stop();
    ranges_.give_up(nullptr);
    CUcontext current = nullptr;
    if (gpu_used() && driver_functions().context_get_current != nullptr) {
        const OwnCall own;
        if (driver_functions().context_get_current(&current) != CUDA_SUCCESS) current = nullptr;
    }
    for (const auto& device : book_.devices()) {
        if (!CountedLaunches::quiet(*device)) continue;
        if (!captures_.any()) book_.disable(*device, current);
        device->gate.leave();
    }
    closed_.store(true, std::memory_order_seq_cst);
    for (const uint64_t start = monotonic_ms(); inside_.load(std::memory_order_seq_cst) != 0;) {
        if (monotonic_ms() - start > LaunchGate::kWaitMs) break;
        Signal pause;
        pause.wait(pause.state(), 1);
    }
    callbacks_.unsubscribe(subscriber_);
    session_.notices().diagnostic(
        "data_loss", "counters-yielded",
        std::string("the program's own profiler takes CUPTI over (") + function +
            "): what was launched from then on is not recorded, and has no counters",
        "run the program without its profiler, or use the profiler's own trace");
}

void CountersCollection::on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData& data) {
    switch (cbid) {
        case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
            contexts_alive_.fetch_add(1, std::memory_order_relaxed);
            used_.store(true, std::memory_order_release);
            return;
        case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
            return on_context_ending(data.context);
        case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
            return captures_.destroyed(data.resourceHandle.stream);
        case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
            return forget_module(data.context);
        default:
            return;
    }
}

void CountersCollection::on_context_ending(CUcontext context) {
    ranges_.give_up(context);
    for (const auto& known : book_.contexts()) {
        if (known->handle != context) continue;
        DeviceCounters& device = *known->device;
        if (device.gate.enter()) {
            // Not made current: it is ending.
            if (device.enabled != nullptr && device.enabled == known->session) book_.disable(device, context);
            device.gate.leave();
        }
    }
    book_.forget(context);
    forget_module(context);
    contexts_alive_.fetch_sub(1, std::memory_order_relaxed);
}

void CountersCollection::lock_for_fork() {
    recorder_.lock_for_fork();
    captures_.lock_for_fork();
    book_.lock_for_fork();
}

void CountersCollection::unlock_for_fork() {
    book_.unlock_for_fork();
    captures_.unlock_for_fork();
    recorder_.unlock_for_fork();
}

}  // namespace attnscope::collector
