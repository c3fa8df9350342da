#pragma once
// Events raised at the seam where the core raises them (core/hooks.h), so that nothing but libcupti's
// stand-in is tested.
#include <gtest/gtest.h>

#include "collectors/virtual_gpu/core/hooks.h"
#include "cupti_client.h"

namespace cupti_client {

using namespace attnscope::vgpu;

inline KernelEvent kernel_event(uint32_t correlation) {
    KernelEvent event{};
    event.correlation = correlation;
    event.context_id = 1;
    event.stream_id = 7;
    event.name = "_Z6kernelv";
    event.grid = {16, 4, 2};
    event.block = {128, 1, 1};
    event.cluster = {2, 1, 1};
    event.registers = 255;
    event.static_shared = 1024;
    event.dynamic_shared = 49152;
    event.local_per_thread = 24;
    event.resources_known = true;
    event.launch_type = 1;
    event.graph_id = 3;
    event.graph_node_id = 99;
    event.shared_carveout_bytes = 102400;
    return event;
}

/// One API call that launches one kernel.
inline void launch(uint32_t cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
    ApiScope api(ApiDomain::driver, cbid, "cuLaunchKernel", nullptr, "_Z6kernelv");
    if (hooks()->kernel) hooks()->kernel(kernel_event(api.correlation()));
    api.done(0);
}

class CuptiActivity : public testing::Test {
  protected:
    void SetUp() override {
        cuptiFinalize();
        client.clear();
        client.buffer_size = 1 << 20;
        client.max_records = 0;
        client.decline = false;
        client.misalign = 0;
        dropped();
        ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityRegisterCallbacks(request, complete));
    }
    void TearDown() override {
        cuptiFinalize();
        client.clear();
    }
};

}  // namespace cupti_client
