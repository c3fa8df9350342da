// Faults on demand (ATTNSCOPE_VGPU_FAULT): each named fault, and any function's n-th call. Result codes:
// cupti_result.h.
#include <chrono>
#include <fstream>

#include "cupti_client.h"
#include "cupti_range_client.h"

namespace {

using namespace range_client;

constexpr auto success = CUPTI_SUCCESS;

Environment fault(const std::string& what) {
    return with_fixture({{"ATTNSCOPE_VGPU_FAULT", what}});
}

std::vector<std::string> exported_functions() {
    std::ifstream list(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) +
                       "/collectors/virtual_gpu/cupti/libcupti.so.13.txt");
    std::vector<std::string> names;
    for (std::string name; list >> name;)
        if (name.starts_with("cupti")) names.push_back(name);
    return names;
}

// Whatever a function does, a fault comes first: so nothing here looks at the arguments.
TEST(CuptiFault, EveryExportedFunctionCanFail) {
    std::string all;
    for (const std::string& name : exported_functions()) all += name + ":1=HARDWARE,";
    in_child(fault(all), [] {
        Diagnostics diagnostics;
        const auto names = exported_functions();
        ASSERT_GE(names.size(), 190u);
        for (const std::string& name : names) {
            using Function = CUptiResult (*)(void*, void*, void*, void*, void*, void*);
            auto* function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name.c_str()));
            ASSERT_NE(nullptr, function) << name;
            EXPECT_EQ(CUPTI_ERROR_HARDWARE, function(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
                << name;
        }
        EXPECT_EQ(0u, diagnostics.count("vgpu-fault"));
    });
}

TEST(CuptiFault, TheNthCallOrEach) {
    in_child(fault("cuptiGetVersion:3=UNKNOWN,cuptiGetTimestamp:*=CUPTI_ERROR_NOT_READY"), [] {
        uint32_t version = 0;
        std::vector<CUptiResult> results;
        for (int i = 0; i < 5; ++i) results.push_back(cuptiGetVersion(&version));
        EXPECT_EQ((std::vector<CUptiResult>{success, success, CUPTI_ERROR_UNKNOWN, success, success}),
                  results);
        uint64_t time = 0;
        for (int i = 0; i < 3; ++i) EXPECT_EQ(CUPTI_ERROR_NOT_READY, cuptiGetTimestamp(&time));
        EXPECT_EQ(CUPTI_ERROR_NOT_READY, cuptiGetLastError());
    });
}

TEST(CuptiFault, WhatIsNoFaultIsReportedAndIgnored) {
    const std::vector<std::string> wrong = {"nonsense",
                                            "cuptiNoSuch:1=UNKNOWN",
                                            "cuptiGetVersion:0=UNKNOWN",
                                            "cuptiGetVersion:x=UNKNOWN",
                                            "cuptiGetVersion:1=NO_SUCH",
                                            "cuptiGetVersion=UNKNOWN",
                                            "drop-buffers",
                                            "hang-launch:",
                                            "out-of-memory:Everything"};
    std::string all = "cuptiGetVersion:2=UNKNOWN";
    for (const std::string& item : wrong) all += "," + item;
    in_child(fault(all), [&] {
        Diagnostics diagnostics;
        uint32_t version = 0;
        EXPECT_EQ(success, cuptiGetVersion(&version));
        EXPECT_EQ(CUPTI_ERROR_UNKNOWN, cuptiGetVersion(&version)) << "the others hold";
        EXPECT_EQ(wrong.size(), diagnostics.count("vgpu-fault"));
        for (const std::string& item : wrong) {
            const bool named =
                std::any_of(diagnostics.all.begin(), diagnostics.all.end(), [&](const auto& entry) {
                    return entry.second.find("\"" + item + "\"") != std::string::npos;
                });
            EXPECT_TRUE(named) << item;
        }
    });
}

TEST(CuptiFault, ErrorsOfTheRangeProfiler) {
    const auto enable = [](CUptiResult expected) {
        return [expected] {
            const CUcontext context = primary_context(0);
            ASSERT_EQ(success, initialise_profiler());
            EXPECT_EQ(expected, Profiler().enable(context));
        };
    };
    in_child(fault("privileges"), enable(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES));
    in_child(fault("busy"), enable(CUPTI_ERROR_HARDWARE_BUSY));
    in_child(fault("out-of-memory"), enable(CUPTI_ERROR_OUT_OF_MEMORY));
    in_child(fault("out-of-memory:Enable"), enable(CUPTI_ERROR_OUT_OF_MEMORY));
    in_child({{"ATTNSCOPE_VGPU_FAULT", "privileges"}}, enable(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES));
    in_child(fault("out-of-memory:SetConfig"), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        ASSERT_EQ(success, initialise_profiler());
        ASSERT_EQ(success, profiler.enable(context));
        ASSERT_EQ(success, profiler.size());
        ASSERT_EQ(success, profiler.initialise());
        EXPECT_EQ(CUPTI_ERROR_OUT_OF_MEMORY, profiler.configure());
    });
    in_child(fault("out-of-memory:Start"), [] {
        Profiler profiler;
        profiler.ready(primary_context(0));
        EXPECT_EQ(CUPTI_ERROR_OUT_OF_MEMORY, profiler.start());
    });
}

TEST(CuptiFault, UnsupportedDevice) {
    in_child(fault("unsupported-device"), [] {
        RANGE_PARAMS(Profiler_DeviceSupported, params);
        params.api = CUPTI_PROFILER_RANGE_PROFILING;
        ASSERT_EQ(success, cuptiProfilerDeviceSupported(&params));
        EXPECT_EQ(CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, params.isSupported);
        EXPECT_EQ(CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, params.architecture);
        EXPECT_EQ(CUPTI_PROFILER_CONFIGURATION_SUPPORTED, params.vGpu);
        ASSERT_EQ(success, initialise_profiler());
        EXPECT_EQ(CUPTI_ERROR_NOT_SUPPORTED, Profiler().enable(primary_context(0)));
    });
}

TEST(CuptiFault, AnotherSubscriber) {
    in_child(fault("subscriber"), [] {
        const auto ignore = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
        CUpti_SubscriberHandle handle = nullptr;
        EXPECT_EQ(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, cuptiSubscribe(&handle, ignore, nullptr));
        char name[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
        CUpti_SubscriberParams params{};
        params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
        params.oldSubscriberName = name;
        params.oldSubscriberSize = sizeof name;
        EXPECT_EQ(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
                  cuptiSubscribe_v2(&handle, ignore, nullptr, &params));
        EXPECT_STREQ("CUPTI for another tool", name);
        EXPECT_EQ(nullptr, handle);
    });
}

// facts/cupti-without-a-gpu.md, and the contract's 1.1: 999 without libcuda.
TEST(CuptiFault, NoDriver) {
    in_child(fault("no-driver"), [] {
        CUpti_SubscriberHandle handle = nullptr;
        EXPECT_EQ(CUPTI_ERROR_UNKNOWN, cuptiSubscribe(&handle, nullptr, nullptr));
        EXPECT_EQ(CUPTI_ERROR_UNKNOWN, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL));
        EXPECT_EQ(CUPTI_ERROR_UNKNOWN, initialise_profiler());
        EXPECT_EQ(CUPTI_ERROR_UNKNOWN, cuptiActivityFlushAll(0));
    });
}

TEST(CuptiFault, DroppedRanges) {
    in_child(fault("drop-ranges:3"), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context);
        ASSERT_EQ(success, profiler.start());
        for (int i = 0; i < 7; ++i) launch(context);
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode()) << "SUCCESS all the same";
        EXPECT_EQ(2u, profiler.dropped);
        EXPECT_EQ(5, profiler.total());
        ASSERT_EQ(success, profiler.decode());
        EXPECT_EQ(0u, profiler.dropped) << "told once";
    });
}

TEST(CuptiFault, ARangeWithoutACallback) {
    in_child(fault("extra-range:2"), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context);
        std::vector<int> totals;
        for (int session = 0; session < 3; ++session) {
            ASSERT_EQ(success, profiler.initialise());
            ASSERT_EQ(success, profiler.start());
            launch(context);
            ASSERT_EQ(success, profiler.stop());
            ASSERT_EQ(success, profiler.decode());
            totals.push_back(profiler.total());
        }
        EXPECT_EQ((std::vector<int>{1, 2, 1}), totals);
    });
}

TEST(CuptiFault, DataThatCannotBeEvaluated) {
    in_child(fault("undecodable:2"), [] {
        Host host;
        if (!host.object) GTEST_SKIP() << "NVIDIA's libcupti.so.13 is not installed";
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context);
        std::vector<CUptiResult> results;
        for (int session = 0; session < 3; ++session) {
            ASSERT_EQ(success, profiler.initialise());
            ASSERT_EQ(success, profiler.start());
            launch(context);
            ASSERT_EQ(success, profiler.stop());
            ASSERT_EQ(success, profiler.decode()) << "SUCCESS all the same";
            std::vector<double> values;
            results.push_back(host.evaluate(profiler.image, 0, metric_names(), values));
        }
        EXPECT_EQ((std::vector<CUptiResult>{success, CUPTI_ERROR_INVALID_PARAMETER, success}), results);
    });
}

TEST(CuptiFault, AMeasuredLaunchHangs) {
    in_child(fault("hang-launch:2"), [] {
        setenv("ATTNSCOPE_VGPU_HANG_MS", "300", 1);
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context);
        const auto timed = [&] {
            const auto begin = std::chrono::steady_clock::now();
            launch(context);
            return std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(300);
        };
        EXPECT_FALSE(timed()) << "not measured";
        ASSERT_EQ(success, profiler.start());
        EXPECT_FALSE(timed());
        EXPECT_TRUE(timed()) << "the second that is measured";
        EXPECT_FALSE(timed());
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode());
        EXPECT_EQ(3, profiler.total());
    });
}

TEST(CuptiFault, CudaIsGoneAtExit) {
    const int status = run_child(fault("gone-at-exit"), [] {
        std::atexit([] {
            uint32_t version = 0;
            _exit(cuptiGetVersion(&version) == CUPTI_ERROR_UNKNOWN ? 0 : 3);
        });
        uint32_t version = 0;
        EXPECT_NE(nullptr, primary_context(0));
        EXPECT_EQ(success, cuptiGetVersion(&version));
        std::exit(4);
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(CuptiFault, DroppedBuffers) {
    in_child(fault("drop-buffers:2"), [] {
        using cupti_client::client;
        const CUcontext context = primary_context(0);
        client.max_records = 10;
        ASSERT_EQ(success, cuptiActivityRegisterCallbacks(cupti_client::request, cupti_client::complete));
        ASSERT_EQ(success, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
        for (int i = 0; i < 50; ++i) launch(context);
        ASSERT_EQ(success, cuptiActivityFlushAll(0));
        EXPECT_EQ(5u, client.finished.size()) << "the client gets each buffer back";
        const size_t kernels = client.count()[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL];
        const size_t dropped = cupti_client::dropped();
        EXPECT_EQ(30u, kernels);
        EXPECT_EQ(20u, dropped);
    });
}

}  // namespace
