// The stand-in against NVIDIA's own libcupti.so.13, which needs no device for names, walks through buffers
// and the host API. Skipped where that library is not installed.
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "collectors/virtual_gpu/core/hooks.h"
#include "cupti_client.h"

namespace {

using namespace attnscope::vgpu;
using cupti_client::client;

std::string own_file() {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(cuptiGetVersion), &info);
    return info.dli_fname;
}

CUptiResult supported_chips(CUpti_Profiler_Host_GetSupportedChips_Params& params) {
    params = {};
    params.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE;
    return cuptiProfilerHostGetSupportedChips(&params);
}

/// The stand-in has loaded it for its host API; the process's map says from where.
std::string real_file() {
    CUpti_Profiler_Host_GetSupportedChips_Params params;
    if (supported_chips(params) != CUPTI_SUCCESS) return "";
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        const size_t path = line.find('/');
        if (path == std::string::npos || line.find("libcupti.so") == std::string::npos) continue;
        if (line.substr(path) != own_file()) return line.substr(path);
    }
    return "";
}

class CuptiReal : public testing::Test {
  protected:
    void SetUp() override {
        file = real_file();
        if (file.empty())
            GTEST_SKIP() << "NVIDIA's libcupti.so.13 is not installed: pip install nvidia-cuda-cupti";
        library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(nullptr, library) << dlerror();
    }
    template <class Function>
    Function* real(const char* name) {
        return reinterpret_cast<Function*>(dlsym(library, name));
    }
    std::string file;
    void* library = nullptr;
};

std::set<std::string> exports(const std::string& path) {
    std::set<std::string> names;
    FILE* nm = popen(("nm -D --defined-only '" + path + "'").c_str(), "r");
    char address[64], type[8], name[512];
    while (nm && std::fscanf(nm, "%63s %7s %511s", address, type, name) == 3)
        if (*type == 'T' && std::string(name).rfind("attnscope", 0) != 0)
            names.insert(std::string(name).substr(0, std::string(name).find('@')));
    if (nm) pclose(nm);
    return names;
}

std::set<std::string> listed() {
    std::ifstream list(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) +
                       "/collectors/virtual_gpu/cupti/libcupti.so.13.txt");
    std::set<std::string> names;
    for (std::string name; list >> name;) names.insert(name);
    return names;
}

TEST(CuptiExports, EveryPublicFunctionOfTheList) {
    EXPECT_EQ(197u, listed().size());
    EXPECT_EQ(listed(), exports(own_file()));
}

TEST_F(CuptiReal, ListIsTheRealLibrarys) {
    EXPECT_EQ(exports(file), listed());
}

TEST_F(CuptiReal, CallbackNames) {
    auto* name = real<decltype(cuptiGetCallbackName)>("cuptiGetCallbackName");
    for (const auto domain : {CUPTI_CB_DOMAIN_INVALID, CUPTI_CB_DOMAIN_DRIVER_API,
                              CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE})
        for (uint32_t cbid = 0; cbid < 900; ++cbid) {
            const char *ours = nullptr, *theirs = nullptr;
            ASSERT_EQ(name(domain, cbid, &theirs), cuptiGetCallbackName(domain, cbid, &ours))
                << domain << " " << cbid;
            ASSERT_STREQ(theirs, ours);
        }
}

TEST_F(CuptiReal, ResultStringsAndCapabilities) {
    auto* string = real<decltype(cuptiGetResultString)>("cuptiGetResultString");
    for (int code = -1; code < 1000; ++code) {
        const char *ours = nullptr, *theirs = nullptr;
        const CUptiResult known = string(static_cast<CUptiResult>(code), &theirs);
        // The real library lacks a name for codes that its own header lists (36, for one).
        if (cuptiGetResultString(static_cast<CUptiResult>(code), &ours) == CUPTI_SUCCESS &&
            known != CUPTI_SUCCESS)
            continue;
        ASSERT_STREQ(theirs, ours) << code;
    }
    auto* supported = real<decltype(cuptiComputeCapabilitySupported)>("cuptiComputeCapabilitySupported");
    for (int major = 0; major < 16; ++major)
        for (int minor = 0; minor < 10; ++minor) {
            int ours = -1, theirs = -1;
            ASSERT_EQ(supported(major, minor, &theirs), cuptiComputeCapabilitySupported(major, minor, &ours));
            ASSERT_EQ(theirs, ours) << major << "." << minor;
        }
}

// Buffers that the stand-in filled, walked by the real cuptiActivityGetNextRecord: the same records, the same
// end.
TEST_F(CuptiReal, WalksOurBuffers) {
    cuptiActivityRegisterCallbacks(cupti_client::request, cupti_client::complete);
    for (int kind = 1; kind < CUPTI_ACTIVITY_KIND_COUNT; ++kind)
        cuptiActivityEnable(static_cast<CUpti_ActivityKind>(kind));
    cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 5);
    int context = 0, stream = 0, module = 0;
    hooks()->driver_initialised();
    hooks()->resource(ResourceEvent::context_created, &context, 77, nullptr, 0);
    hooks()->resource(ResourceEvent::stream_created, &context, 77, &stream, 9);
    hooks()->resource(ResourceEvent::module_loaded, &context, 77, &module, 3);
    for (uint32_t i = 0; i < 100; ++i) {
        {
            ApiScope runtime(ApiDomain::runtime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                             "cudaLaunchKernel", nullptr);
        }
        ApiScope driver(ApiDomain::driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel", nullptr);
        KernelEvent kernel{};
        kernel.correlation = driver.correlation();
        kernel.name = "k";
        hooks()->kernel(kernel);
        CopyEvent copy{};
        copy.copy_kind = i % 2 ? CUPTI_ACTIVITY_MEMCPY_KIND_PTOP : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
        hooks()->copy(copy);
        hooks()->set({});
        hooks()->synchronised(
            {driver.correlation(), CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, 77, 0, 0});
    }
    hooks()->resource(ResourceEvent::context_destroy_starting, &context, 77, nullptr, 0);
    cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr);
    cuptiActivityFlushAll(0);
    auto* next = real<decltype(cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord");
    size_t records = 0;
    std::set<int> kinds;
    for (const auto& buffer : client.finished) {
        CUpti_Activity *ours = nullptr, *theirs = nullptr;
        for (;;) {
            const CUptiResult a = cuptiActivityGetNextRecord(buffer.bytes, buffer.used, &ours);
            const CUptiResult b = next(buffer.bytes, buffer.used, &theirs);
            ASSERT_EQ(b, a);
            if (a != CUPTI_SUCCESS) {
                ASSERT_EQ(CUPTI_ERROR_MAX_LIMIT_REACHED, a);
                break;
            }
            ASSERT_EQ(theirs, ours);
            kinds.insert(ours->kind);
            ++records;
        }
    }
    EXPECT_GE(records, 703u);
    EXPECT_GE(kinds.size(), 11u);
    uint8_t zero[64] = {};
    CUpti_Activity *ours = nullptr, *theirs = nullptr;
    EXPECT_EQ(next(zero, sizeof zero, &theirs), cuptiActivityGetNextRecord(zero, sizeof zero, &ours));
    EXPECT_EQ(next(zero, 0, &theirs), cuptiActivityGetNextRecord(zero, 0, &ours));
    EXPECT_EQ(next(nullptr, 0, &theirs), cuptiActivityGetNextRecord(nullptr, 0, &ours));
    cuptiFinalize();
    client.clear();
}

// facts/cupti-without-a-gpu.md: 30 chips; occupancy, DRAM bytes, tensor use and time fit in one pass on
// GH100.
TEST_F(CuptiReal, HostApiPassesThrough) {
    CUpti_Profiler_Host_GetSupportedChips_Params chips;
    ASSERT_EQ(CUPTI_SUCCESS, supported_chips(chips));
    EXPECT_EQ(30u, chips.numChips);
    CUpti_Profiler_Host_Initialize_Params start{};
    start.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
    start.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    start.pChipName = "GH100";
    ASSERT_EQ(CUPTI_SUCCESS, cuptiProfilerHostInitialize(&start));
    const char* metrics[] = {"sm__warps_active.avg.pct_of_peak_sustained_active", "dram__bytes_read.sum",
                             "dram__bytes_write.sum", "gpu__time_duration.sum"};
    CUpti_Profiler_Host_ConfigAddMetrics_Params add{};
    add.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
    add.pHostObject = start.pHostObject;
    add.ppMetricNames = metrics;
    add.numMetrics = std::size(metrics);
    ASSERT_EQ(CUPTI_SUCCESS, cuptiProfilerHostConfigAddMetrics(&add));
    CUpti_Profiler_Host_GetConfigImageSize_Params size{};
    size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
    size.pHostObject = start.pHostObject;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiProfilerHostGetConfigImageSize(&size));
    std::vector<uint8_t> bytes(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params image{};
    image.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
    image.pHostObject = start.pHostObject;
    image.configImageSize = bytes.size();
    image.pConfigImage = bytes.data();
    ASSERT_EQ(CUPTI_SUCCESS, cuptiProfilerHostGetConfigImage(&image));
    CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
    passes.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
    passes.configImageSize = bytes.size();
    passes.pConfigImage = bytes.data();
    ASSERT_EQ(CUPTI_SUCCESS, cuptiProfilerHostGetNumOfPasses(&passes));
    EXPECT_EQ(1u, passes.numOfPasses);
    CUpti_Profiler_Host_Deinitialize_Params end{};
    end.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
    end.pHostObject = start.pHostObject;
    EXPECT_EQ(CUPTI_SUCCESS, cuptiProfilerHostDeinitialize(&end));
}

TEST(CuptiHostApi, SaysSoWhereTheRealLibraryIsAbsent) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process: this one may have loaded the library
    EXPECT_EXIT(
        {
            setenv("ATTNSCOPE_REAL_CUPTI", "/nowhere/libcupti.so.13", 1);
            CUpti_Profiler_Host_GetSupportedChips_Params params;
            _exit(supported_chips(params) == CUPTI_ERROR_NOT_SUPPORTED ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

// No counters on a virtual GPU: documented answers, never a silent success.
TEST(CuptiProfiler, SaysThatThereAreNoCounters) {
    CUpti_Profiler_Initialize_Params start{};
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiProfilerInitialize(&start)) << "structSize is 0";
    start.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    EXPECT_EQ(CUPTI_SUCCESS, cuptiProfilerInitialize(&start));
    CUpti_Profiler_DeviceSupported_Params supported{};
    supported.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
    supported.api = CUPTI_PROFILER_RANGE_PROFILING;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiProfilerDeviceSupported(&supported));
    EXPECT_EQ(CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED, supported.isSupported);
    CUpti_Profiler_GetCounterAvailability_Params counters{};
    counters.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
    EXPECT_EQ(CUPTI_ERROR_NOT_SUPPORTED, cuptiProfilerGetCounterAvailability(&counters));
    // Removed from CUDA 13 itself (cupti_activity.h at this function).
    EXPECT_EQ(CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED, cuptiActivityConfigurePCSampling(nullptr, nullptr));
}

TEST(CuptiDevices, ChipName) {
    CUpti_Device_GetChipName_Params chip{};
    chip.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiDeviceGetChipName(&chip));
    EXPECT_STREQ("GH100", chip.pChipName);
    chip.deviceIndex = 2;
    EXPECT_EQ(CUPTI_ERROR_INVALID_DEVICE, cuptiDeviceGetChipName(&chip));
    uint32_t version = 0;
    EXPECT_EQ(CUPTI_SUCCESS, cuptiGetVersion(&version));
    EXPECT_EQ(static_cast<uint32_t>(CUPTI_API_VERSION), version);
}

}  // namespace
