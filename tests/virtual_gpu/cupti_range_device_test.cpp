// Devices, contexts and processes under the Range Profiler of libcupti's stand-in. The rules:
// cupti_profiler_target.h and cupti_range_profiler.h of CUPTI 13.0; what those leave open is refused.
#include <fstream>
#include <sstream>

#include "cupti_range_client.h"

namespace {

using namespace range_client;

constexpr auto success = CUPTI_SUCCESS;
constexpr auto order = CUPTI_ERROR_INVALID_OPERATION;
constexpr auto value = CUPTI_ERROR_INVALID_PARAMETER;

TEST(CuptiRangeDevice, OneContextOfADeviceAtATime) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0), other_device = primary_context(1);
        ASSERT_EQ(success, initialise_profiler());
        CUcontext second = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuCtxCreate(&second, nullptr, 0, 0));
        Profiler profiler, other, parallel;
        ASSERT_EQ(success, profiler.enable(context));
        EXPECT_EQ(order, other.enable(context)) << "twice on a context";
        EXPECT_EQ(CUPTI_ERROR_HARDWARE_BUSY, other.enable(second));
        EXPECT_EQ(success, parallel.enable(other_device));
        ASSERT_EQ(success, profiler.disable());
        EXPECT_EQ(success, other.enable(second));
        EXPECT_EQ(CUPTI_ERROR_INVALID_CONTEXT, profiler.enable(reinterpret_cast<CUcontext>(0x1234)));
    });
}

TEST(CuptiRangeDevice, KernelsOfOtherContextsAreNotRanges) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0), other = primary_context(1);
        Profiler profiler;
        profiler.ready(context);
        ASSERT_EQ(success, profiler.start());
        launch(other);
        launch(context);
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode());
        EXPECT_EQ(1, profiler.total());
    });
}

TEST(CuptiRangeDevice, AContextDestroyedWhileEnabled) {
    in_child(with_fixture(), [] {
        Diagnostics diagnostics;
        ASSERT_NE(nullptr, primary_context(0));
        CUcontext context = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuCtxCreate(&context, nullptr, 0, 0));
        Profiler profiler;
        profiler.ready(context);
        ASSERT_EQ(CUDA_SUCCESS, cuCtxDestroy(context));
        EXPECT_EQ(1u, diagnostics.count("cupti-contract"));
        EXPECT_EQ(value, profiler.start()) << "dead with its context";
        ASSERT_EQ(CUDA_SUCCESS, cuCtxCreate(&context, nullptr, 0, 0));
        EXPECT_EQ(value, profiler.start()) << "also when a context has the same address";
        Profiler fresh;
        fresh.ready(context);
        EXPECT_NE(profiler.object, fresh.object);
    });
}

TEST(CuptiRangeDevice, CounterAvailabilityBeforeEnable) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        ASSERT_EQ(success, initialise_profiler());
        RANGE_PARAMS(Profiler_GetCounterAvailability, params);
        ASSERT_EQ(success, cuptiProfilerGetCounterAvailability(&params)) << "of the current context";
        std::vector<uint8_t> image(params.counterAvailabilityImageSize);
        ASSERT_FALSE(image.empty());
        params.ctx = context;
        params.pCounterAvailabilityImage = image.data();
        params.counterAvailabilityImageSize = image.size() - 1;
        EXPECT_EQ(value, cuptiProfilerGetCounterAvailability(&params));
        params.counterAvailabilityImageSize = image.size() + 100;
        EXPECT_EQ(success, cuptiProfilerGetCounterAvailability(&params));
        EXPECT_EQ(image.size(), params.counterAvailabilityImageSize) << "what was copied";
        Profiler profiler;
        ASSERT_EQ(success, profiler.enable(context));
        EXPECT_EQ(order, cuptiProfilerGetCounterAvailability(&params)) << "the device is in use";
        ASSERT_EQ(success, profiler.disable());
        EXPECT_EQ(success, cuptiProfilerGetCounterAvailability(&params));
        // The real host API never sees the stand-in's image.
        const Host without;
        if (!without.object) GTEST_SKIP() << "NVIDIA's libcupti.so.13 is not installed";
        EXPECT_NE(nullptr, Host("GH100", image.data()).object);
        EXPECT_EQ(nullptr, Host("GA100", image.data()).object) << "the image is of another chip";
    });
}

TEST(CuptiRangeDevice, WithoutAFixtureThereAreNoCounters) {
    in_child({}, [] {
        Diagnostics diagnostics;
        Profiler profiler;
        const CUcontext context = primary_context(0);
        ASSERT_EQ(success, initialise_profiler());
        EXPECT_EQ(CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, profiler.enable(context));
        EXPECT_EQ(1u, diagnostics.count("no-counters"));
    });
    in_child({{"ATTNSCOPE_VGPU_COUNTERS", "/nowhere/fixture.json"}}, [] {
        Diagnostics diagnostics;
        Profiler profiler;
        const CUcontext context = primary_context(0);
        ASSERT_EQ(success, initialise_profiler());
        EXPECT_EQ(CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, profiler.enable(context));
        EXPECT_EQ(1u, diagnostics.count("vgpu-fixture"));
    });
}

TEST(CuptiRangeDevice, TheFixtureSupportsTheDevice) {
    in_child(with_fixture(), [] {
        RANGE_PARAMS(Profiler_DeviceSupported, params);
        params.api = CUPTI_PROFILER_RANGE_PROFILING;
        ASSERT_EQ(success, cuptiProfilerDeviceSupported(&params));
        EXPECT_EQ(CUPTI_PROFILER_CONFIGURATION_SUPPORTED, params.isSupported);
        EXPECT_EQ(CUPTI_PROFILER_CONFIGURATION_SUPPORTED, params.vGpu);
        params.cuDevice = 2;
        EXPECT_EQ(CUPTI_ERROR_INVALID_DEVICE, cuptiProfilerDeviceSupported(&params));
    });
    // Range profiling is documented from compute capability 7.5 on.
    in_child(with_fixture({{"ATTNSCOPE_VIRTUAL_DEVICES", "V100"}}), [] {
        RANGE_PARAMS(Profiler_DeviceSupported, params);
        params.api = CUPTI_PROFILER_RANGE_PROFILING;
        ASSERT_EQ(success, cuptiProfilerDeviceSupported(&params));
        EXPECT_EQ(CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, params.isSupported);
        EXPECT_EQ(CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, params.architecture);
        ASSERT_EQ(success, initialise_profiler());
        EXPECT_EQ(CUPTI_ERROR_NOT_SUPPORTED, Profiler().enable(primary_context(0)));
    });
}

// Every chip of the device table is one that NVIDIA's library lists.
TEST(CuptiRangeDevice, ChipsAreCuptis) {
    std::ifstream table(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/src/data/gpus.tsv");
    std::string devices;
    std::vector<std::string> chips;
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string scope, key, chip;
        if (!(words >> scope >> key >> chip) || key != "chip") continue;
        devices += (devices.empty() ? "" : ",") + scope;
        chips.push_back(chip);
    }
    ASSERT_GE(chips.size(), 9u);
    in_child({{"ATTNSCOPE_VIRTUAL_DEVICES", devices}}, [&] {
        RANGE_PARAMS(Profiler_Host_GetSupportedChips, supported);
        if (cuptiProfilerHostGetSupportedChips(&supported) != success)
            GTEST_SKIP() << "NVIDIA's libcupti.so.13 is not installed";
        const std::vector<std::string> known(supported.ppChipNames,
                                             supported.ppChipNames + supported.numChips);
        for (size_t i = 0; i < chips.size(); ++i) {
            CUpti_Device_GetChipName_Params params{CUpti_Device_GetChipName_Params_STRUCT_SIZE, nullptr, i,
                                                   nullptr};
            ASSERT_EQ(success, cuptiDeviceGetChipName(&params));
            EXPECT_EQ(chips[i], params.pChipName);
            EXPECT_EQ(1, std::count(known.begin(), known.end(), chips[i])) << chips[i];
        }
    });
}

TEST(CuptiRangeDevice, ACaptureIsNotDisturbed) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context);
        CUstream stream = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        ASSERT_EQ(CUDA_SUCCESS, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        EXPECT_EQ(order, profiler.start());
        CUgraph graph = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuStreamEndCapture(stream, &graph));
        EXPECT_EQ(success, profiler.start());
    });
}

TEST(CuptiRangeDevice, AForkedChildHasNoProfiler) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        Profiler profiler;
        profiler.ready(context);
        in_child({}, [&] { EXPECT_EQ(value, profiler.start()); });
        EXPECT_EQ(success, profiler.start()) << "the parent's is untouched";
    });
}

}  // namespace
