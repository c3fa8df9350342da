#include "counted_launches.h"

#include <strings.h>

#include <algorithm>

#include "driver_functions.h"
#include "function_attributes.h"

namespace attnscope::collector {

/// Launches that come between the program's own profiler and the end of our subscription.
constexpr const char* kYielded = "counters-yielded";

bool is_collective(const char* symbol) {
    for (const char* p = symbol; p != nullptr && *p != '\0'; ++p)
        if (strncasecmp(p, "nccl", 4) == 0) return true;
    return false;
}

void CountedLaunches::enter(LaunchInProgress& launch, const Launch& facts) {
    if (launch.captured || launch.context == nullptr) return;  // without a context the launch fails
    if (stopped_.load(std::memory_order_seq_cst)) {
        launch.uncounted = kYielded;
        return;
    }
    DeviceCounters& device = *launch.context->device;
    if (tripped_.load(std::memory_order_acquire)) {
        launch.uncounted = "counters-watchdog";
        return;
    }
    if ((launch.uncounted = launch.context->why_off()) != nullptr && device.off != nullptr) return;
    if (!captures_.any()) {
        if (!device.gate.enter()) {
            if (tripped_.load(std::memory_order_acquire)) {
                launch.uncounted = "counters-watchdog";
                return;
            }
            launch.uncounted = "counters-contended";
            return warn("counters-contended",
                        "launches waited more than 2 seconds for another thread's counted launch and went on "
                        "without counters",
                        "count a part of the program that launches from one thread at a time");
        }
        launch.holds_gate = true;
    }
    // A capture announces itself before it waits for the gate, so what is seen here stays true until exit.
    if (captures_.any()) {
        launch.uncounted = "counters-captured";
        return warn("counters-captured",
                    "launches while a stream was being captured have no counters: counting would synchronise",
                    "capture before the part to be counted, or run it without graphs");
    }
    if (launch.uncounted == nullptr && stopped_.load(std::memory_order_seq_cst)) launch.uncounted = kYielded;
    if (launch.uncounted == nullptr) launch.uncounted = refuse(launch, facts);
    if (launch.uncounted == nullptr) launch.uncounted = count(launch, facts);
}

/// Launches that must not be counted: nullptr, or why.
const char* CountedLaunches::refuse(const LaunchInProgress& launch, const Launch& facts) {
    const auto config = launch.context->device->config;
    const bool several_passes = config != nullptr ? config->passes > 1 : mode_.replay;
    bool collective = is_collective(facts.symbol);
    if (launch.graph != nullptr)
        for (const GraphKernel& kernel : launch.graph->kernels)
            collective = collective || is_collective(kernel.facts->name.c_str());
    if (facts.multi_device || (collective && (facts.contexts > 1 || several_passes))) {
        if (!collective_told_.exchange(true))
            warn("counters-collective",
                 "kernels that wait for those of other devices (NCCL's, and cooperative launches on several "
                 "devices) are not counted: one by one they would wait for ever",
                 "give each device a process of its own (torchrun)");
        return "counters-collective";
    }
    if (launch.graph == nullptr) return nullptr;
    if (!launch.graph->known || !launch.graph->order_known) {
        warn("counters-graph-order",
             "graphs whose kernels have no single order, or were not seen when they were built, have no "
             "counters: no value could be given to one kernel",
             "run the part without graphs, or count ranges (--range implementation)");
        return "counters-graph-order";
    }
    if (launch.kernels > CounterSession::kMostRanges) {
        warn("counters-dropped", "graphs of more than 1024 kernels are not counted: their data has no room",
             "launch the work in smaller graphs, or count ranges (--range implementation)");
        return "counters-dropped";
    }
    return nullptr;
}

const char* CountedLaunches::count(LaunchInProgress& launch, const Launch& facts) {
    if (launch.kernels == 0) return nullptr;  // a graph of copies alone
    ContextCounters& context = *launch.context;
    if (const char* code = book_.make_ready(context, facts.current)) return code;
    // Only now is it known how many passes there are.
    if (const char* code = refuse(launch, facts)) return code;
    const OwnCall own;
    const CurrentContext made_current(context.handle, facts.current);
    const CuptiFailure failure = context.session->start(launch.kernels);
    if (failure.code != nullptr) return book_.fail(context, failure, context.handle);
    launch.counted = true;
    context.device->counting.store(launch.correlation, std::memory_order_relaxed);
    context.device->counting_since_ms.store(std::max<uint64_t>(monotonic_ms(), 1), std::memory_order_release);
    return nullptr;
}

void CountedLaunches::exit(LaunchInProgress& launch, CUcontext current, bool success) {
    if (launch.context == nullptr) return;
    DeviceCounters& device = *launch.context->device;
    if (launch.counted) {
        finish(launch, current, success);
        device.counting_since_ms.store(0, std::memory_order_release);
    }
    if (launch.holds_gate) device.gate.leave();
    launch.holds_gate = false;
    // After a trip the profiler is switched off by whoever comes next while no counted launch is on its way.
    if (!tripped_.load(std::memory_order_acquire) || captures_.any() || !device.gate.try_enter()) return;
    book_.disable(device, current);
    device.gate.leave();
}

void CountedLaunches::finish(LaunchInProgress& launch, CUcontext current, bool success) {
    ContextCounters& context = *launch.context;
    if (captures_.any()) {  // it waited for us in vain; the session is ended before the next one
        launch.uncounted = "counters-captured";
        return;
    }
    if (tripped_.load(std::memory_order_acquire)) {
        launch.uncounted = "counters-watchdog";
        return book_.disable(*context.device, current);
    }
    const OwnCall own;
    const CurrentContext made_current(context.handle, current);
    CounterSession::Counted counted;
    const CuptiFailure failure = context.session->stop(counted);
    if (failure.code != nullptr) {
        launch.uncounted = book_.fail(context, failure, context.handle);
        return;
    }
    if (!success) return;  // nothing ran
    if (counted.dropped != 0) {
        launch.uncounted = "counters-dropped";
        notices_.diagnostic("data_loss", "counters-dropped", "CUPTI dropped ranges of counted launches",
                            "count fewer metrics or a shorter part of the program", counted.dropped);
    } else if (counted.ranges != launch.kernels) {
        launch.uncounted = "counters-unjoined";  // the launcher, which reads the data, tells it
    }
    DataHeader header{};
    header.of = DataOf::launch;
    header.expected = static_cast<uint32_t>(launch.kernels);
    header.id = launch.correlation;
    header.dropped = static_cast<uint32_t>(counted.dropped);
    header.flags = launch.nodes_joinable ? kNodesJoinable : 0;
    if (const char* code = book_.write(context, header, context.handle)) launch.uncounted = code;
}

bool CountedLaunches::check_watchdog() {
    if (tripped_.load(std::memory_order_acquire)) return false;
    for (const auto& device : book_.devices()) {
        const uint64_t since = device->counting_since_ms.load(std::memory_order_acquire);
        if (since == 0 || monotonic_ms() - since < uint64_t{1000} * mode_.watchdog_s) continue;
        tripped_.store(true, std::memory_order_release);
        for (const auto& each : book_.devices()) each->gate.open();
        notices_.diagnostic(
            "error", "counters-watchdog",
            "a counted launch (correlation " +
                std::to_string(device->counting.load(std::memory_order_relaxed)) +
                ") did not return within " + std::to_string(mode_.watchdog_s) +
                " seconds: no later launch is counted",
            "kernels that wait for one another cannot run one by one: count ranges (--range implementation), "
            "or set ATTNSCOPE_WATCHDOG_S higher where one kernel takes so long");
        return true;
    }
    return false;
}

}  // namespace attnscope::collector
