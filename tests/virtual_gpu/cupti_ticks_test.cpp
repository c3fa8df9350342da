// ATTNSCOPE_VGPU_TICKS=1 (set by CMake for this program): times that are an order, for clients that drop
// records without times.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "collectors/virtual_gpu/core/hooks.h"
#include "cupti_client.h"

namespace {

using namespace attnscope::vgpu;
using cupti_client::client;

TEST(CuptiTicks, StrictlyIncreasingInsideTheLaunchingCall) {
    ASSERT_STREQ("1", std::getenv("ATTNSCOPE_VGPU_TICKS"));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityRegisterCallbacks(cupti_client::request, cupti_client::complete));
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    uint64_t before = 0, after = 0;
    cuptiGetTimestamp(&before);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 1000; ++i) {
                ApiScope api(ApiDomain::driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel",
                             nullptr);
                KernelEvent kernel{};
                kernel.correlation = api.correlation();
                hooks()->kernel(kernel);
                CopyEvent copy{};
                copy.correlation = api.correlation();
                copy.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
                hooks()->copy(copy);
            }
        });
    for (std::thread& thread : threads) thread.join();
    cuptiGetTimestamp(&after);
    cuptiActivityFlushAll(0);
    std::vector<std::pair<uint64_t, uint64_t>> times;
    client.each([&](const CUpti_Activity* record) {
        if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
            const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
            times.emplace_back(copy->start, copy->end);
        } else {
            const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
            times.emplace_back(kernel->start, kernel->end);
        }
    });
    ASSERT_EQ(8000u, times.size());
    std::sort(times.begin(), times.end());
    for (size_t i = 0; i < times.size(); ++i) {
        EXPECT_EQ(times[i].first + 1, times[i].second);
        if (i) {
            EXPECT_LT(times[i - 1].first, times[i].first);
        }
    }
    // In the client's window. Two events in one nanosecond push the order ahead of the clock, by no more than
    // their number.
    EXPECT_LE(before, times.front().first);
    EXPECT_LE(times.back().first, after + times.size());
}

const char* symbol_outside_launches = nullptr;

// cupti_callbacks.h, symbolName: "valid only for driver and runtime launch callbacks".
TEST(CuptiStrict, SymbolNameOutsideLaunchesIsPoisoned) {
    ASSERT_STREQ("1", std::getenv("ATTNSCOPE_VGPU_STRICT"));
    CUpti_SubscriberHandle subscriber = nullptr;
    const auto look = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
        symbol_outside_launches = static_cast<const CUpti_CallbackData*>(data)->symbolName;
    };
    ASSERT_EQ(CUPTI_SUCCESS, cuptiSubscribe(&subscriber, look, nullptr));
    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    { ApiScope api(ApiDomain::driver, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, "cuMemAlloc_v2", nullptr); }
    EXPECT_EQ(uintptr_t{1}, reinterpret_cast<uintptr_t>(symbol_outside_launches));
    {
        ApiScope api(ApiDomain::driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel", nullptr,
                     "name");
    }
    EXPECT_STREQ("name", symbol_outside_launches);
    cuptiUnsubscribe(subscriber);
}

}  // namespace
