// The rules of the Range Profiler of libcupti's stand-in, one test a rule. They are cupti_range_profiler.h's
// and cupti_profiler_target.h's of CUPTI 13.0; what those leave open is refused.
#include <sys/mman.h>

#include "cupti_range_client.h"

namespace {

using namespace range_client;

constexpr auto success = CUPTI_SUCCESS;
constexpr auto order = CUPTI_ERROR_INVALID_OPERATION;
constexpr auto value = CUPTI_ERROR_INVALID_PARAMETER;

/// Under ATTNSCOPE_VGPU_STRICT the process aborts where the real library crashes or nothing is defined.
template <class Body>
void aborts(Body body) {
    const int status = run_child(with_fixture({{"ATTNSCOPE_VGPU_STRICT", "1"}}), [&] {
        if (!std::freopen("/dev/null", "w", stderr)) return;
        body();
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << "status " << status;
}

TEST(CuptiRange, AWholeSession) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context);
        launch(context);
        ASSERT_EQ(success, profiler.start());
        launch(context, {"_Z1av"});
        launch(context, {"_Z1bv", "_Z1cv"});
        ASSERT_EQ(success, profiler.stop());
        EXPECT_TRUE(profiler.all_passes);
        launch(context);
        ASSERT_EQ(success, profiler.decode());
        EXPECT_EQ(0u, profiler.dropped);
        EXPECT_EQ(3, profiler.total()) << "what was launched between Start and Stop";
        EXPECT_EQ("0", profiler.name(0));
        EXPECT_EQ("2", profiler.name(2));
        // The next session without a new SetConfig; initialising is the reset.
        ASSERT_EQ(success, profiler.initialise());
        EXPECT_EQ(0, profiler.total());
        ASSERT_EQ(success, profiler.start());
        launch(context);
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode());
        EXPECT_EQ(1, profiler.total());
        EXPECT_EQ(success, profiler.disable());
    });
}

TEST(CuptiRange, StructSizes) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        RANGE_PARAMS(Profiler_Initialize, initialise);
        initialise.structSize -= 1;
        EXPECT_EQ(value, cuptiProfilerInitialize(&initialise));
        ASSERT_EQ(success, initialise_profiler());
        RANGE_PARAMS(RangeProfiler_Enable, enable);
        enable.ctx = context;
        enable.structSize -= 1;
        EXPECT_EQ(value, cuptiRangeProfilerEnable(&enable));
        enable.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE + 64;
        EXPECT_EQ(success, cuptiRangeProfilerEnable(&enable)) << "of a newer client";
        Profiler profiler;
        profiler.object = enable.pRangeProfilerObject;
        ASSERT_EQ(success, profiler.size());
        ASSERT_EQ(success, profiler.initialise());
        auto config = profiler.config_params();
        config.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE - 1;
        EXPECT_EQ(value, cuptiRangeProfilerSetConfig(&config));
        config.structSize = sizeof config;  // 96, where the macro says 90
        EXPECT_EQ(success, cuptiRangeProfilerSetConfig(&config));
        RANGE_PARAMS(RangeProfiler_Stop, stop);
        stop.pRangeProfilerObject = profiler.object;
        stop.structSize = 0;
        EXPECT_EQ(value, cuptiRangeProfilerStop(&stop));
    });
}

TEST(CuptiRange, OrderOfCalls) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        EXPECT_EQ(CUPTI_ERROR_NOT_INITIALIZED, profiler.enable(context));
        ASSERT_EQ(success, initialise_profiler());
        EXPECT_EQ(value, profiler.start()) << "the object is NULL";
        ASSERT_EQ(success, profiler.enable(context));
        EXPECT_EQ(order, profiler.start()) << "no SetConfig";
        EXPECT_EQ(order, profiler.decode());
        ASSERT_EQ(success, profiler.size());
        EXPECT_EQ(value, profiler.configure()) << "the image is not initialised";
        ASSERT_EQ(success, profiler.initialise());
        ASSERT_EQ(success, profiler.configure());
        EXPECT_EQ(order, profiler.stop()) << "not started";
        EXPECT_EQ(order, profiler.push("a")) << "auto range";
        EXPECT_EQ(order, profiler.pop());
        ASSERT_EQ(success, profiler.start());
        EXPECT_EQ(order, profiler.start()) << "twice";
        EXPECT_EQ(order, profiler.configure()) << "while started";
        EXPECT_EQ(order, profiler.initialise()) << "while started";
        EXPECT_EQ(order, profiler.push("a")) << "auto range";
        EXPECT_EQ(order, profiler.pop());
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.disable());
        EXPECT_EQ(value, profiler.start()) << "the object is dead";
        EXPECT_EQ(value, profiler.disable());
    });
}

TEST(CuptiRange, UserRanges) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context, true);
        EXPECT_EQ(order, profiler.push("a")) << "not started";
        ASSERT_EQ(success, profiler.start());
        EXPECT_EQ(value, profiler.push(nullptr));
        EXPECT_EQ(value, profiler.push(std::string(300, 'n').c_str()));
        EXPECT_EQ(success, profiler.push("a"));
        launch(context);
        EXPECT_EQ(success, profiler.push("inner"));
        EXPECT_EQ(order, profiler.stop()) << "ranges are open";
        EXPECT_EQ(success, profiler.pop());
        EXPECT_EQ(success, profiler.pop());
        EXPECT_EQ(order, profiler.pop()) << "more pops than pushes";
        EXPECT_EQ(success, profiler.push("b"));
        EXPECT_EQ(success, profiler.pop());
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode());
        ASSERT_EQ(2, profiler.total()) << "level 1 alone is measured";
        EXPECT_EQ("a", profiler.name(0));
        EXPECT_EQ("b", profiler.name(1));
    });
}

// SMP nested_range_profiling: passes multiply with the levels.
TEST(CuptiRange, NestedLevelsTakeTheirOwnPasses) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context, true);
        auto config = profiler.config_params(true);
        config.numNestingLevels = 2;
        ASSERT_EQ(success, cuptiRangeProfilerSetConfig(&config));
        size_t sessions = 0;
        do {
            ASSERT_EQ(success, profiler.start());
            ASSERT_EQ(success, profiler.push("step"));
            ASSERT_EQ(success, profiler.push("inner"));
            ASSERT_EQ(success, profiler.push("too deep"));
            for (int i = 0; i < 3; ++i) ASSERT_EQ(success, profiler.pop());
            ASSERT_EQ(success, profiler.stop());
        } while (++sessions < 10 && !profiler.all_passes);
        EXPECT_EQ(2u, sessions);
        ASSERT_EQ(success, profiler.decode());
        ASSERT_EQ(2, profiler.total());
        EXPECT_EQ("step", profiler.name(0));
        EXPECT_EQ("step/inner", profiler.name(1));
        EXPECT_EQ("step::inner", profiler.name(1, "::"));
        EXPECT_EQ("step/inner", profiler.name(1, nullptr)) << "the default of the host API";
        EXPECT_EQ("?", profiler.name(2));
    });
}

TEST(CuptiRange, ValuesOfSetConfig) {
    in_child(with_fixture(), [] {
        Profiler profiler;
        profiler.ready(primary_context(0));
        const auto with = [&](auto change) {
            auto params = profiler.config_params();
            change(params);
            return cuptiRangeProfilerSetConfig(&params);
        };
        const auto mode = [](int number) { return static_cast<CUpti_ProfilerRange>(number); };
        EXPECT_EQ(success, with([](auto&) {}));
        EXPECT_EQ(order, with([](auto& p) { p.range = CUPTI_UserRange; })) << "with kernel replay";
        EXPECT_EQ(value, with([&](auto& p) { p.range = mode(9); }));
        EXPECT_EQ(value, with([](auto& p) { p.numNestingLevels = 2; }));
        EXPECT_EQ(value, with([](auto& p) { p.numNestingLevels = 0; }));
        EXPECT_EQ(value, with([](auto& p) { p.minNestingLevel = 0; }));
        EXPECT_EQ(success, with([](auto& p) { p.targetNestingLevel = 0; })) << "as one of the samples";
        EXPECT_EQ(value, with([](auto& p) { p.targetNestingLevel = 3; }));
        EXPECT_EQ(value, with([](auto& p) { p.passIndex = 1; }));
        EXPECT_EQ(value, with([](auto& p) { p.maxRangesPerPass = 0; }));
        EXPECT_EQ(success, with([](auto& p) { p.maxRangesPerPass = 2000; }));
        EXPECT_EQ(order, with([](auto& p) { p.maxRangesPerPass = 2001; }));
        EXPECT_EQ(value, with([](auto& p) { p.pConfig = nullptr; }));
        EXPECT_EQ(value, with([](auto& p) { p.configSize = 12; }));
        EXPECT_EQ(value, with([](auto& p) { p.pCounterDataImage = nullptr; }));
        EXPECT_EQ(value, with([](auto& p) { p.counterDataImageSize -= 8; }));
        EXPECT_EQ(CUPTI_ERROR_NOT_SUPPORTED, with([](auto& p) { p.replayMode = CUPTI_ApplicationReplay; }));
        profiler.config[5] ^= 1;
        EXPECT_EQ(value, with([](auto&) {})) << "no config image";
        profiler.config = config_of("GA100");
        EXPECT_EQ(value, with([](auto&) {})) << "of another chip";
        profiler.nodes = profiler.ranges - 1;
        EXPECT_EQ(value, profiler.size()) << "fewer tree nodes than ranges";
        profiler.ranges = 0;
        EXPECT_EQ(value, profiler.size());
    });
}

TEST(CuptiRange, TheLimitOfRangesCanBeChanged) {
    in_child(with_fixture({{"ATTNSCOPE_VGPU_MAX_RANGES", "5000"}}), [] {
        Profiler profiler;
        profiler.ready(primary_context(0));
        auto params = profiler.config_params();
        params.maxRangesPerPass = 5000;
        EXPECT_EQ(success, cuptiRangeProfilerSetConfig(&params));
    });
}

TEST(CuptiRange, DecodeWhileStarted) {
    const auto decode_while_started = [](CUptiResult expected) {
        return [expected] {
            const CUcontext context = primary_context(0);
            Profiler profiler;
            profiler.ready(context);
            ASSERT_EQ(success, profiler.start());
            launch(context);
            EXPECT_EQ(expected, profiler.decode());
        };
    };
    in_child(with_fixture(), decode_while_started(order));
    in_child(with_fixture({{"ATTNSCOPE_VGPU_DECODE_WHILE_STARTED", "1"}}), decode_while_started(success));
}

// Undocumented, seen to work by others: allowed, and said.
TEST(CuptiRange, BesideKernelActivity) {
    in_child(with_fixture(), [] {
        Diagnostics diagnostics;
        Profiler profiler;
        profiler.ready(primary_context(0));
        ASSERT_EQ(success, profiler.start());
        ASSERT_EQ(success, profiler.stop());
        EXPECT_EQ(0u, diagnostics.count("cupti-range-and-activity"));
        ASSERT_EQ(success, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
        ASSERT_EQ(success, profiler.start());
        EXPECT_EQ(1u, diagnostics.count("cupti-range-and-activity"));
    });
}

TEST(CuptiRange, SurplusRangesAreDroppedAndTold) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context);
        ASSERT_EQ(success, profiler.start());
        for (int i = 0; i < 11; ++i) launch(context);
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode());
        EXPECT_EQ(3u, profiler.dropped) << "8 ranges a session";
        EXPECT_EQ(8, profiler.total());
        // A second session finds the image full.
        ASSERT_EQ(success, profiler.start());
        launch(context);
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode());
        EXPECT_EQ(1u, profiler.dropped);
        EXPECT_EQ(8, profiler.total());
    });
}

// Nobody documents that two threads may call on one object. An observer that is told of a refusal stands for
// the second: the first call has not returned yet.
TEST(CuptiRange, OneCallAtATime) {
    in_child(with_fixture(), [] {
        static Profiler profiler;
        static CUptiResult second = success;
        profiler.ready(primary_context(0));
        AttnscopeVgpuObserver observer{};
        observer.size = sizeof observer;
        observer.diagnostic = [](void*, const AttnscopeVgpuDiagnostic*) {
            static bool told = false;
            if (!std::exchange(told, true)) second = profiler.start();
        };
        attnscopeVgpuSetObserver(&observer);
        EXPECT_EQ(order, profiler.stop()) << "not started";
        EXPECT_EQ(order, second);
        EXPECT_EQ(success, profiler.start()) << "the first has returned";
    });
}

TEST(CuptiRangeStrict, AbortsWhereTheRealLibraryCrashes) {
    aborts([] { cuptiProfilerInitialize(nullptr); });
    aborts([] { cuptiRangeProfilerStart(nullptr); });
    aborts([] { Profiler().enable(primary_context(0)); });  // before ProfilerInitialize
    aborts([] {
        initialise_profiler();
        Profiler().enable(nullptr);
    });
    aborts([] {
        Profiler profiler;
        profiler.ready(primary_context(0));
        profiler.disable();
        profiler.start();
    });
    aborts([] {
        CUpti_Device_GetChipName_Params params{CUpti_Device_GetChipName_Params_STRUCT_SIZE, nullptr, 0,
                                               nullptr};
        cuptiDeviceGetChipName(&params);
    });
}

TEST(CuptiRangeStrict, AbortsWhereTheImageIsGone) {
    const auto image_gone = [](auto lose) {
        return [lose] {
            const CUcontext context = primary_context(0);
            Profiler profiler;
            profiler.ready(context);
            void* memory = mmap(nullptr, profiler.image.size(), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            std::memcpy(memory, profiler.image.data(), profiler.image.size());
            auto params = profiler.config_params();
            params.pCounterDataImage = static_cast<uint8_t*>(memory);
            cuptiRangeProfilerSetConfig(&params);
            profiler.start();
            profiler.stop();
            lose(memory, profiler.image.size());
            EXPECT_EQ(value, profiler.decode());
        };
    };
    const auto unmap = image_gone([](void* memory, size_t bytes) { munmap(memory, bytes); });
    const auto clear = image_gone([](void* memory, size_t bytes) { std::memset(memory, 0, bytes); });
    aborts(unmap);
    aborts(clear);
    in_child(with_fixture(), unmap);
    in_child(with_fixture(), clear);
}

}  // namespace
