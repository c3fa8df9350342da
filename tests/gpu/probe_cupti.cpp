// Asks a real GPU what NVIDIA's documents leave open about the Range Profiler, one question a child process,
// so that one that hangs or crashes is an answer as well. Prints one JSON line a question.
//
//     probe_cupti probe_kernels.fatbin [QUESTION...]
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "probe_client.h"

namespace attnscope::probe {
namespace {

using nlohmann::json;
constexpr int kLimitMs = 40000;
constexpr unsigned long long kCycles = 200'000;  // about 0.1 ms

json numbers(const Values& values) {
    json out;
    for (const auto& [name, value] : values) out[name] = std::isfinite(value) ? json(value) : json(nullptr);
    return out;
}

void finish(json& out, Profiler& p) {
    size_t dropped = 0;
    out["decode"] = result_name(p.decode(&dropped));
    out["dropped"] = dropped;
    out["ranges"] = p.ranges();
    for (size_t i = 0; i < std::min<size_t>(p.ranges(), 8); ++i) {
        out["names"].push_back(p.range_name(i));
        out["values"].push_back(numbers(p.evaluate(i)));
    }
}

/// What the collector relies on: one configuration, a session for each launch, one range in each.
json session_a_launch(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    json out{{"passes", p.passes()},
             {"set_config", result_name(p.configure({}))},
             {"image_bytes", p.image_bytes()}};
    const auto start = std::chrono::steady_clock::now();
    constexpr int launches = 50;
    int right = 0;
    for (int i = 0; i < launches; ++i) {
        check("start", p.start());
        check("launch", gpu.launch_spin(kCycles));
        check("stop", p.stop());
        check("decode", p.decode());
        right += p.ranges() == 1 ? 1 : 0;
        if (i == launches - 1) out["last"] = numbers(p.evaluate(0));
        p.reset_image();
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    out["sessions"] = launches;
    out["with_one_range"] = right;
    out["us_per_launch"] = took.count() / launches;
    return out;
}

/// Without re-initialising the image between two sessions: does the second add, or overwrite?
json sessions_accumulate(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({}))}};
    for (int i = 0; i < 2; ++i) {
        out["start"].push_back(result_name(p.start()));
        check("launch", gpu.launch_spin(kCycles * static_cast<unsigned>(i + 1)));
        out["stop"].push_back(result_name(p.stop()));
        out["decode_each"].push_back(result_name(p.decode()));
    }
    finish(out, p);
    return out;
}

json several_in_a_session(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({}))}, {"start", result_name(p.start())}};
    for (unsigned i = 1; i <= 5; ++i) check("launch", gpu.launch_spin(kCycles * i));
    out["stop"] = result_name(p.stop());
    finish(out, p);
    return out;
}

/// U2
json decode_while_started(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({}))}, {"start", result_name(p.start())}};
    check("launch", gpu.launch_spin(kCycles));
    size_t dropped = 0;
    out["decode"] = result_name(p.decode(&dropped));
    out["ranges"] = p.ranges();
    out["stop"] = result_name(p.stop());
    return out;
}

/// U3
json one_range_per_pass(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({CUPTI_AutoRange, CUPTI_KernelReplay, 8, 1}))},
             {"start", result_name(p.start())}};
    for (int i = 0; i < 3; ++i) check("launch", gpu.launch_spin(kCycles));
    out["stop"] = result_name(p.stop());
    finish(out, p);
    return out;
}

json beyond_capacity(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({CUPTI_AutoRange, CUPTI_KernelReplay, 2, 2}))},
             {"start", result_name(p.start())}};
    for (int i = 0; i < 5; ++i) check("launch", gpu.launch_spin(kCycles));
    out["stop"] = result_name(p.stop());
    finish(out, p);
    return out;
}

/// U4
json range_limit(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    json out;
    for (const size_t n : {1, 8, 64, 256, 1024, 2000, 3000, 5000, 10000, 50000}) {
        json one{{"ranges", n}};
        try {
            one["set_config"] = result_name(p.configure({CUPTI_AutoRange, CUPTI_KernelReplay, n, n}));
            one["image_bytes"] = p.image_bytes();
        } catch (const std::exception& e) {
            one["error"] = e.what();
        }
        out.push_back(one);
    }
    return out;
}

/// U5
json second_enable(const Gpu& gpu) {
    const Profiler first(gpu.context, core_metrics());
    json out;
    for (const bool same : {true, false}) {
        CUcontext context = gpu.context;
        if (!same) DRIVER(cuCtxCreate_v4, &context, nullptr, 0, 0);
        CUpti_RangeProfiler_Enable_Params enable{};
        enable.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
        enable.ctx = context;
        out[same ? "same_context" : "same_device"] =
            result_name(TRY_CUPTI(cuptiRangeProfilerEnable)(&enable));
    }
    return out;
}

/// U6
json failed_launch(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({}))}, {"start", result_name(p.start())}};
    check("launch", gpu.launch_spin(kCycles));
    out["too_many_threads"] = static_cast<int>(gpu.launch_spin(kCycles, 1, nullptr, 2048));
    check("launch", gpu.launch_spin(kCycles * 3));
    out["stop"] = result_name(p.stop());
    finish(out, p);
    return out;
}

std::mutex g_order_mutex;
json g_order;

void on_launch(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* raw) {
    const auto* data = static_cast<const CUpti_CallbackData*>(raw);
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || data->callbackSite != CUPTI_API_ENTER) return;
    const std::lock_guard lock(g_order_mutex);
    g_order.push_back({{"cbid", cbid},
                       {"correlation", data->correlationId},
                       {"symbol", data->symbolName != nullptr ? data->symbolName : ""},
                       {"thread", std::hash<std::thread::id>()(std::this_thread::get_id()) % 1000}});
}

CUpti_SubscriberHandle subscribe() {
    CUpti_SubscriberHandle subscriber = nullptr;
    CUPTI(cuptiSubscribe, &subscriber, on_launch, nullptr);
    for (const uint32_t cbid :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz})
        CUPTI(cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cbid);
    return subscriber;
}

/// U7, and what a callback's correlation id is where no activity kind is on.
json two_threads(const Gpu& gpu) {
    subscribe();
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({}))}, {"start", result_name(p.start())}};
    const auto body = [&gpu](unsigned long long cycles) {
        TRY_DRIVER(cuCtxSetCurrent)(gpu.context);
        for (int i = 0; i < 4; ++i) gpu.launch_spin(cycles);
    };
    std::thread a(body, kCycles), b(body, kCycles * 4);
    a.join();
    b.join();
    out["stop"] = result_name(p.stop());
    out["enter_order"] = g_order;
    finish(out, p);
    return out;
}

/// U12
json launch_in_capture(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    CUstream stream = nullptr;
    DRIVER(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    json out{{"set_config", result_name(p.configure({}))}};
    DRIVER(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    out["start"] = result_name(p.start());
    out["launch"] = static_cast<int>(gpu.launch_spin(kCycles, 1, stream));
    out["stop"] = result_name(p.stop());
    out["decode_in_capture"] = result_name(p.decode());
    CUgraph graph = nullptr;
    out["end_capture"] = static_cast<int>(TRY_DRIVER(cuStreamEndCapture)(stream, &graph));
    out["ranges"] = p.ranges();
    return out;
}

/// A graph of three kernels in one order, one of them three times as long.
json graph_kernels(const Gpu& gpu) {
    CUstream stream = nullptr;
    DRIVER(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    DRIVER(cuStreamBeginCapture_v2, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    for (const unsigned factor : {1, 3, 2}) check("launch", gpu.launch_spin(kCycles * factor, 1, stream));
    CUgraph graph = nullptr;
    DRIVER(cuStreamEndCapture, stream, &graph);
    CUgraphExec exec = nullptr;
    DRIVER(cuGraphInstantiateWithFlags, &exec, graph, 0);
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({}))}, {"start", result_name(p.start())}};
    out["launch"] = static_cast<int>(TRY_DRIVER(cuGraphLaunch)(exec, stream));
    out["stop"] = result_name(p.stop());
    finish(out, p);
    return out;
}

json user_range(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({CUPTI_UserRange, CUPTI_UserReplay, 4, 4}))},
             {"start", result_name(p.start())},
             {"push", result_name(p.push("both"))}};
    for (int i = 0; i < 2; ++i) check("launch", gpu.launch_spin(kCycles));
    out["pop"] = result_name(p.pop());
    out["stop"] = result_name(p.stop());
    finish(out, p);
    return out;
}

json user_range_kernel_replay(const Gpu& gpu) {
    Profiler p(gpu.context, core_metrics());
    return {{"set_config", result_name(p.configure({CUPTI_UserRange, CUPTI_KernelReplay, 4, 4}))}};
}

std::atomic<int> g_kernels{0};
json g_times;

/// U1: kernel activity records beside a session; how many records a launch yields, and whose time they show.
json with_activity(const Gpu& gpu, const std::vector<std::string>& metrics) {
    CUPTI(
        cuptiActivityRegisterCallbacks,
        [](uint8_t** buffer, size_t* size, size_t* records) {
            *size = 1 << 20;
            *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *size));
            *records = 0;
        },
        [](CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
            CUpti_Activity* record = nullptr;
            while (TRY_CUPTI(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS) {
                if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
                    record->kind != CUPTI_ACTIVITY_KIND_KERNEL)
                    continue;
                const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
                ++g_kernels;
                g_times.push_back(kernel->end - kernel->start);
            }
            std::free(buffer);
        });
    json out{{"enable_activity",
              result_name(TRY_CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))}};
    {
        Profiler p(gpu.context, metrics);
        out["passes"] = p.passes();
        out["set_config"] = result_name(p.configure({}));
        out["start"] = result_name(p.start());
        check("launch", gpu.launch_spin(kCycles * 4));
        out["stop"] = result_name(p.stop());
        finish(out, p);
    }
    check("cuCtxSynchronize", TRY_DRIVER(cuCtxSynchronize)());
    out["flush"] = result_name(TRY_CUPTI(cuptiActivityFlushAll)(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    out["kernel_records"] = g_kernels.load();
    out["record_ns"] = g_times;
    return out;
}
json activity_one_pass(const Gpu& gpu) {
    return with_activity(gpu, core_metrics());
}
json activity_replayed(const Gpu& gpu) {
    return with_activity(gpu, {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__time_duration.sum"});
}

/// U13: the second of two equal kernels finds the caches as the first left them, or flushed? 4 MiB fits every
/// L2.
json caches_and_clocks(const Gpu& gpu) {
    constexpr unsigned long long floats = 1 << 20;
    CUdeviceptr data = 0;
    DRIVER(cuMemAlloc_v2, &data, floats * 4);
    check("launch", gpu.launch_touch(data, floats));
    Profiler p(gpu.context, {"dram__bytes_read.sum", "gpu__time_duration.sum", "sm__cycles_elapsed.max"});
    json out{{"passes", p.passes()}, {"set_config", result_name(p.configure({}))}, {"bytes", floats * 4}};
    check("start", p.start());
    for (int i = 0; i < 4; ++i) check("launch", gpu.launch_touch(data, floats));
    check("stop", p.stop());
    finish(out, p);
    return out;
}

/// Right values from arithmetic: 1 GiB read once and written once, far above any L2.
json known_bytes(const Gpu& gpu) {
    constexpr unsigned long long floats = 1ull << 28;
    CUdeviceptr data = 0;
    DRIVER(cuMemAlloc_v2, &data, floats * 4);
    Profiler p(gpu.context, core_metrics());
    json out{{"set_config", result_name(p.configure({}))}, {"bytes_each_way", floats * 4}};
    check("start", p.start());
    for (int i = 0; i < 3; ++i) check("launch", gpu.launch_touch(data, floats));
    check("stop", p.stop());
    finish(out, p);
    return out;
}

struct Question {
    const char* name;
    json (*ask)(const Gpu&);
};
constexpr Question kQuestions[] = {
    {"session_a_launch", session_a_launch},
    {"sessions_accumulate", sessions_accumulate},
    {"several_in_a_session", several_in_a_session},
    {"decode_while_started", decode_while_started},
    {"one_range_per_pass", one_range_per_pass},
    {"beyond_capacity", beyond_capacity},
    {"range_limit", range_limit},
    {"second_enable", second_enable},
    {"failed_launch", failed_launch},
    {"two_threads", two_threads},
    {"launch_in_capture", launch_in_capture},
    {"graph_kernels", graph_kernels},
    {"user_range", user_range},
    {"user_range_kernel_replay", user_range_kernel_replay},
    {"activity_one_pass", activity_one_pass},
    {"activity_replayed", activity_replayed},
    {"caches_and_clocks", caches_and_clocks},
    {"known_bytes", known_bytes},
};

json answer(const Question& question, const std::string& module) {
    try {
        const Gpu gpu(module);
        return question.ask(gpu);
    } catch (const std::exception& e) {
        return {{"error", e.what()}};
    }
}

/// In a child; what it wrote, or how it ended.
json ask_in_child(const Question& question, const std::string& module) {
    int channel[2];
    if (pipe(channel) != 0) return {{"error", "no pipe"}};
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(channel[0]);
        const std::string text =
            answer(question, module).dump(-1, ' ', false, json::error_handler_t::replace);
        for (size_t done = 0; done < text.size();) {
            const ssize_t n = write(channel[1], text.data() + done, text.size() - done);
            if (n <= 0) break;
            done += static_cast<size_t>(n);
        }
        _exit(0);
    }
    close(channel[1]);
    std::string text;
    char part[4096];
    bool hung = false;
    for (;;) {
        pollfd wait{channel[0], POLLIN, 0};
        if (poll(&wait, 1, kLimitMs) <= 0) {
            hung = true;
            break;
        }
        const ssize_t n = read(channel[0], part, sizeof part);
        if (n <= 0) break;
        text.append(part, static_cast<size_t>(n));
    }
    close(channel[0]);
    if (hung) kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (hung) return {{"error", "no answer within " + std::to_string(kLimitMs / 1000) + " s: it hangs"}};
    if (WIFSIGNALED(status)) return {{"error", "ended by signal " + std::to_string(WTERMSIG(status))}};
    return json::parse(text, nullptr, false);
}

int run(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: probe_cupti probe_kernels.fatbin [QUESTION...]\n");
        return 2;
    }
    for (const Question& question : kQuestions) {
        const auto wanted = [&](const char* name) { return std::strcmp(name, question.name) == 0; };
        if (argc > 2 && std::none_of(argv + 2, argv + argc, wanted)) continue;
        const json line{{"question", question.name}, {"answer", ask_in_child(question, argv[1])}};
        std::printf("%s\n", line.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
        std::fflush(stdout);
    }
    return 0;
}

}  // namespace
}  // namespace attnscope::probe

int main(int argc, char** argv) {
    return attnscope::probe::run(argc, argv);
}
