// The Callback API of libcupti's stand-in. Right values: cupti_callbacks.h of CUPTI 13.0.
#include <cupti.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collectors/virtual_gpu/core/hooks.h"

namespace {

using namespace attnscope::vgpu;

struct Seen {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId cbid;
    CUpti_ApiCallbackSite site;
    std::string function, symbol;
    const void* params;
    uint32_t correlation;
    int result;
    uint64_t kept;
};
std::vector<Seen> seen;

void record(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
    ASSERT_EQ(&seen, user);
    Seen entry{domain, cbid, CUPTI_API_CBSITE_FORCE_INT, "", "", nullptr, 0, -1, 0};
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
        const auto* call = static_cast<const CUpti_CallbackData*>(data);
        entry.site = call->callbackSite;
        entry.function = call->functionName;
        if (call->symbolName) entry.symbol = call->symbolName;
        entry.params = call->functionParams;
        entry.correlation = call->correlationId;
        if (call->callbackSite == CUPTI_API_ENTER) *call->correlationData = 1234;
        entry.kept = *call->correlationData;
        if (call->callbackSite == CUPTI_API_EXIT)
            entry.result = *static_cast<int*>(call->functionReturnValue);
    }
    seen.push_back(entry);
}

void call(int parameters = 0) {
    ApiScope api(ApiDomain::driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel", &parameters,
                 "_Z6kernelv");
    api.done(CUDA_ERROR_INVALID_VALUE);
}

class CuptiCallback : public testing::Test {
  protected:
    void SetUp() override {
        seen.clear();
        ASSERT_EQ(CUPTI_SUCCESS, cuptiSubscribe(&subscriber, record, &seen));
    }
    void TearDown() override { cuptiFinalize(); }
    CUpti_SubscriberHandle subscriber = nullptr;
};

TEST_F(CuptiCallback, EnterAndExitOfALaunch) {
    ASSERT_EQ(CUPTI_SUCCESS, cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                                 CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    call();
    ASSERT_EQ(2u, seen.size());
    EXPECT_EQ(CUPTI_API_ENTER, seen[0].site);
    EXPECT_EQ(CUPTI_API_EXIT, seen[1].site);
    EXPECT_EQ("cuLaunchKernel", seen[0].function);
    EXPECT_EQ("_Z6kernelv", seen[0].symbol);
    EXPECT_NE(nullptr, seen[0].params);
    EXPECT_EQ(seen[0].correlation, seen[1].correlation);
    EXPECT_NE(0u, seen[0].correlation);
    EXPECT_EQ(1234u, seen[1].kept) << "correlationData is kept from ENTER to EXIT";
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, seen[1].result);
}

TEST_F(CuptiCallback, RuntimeCallSharesItsIdWithTheDriverCallInside) {
    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
    {
        ApiScope runtime(ApiDomain::runtime, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
                         "cudaLaunchKernel", nullptr);
        call();
    }
    ASSERT_EQ(4u, seen.size());
    EXPECT_EQ(CUPTI_CB_DOMAIN_RUNTIME_API, seen[0].domain);
    EXPECT_EQ(CUPTI_CB_DOMAIN_DRIVER_API, seen[1].domain);
    EXPECT_EQ(CUPTI_CB_DOMAIN_RUNTIME_API, seen[3].domain);
    for (const Seen& entry : seen) EXPECT_EQ(seen[0].correlation, entry.correlation);
}

TEST_F(CuptiCallback, StatesAndNothingWithoutEnabling) {
    call();
    EXPECT_TRUE(seen.empty());
    const CUpti_CallbackId launch = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    uint32_t on = 9;
    EXPECT_EQ(CUPTI_SUCCESS, cuptiGetCallbackState(&on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch));
    EXPECT_EQ(0u, on);
    EXPECT_EQ(CUPTI_SUCCESS, cuptiEnableAllDomains(1, subscriber));
    EXPECT_EQ(CUPTI_SUCCESS, cuptiGetCallbackState(&on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch));
    EXPECT_NE(0u, on);
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER,
              cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE));
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_INVALID));
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiEnableDomain(1, nullptr, CUPTI_CB_DOMAIN_DRIVER_API));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiUnsubscribe(subscriber));
    call();
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiUnsubscribe(subscriber));
}

// One subscriber a process; the v2 call names the holder ("CUPTI for NAME").
TEST_F(CuptiCallback, SecondSubscriberIsRefused) {
    CUpti_SubscriberHandle second = nullptr;
    EXPECT_EQ(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, cuptiSubscribe(&second, record, nullptr));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiUnsubscribe(subscriber));
    CUpti_SubscriberParams params{};
    params.subscriberName = "attnscope";
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiSubscribe_v2(&subscriber, record, &seen, &params))
        << "structSize is 0";
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiSubscribe_v2(&subscriber, record, &seen, &params));
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    params.subscriberName = "other";
    params.oldSubscriberName = holder;
    params.oldSubscriberSize = sizeof holder;
    EXPECT_EQ(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
              cuptiSubscribe_v2(&second, record, nullptr, &params));
    EXPECT_STREQ("CUPTI for attnscope", holder);
}

TEST_F(CuptiCallback, ResourceAndSynchroniseDomains) {
    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE);
    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_SYNCHRONIZE);
    int context = 0, stream = 0;
    const Hooks& core = *hooks();
    core.driver_initialised();
    core.resource(ResourceEvent::context_created, &context, 51, nullptr, 0);
    uint32_t id = 0;
    EXPECT_EQ(CUPTI_SUCCESS, cuptiGetContextId(reinterpret_cast<CUcontext>(&context), &id));
    EXPECT_EQ(51u, id);
    core.resource(ResourceEvent::stream_created, &context, 51, &stream, 13);
    EXPECT_EQ(CUPTI_SUCCESS, cuptiGetStreamIdEx(nullptr, reinterpret_cast<CUstream>(&stream), 0, &id));
    EXPECT_EQ(13u, id);
    core.synchronised({1, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 51, 13, 0});
    core.synchronised({1, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, 51, 0, 0});
    core.resource(ResourceEvent::stream_destroy_starting, &context, 51, &stream, 13);
    core.resource(ResourceEvent::context_destroy_starting, &context, 51, nullptr, 0);
    EXPECT_EQ(CUPTI_ERROR_INVALID_CONTEXT, cuptiGetContextId(reinterpret_cast<CUcontext>(&context), &id));
    std::vector<std::pair<int, uint32_t>> order;
    for (const Seen& entry : seen) order.emplace_back(entry.domain, entry.cbid);
    const std::vector<std::pair<int, uint32_t>> expected = {
        {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED},
        {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
        {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED},
        {CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED},
        {CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED},
        {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING},
        {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}};
    EXPECT_EQ(expected, order);
}

}  // namespace
