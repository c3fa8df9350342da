// Right values: what was put into the records by hand, and the fields that schema/README.md names for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>

#include "cupti_api.h"
#include "joiner.h"
#include "lines.h"
#include "records.h"

namespace attnscope::collector {
namespace {

using nlohmann::json;
using test::activity;
using test::api_record;
using test::external_record;
using test::kernel_record;
using test::of_type;
using test::parse_lines;

struct JoinerTest : testing::Test {
    RangeBook ranges;
    Joiner joiner{ranges, {}};
    std::string text;

    std::vector<json> finish() {
        joiner.settle(text, true);
        return parse_lines(text);
    }
};

// The library reads Kernel9, Memcpy5, MemcpyPtoP4 and Memset4 whatever CUPTI wrote: valid while the newer
// ones begin as these do.
static_assert(offsetof(CUpti_ActivityKernel10, clusterZ) == offsetof(CUpti_ActivityKernel9, clusterZ));
static_assert(offsetof(CUpti_ActivityKernel10, graphId) == offsetof(CUpti_ActivityKernel9, graphId));
static_assert(offsetof(CUpti_ActivityKernel10, correlationId) ==
              offsetof(CUpti_ActivityKernel9, correlationId));
static_assert(offsetof(CUpti_ActivityKernel10, name) == 104 &&
              offsetof(CUpti_ActivityKernel10, launchType) == 136);
static_assert(offsetof(CUpti_ActivityMemcpy6, graphId) == offsetof(CUpti_ActivityMemcpy5, graphId));
static_assert(offsetof(CUpti_ActivityMemcpy6, correlationId) ==
              offsetof(CUpti_ActivityMemcpy5, correlationId));

TEST_F(JoinerTest, KernelHasEveryFieldOfTheSchema) {
    auto kernel = kernel_record(9, "_Z5flashv");
    kernel.clusterX = 2, kernel.clusterY = 1, kernel.clusterZ = 1;
    kernel.graphId = 5, kernel.graphNodeId = 1ull << 40;
    kernel.launchType = CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;
    joiner.record(activity(external_record(9, external_id(3, 0))));
    joiner.record(activity(api_record(9, 4711, 900)));
    joiner.record(activity(kernel));
    const auto lines = finish();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0], json::parse(R"({"type":"name","id":1,"name":"_Z5flashv"})"));
    EXPECT_EQ(
        lines[1],
        json::parse(
            R"({"type":"kernel","correlation":9,"name":1,"device":1,"context":2,"stream":7,"thread":4711,"range":3,
        "grid_x":16,"grid_y":4,"grid_z":2,"block_x":128,"block_y":1,"block_z":1,"cluster_x":2,"cluster_y":1,"cluster_z":1,
        "registers":255,"static_shared":16,"dynamic_shared":49152,"local_per_thread":8,"launch_type":1,
        "start_ns":1000,"end_ns":3000,"graph":5,"graph_node":1099511627776})"));
}

TEST_F(JoinerTest, WhatIsNotKnownIsAbsent) {
    auto kernel = kernel_record(9, nullptr);
    kernel.start = kernel.end = 0;  // "not collected", CUpti_ActivityKernel10
    kernel.registersPerThread = 0;  // no kernel has none
    joiner.record(activity(kernel));
    const auto lines = finish();
    ASSERT_EQ(lines.size(), 1u);
    for (const char* absent : {"name", "thread", "range", "cluster_x", "registers", "static_shared",
                               "start_ns", "end_ns", "graph"})
        EXPECT_FALSE(lines[0].contains(absent)) << absent;
    EXPECT_EQ(joiner.counts().without_api_record, 1u);
}

// A launch that fails has no record of its own; a runtime call and the driver's call inside it are one.
TEST_F(JoinerTest, FailedLaunchesAreCountedOnce) {
    auto call = api_record(7, 4711, 900);
    call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
    call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    call.returnValue = 9;
    joiner.record(activity(call));
    call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    call.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    call.returnValue = 1;
    joiner.record(activity(call));
    call.correlationId = 8;
    call.cbid = CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2;
    joiner.record(activity(call));
    call.correlationId = 9;
    call.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
    call.returnValue = 0;
    joiner.record(activity(call));
    EXPECT_TRUE(finish().empty());
    EXPECT_EQ(joiner.counts().failed_launches, 1u);
    EXPECT_EQ(joiner.counts().first_failure, 9u);
}

// The ring holds 2^19 ids: what comes later than that, from a thread that got no processor, is not lost
// either way round.
TEST_F(JoinerTest, HalfAMillionLaunchesLateStillFindsItsPartner) {
    const uint32_t later = 1u << 19;
    joiner.record(activity(api_record(5, 4711, 900)));  // its kernel comes last
    joiner.record(activity(kernel_record(6, "k")));     // its API record comes last
    for (const uint32_t early : {5u, 6u}) {
        joiner.record(activity(api_record(early + later, 4712, 950)));
        joiner.record(activity(kernel_record(early + later, "k")));
    }
    joiner.settle(text, false);
    joiner.record(activity(kernel_record(5, "k")));
    joiner.record(activity(api_record(6, 4713, 901)));
    const auto kernels = of_type(finish(), "kernel");
    ASSERT_EQ(kernels.size(), 4u);
    for (const json& kernel : kernels) {
        const int correlation = kernel.at("correlation");
        EXPECT_EQ(kernel.at("thread"), correlation == 5 ? 4711 : correlation == 6 ? 4713 : 4712);
    }
    EXPECT_EQ(joiner.counts().without_api_record, 0u);
}

TEST_F(JoinerTest, EndBeforeStartIsNoTime) {
    auto kernel = kernel_record(9, "k");
    kernel.end = kernel.start - 1;
    joiner.record(activity(kernel));
    const auto lines = finish();
    EXPECT_FALSE(lines.at(1).contains("start_ns"));
    EXPECT_EQ(joiner.counts().invalid_times, 1u);
}

TEST_F(JoinerTest, ARunningKernelHasAStartAlone) {
    auto kernel = kernel_record(9, "k");
    kernel.end = 0;
    joiner.record(activity(kernel));
    const auto lines = finish();
    EXPECT_EQ(lines.at(1).at("start_ns"), 1000);
    EXPECT_FALSE(lines.at(1).contains("end_ns"));
}

TEST(Joiner, OnAVirtualGpuNoTimeIsWritten) {
    RangeBook ranges;
    Joiner::Options options;
    options.times = false;
    Joiner joiner(ranges, options);
    joiner.record(activity(kernel_record(1, "k")));
    std::string text;
    joiner.settle(text, true);
    EXPECT_EQ(text.find("_ns"), std::string::npos);
}

TEST_F(JoinerTest, CopiesAndMemsets) {
    CUpti_ActivityMemcpy6 copy;
    std::memset(&copy, 0, sizeof copy);
    copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    copy.bytes = 268435456;
    copy.correlationId = 1;
    CUpti_ActivityMemcpyPtoP4 peer;
    std::memset(&peer, 0, sizeof peer);
    peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    peer.bytes = 5;
    peer.correlationId = 2;
    CUpti_ActivityMemset4 set;
    std::memset(&set, 0, sizeof set);
    set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    set.bytes = 64;
    set.value = 0xFF;
    set.correlationId = 3;
    for (const CUpti_Activity* record : {activity(copy), activity(peer), activity(set)})
        joiner.record(record);
    const auto lines = finish();
    EXPECT_EQ(
        lines.at(0),
        json::parse(
            R"({"type":"memcpy","correlation":1,"copy_kind":"DtoD","bytes":268435456,"asynchronous":true,"device":0,"context":0,"stream":0})"));
    EXPECT_EQ(lines.at(1).at("copy_kind"), "PtoP");
    EXPECT_EQ(
        lines.at(2),
        json::parse(
            R"({"type":"memset","correlation":3,"value":255,"bytes":64,"device":0,"context":0,"stream":0})"));
    EXPECT_EQ(joiner.counts().memcpys, 2u);
    EXPECT_EQ(joiner.counts().memsets, 1u);
}

TEST_F(JoinerTest, AnyOrderGivesTheSameLines) {
    constexpr int kLaunches = 500;
    std::vector<CUpti_ActivityKernel10> kernels;
    std::vector<CUpti_ActivityAPI> calls;
    std::vector<CUpti_ActivityExternalCorrelation> externals;
    for (uint32_t i = 1; i <= kLaunches; ++i) {
        kernels.push_back(kernel_record(i, "k"));
        calls.push_back(api_record(i, 100 + i % 8, i * 10));
        externals.push_back(external_record(i, external_id(i % 7 + 1, 0)));
    }
    std::vector<const CUpti_Activity*> records;
    for (size_t i = 0; i < kLaunches; ++i)
        for (const CUpti_Activity* r : {activity(kernels[i]), activity(calls[i]), activity(externals[i])})
            records.push_back(r);
    std::shuffle(records.begin(), records.end(), std::mt19937(7));
    for (size_t i = 0; i < records.size(); ++i) joiner.record(records[i]);
    const auto found = of_type(finish(), "kernel");
    ASSERT_EQ(found.size(), static_cast<size_t>(kLaunches));
    for (const json& line : found) {
        const uint32_t i = line.at("correlation");
        EXPECT_EQ(line.at("thread"), 100 + i % 8);
        EXPECT_EQ(line.at("range"), i % 7 + 1);
    }
}

TEST_F(JoinerTest, ACallManyRoundsLaterIsStillFound) {
    joiner.record(activity(kernel_record(1, "k")));
    for (int i = 0; i < 50; ++i) joiner.settle(text, false);
    EXPECT_EQ(text.find("kernel"), std::string::npos);
    joiner.record(activity(api_record(1, 6, 10)));
    EXPECT_EQ(of_type(finish(), "kernel").at(0).at("thread"), 6);
}

TEST_F(JoinerTest, ExternalRecordOneRoundLaterStillCounts) {
    joiner.record(activity(external_record(1, external_id(4, 0))));  // ranges are in use
    joiner.record(activity(kernel_record(2, "k")));
    joiner.record(activity(api_record(2, 11, 50)));
    joiner.settle(text, false);
    EXPECT_EQ(text.find("kernel"), std::string::npos);
    joiner.record(activity(external_record(2, external_id(4, 0))));
    joiner.settle(text, false);
    EXPECT_EQ(of_type(parse_lines(text), "kernel").at(0).at("range"), 4);
}

TEST_F(JoinerTest, TheKernelsOfOneGraphLaunchShareItsCall) {
    joiner.record(activity(api_record(77, 5, 100, CUPTI_ACTIVITY_KIND_RUNTIME,
                                      CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000)));
    for (uint64_t node = 1; node <= 3; ++node) {
        auto kernel = kernel_record(77, "node");
        kernel.graphId = 1;
        kernel.graphNodeId = node;
        joiner.record(activity(kernel));
        joiner.settle(text, false);
    }
    const auto kernels = of_type(finish(), "kernel");
    ASSERT_EQ(kernels.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(kernels[i].at("thread"), 5);
        EXPECT_EQ(kernels[i].at("graph_node"), i + 1);
    }
    EXPECT_EQ(joiner.counts().without_api_record, 0u);
}

TEST_F(JoinerTest, ARuntimeCallAndItsDriverCallAreOneLaunch) {
    joiner.record(
        activity(api_record(3, 8, 120, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)));
    joiner.record(activity(api_record(3, 8, 100)));
    joiner.record(activity(kernel_record(3, "k")));
    EXPECT_EQ(of_type(finish(), "kernel").size(), 1u);
}

TEST_F(JoinerTest, ProcessRangeByTheTimeOfTheCall) {
    const auto outer = ranges.open_process_range(100);
    const auto inner = ranges.open_process_range(200);
    ranges.close_process_range(inner.id, 300);
    ranges.close_process_range(outer.id, 400);
    const uint64_t times[] = {50, 150, 250, 350, 450};
    for (uint32_t i = 0; i < 5; ++i) {
        joiner.record(activity(api_record(i + 1, 1, times[i])));
        joiner.record(activity(kernel_record(i + 1, "k")));
    }
    const auto kernels = of_type(finish(), "kernel");
    EXPECT_FALSE(kernels.at(0).contains("range"));
    EXPECT_EQ(kernels.at(1).at("range"), outer.id);
    EXPECT_EQ(kernels.at(2).at("range"), inner.id);
    EXPECT_EQ(kernels.at(3).at("range"), outer.id);
    EXPECT_FALSE(kernels.at(4).contains("range"));
}

TEST_F(JoinerTest, AThreadRangeOpenedBeforeTheProcessRangeNamesBoth) {
    const auto process = ranges.open_process_range(100);
    joiner.record(
        activity(external_record(1, external_id(40, 0))));  // pushed while no process range was open
    joiner.record(activity(api_record(1, 1, 150)));
    joiner.record(activity(kernel_record(1, "k")));
    joiner.record(activity(external_record(2, external_id(41, process.id))));  // pushed inside it
    joiner.record(activity(api_record(2, 1, 160)));
    joiner.record(activity(kernel_record(2, "k")));
    const auto kernels = of_type(finish(), "kernel");
    EXPECT_EQ(kernels.at(0).at("range"), 40);
    EXPECT_EQ(kernels.at(0).at("process_range"), process.id);
    EXPECT_EQ(kernels.at(1).at("range"), 41);
    EXPECT_FALSE(kernels.at(1).contains("process_range"));
}

TEST_F(JoinerTest, OtherClientsIdsAreNotOurs) {
    joiner.record(activity(external_record(1, 99, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)));  // Kineto's
    joiner.record(activity(api_record(1, 1, 150)));
    joiner.record(activity(kernel_record(1, "k")));
    EXPECT_FALSE(of_type(finish(), "kernel").at(0).contains("range"));
}

TEST_F(JoinerTest, UnknownKindsAreSkipped) {
    alignas(8) uint8_t bytes[256] = {};
    auto* record = reinterpret_cast<CUpti_Activity*>(bytes);
    for (uint32_t kind = 0; kind < 200; ++kind) {
        if (kind <= CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
            kind == CUPTI_ACTIVITY_KIND_MEMCPY2 || kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
            continue;
        record->kind = static_cast<CUpti_ActivityKind>(kind);
        joiner.record(record);
    }
    EXPECT_TRUE(finish().empty());
}

TEST(Joiner, WaitingIsBounded) {
    RangeBook ranges;
    Joiner::Options options;
    options.waiting = 10;
    Joiner joiner(ranges, options);
    for (uint32_t i = 1; i <= 100; ++i) joiner.record(activity(kernel_record(i, "k")));
    std::string text;
    joiner.settle(text, false);
    const auto lines = of_type(parse_lines(text), "kernel");
    ASSERT_EQ(lines.size(), 90u);
    EXPECT_EQ(lines[0].at("correlation"), 1);
    EXPECT_EQ(joiner.counts().without_api_record, 90u);
}

TEST_F(JoinerTest, CorrelationIdsWrap) {
    for (const uint32_t id : {UINT32_MAX - 1, UINT32_MAX, 1u, 2u}) {
        joiner.record(activity(api_record(id, 6, 10)));
        joiner.record(activity(kernel_record(id, "k")));
    }
    for (const json& line : of_type(finish(), "kernel")) EXPECT_EQ(line.at("thread"), 6);
}

TEST_F(JoinerTest, ANamePointerMayBeReused) {
    char name[] = "first";
    joiner.record(activity(kernel_record(1, name)));
    std::strcpy(name, "other");
    joiner.record(activity(kernel_record(2, name)));
    joiner.record(activity(kernel_record(3, name)));
    const auto lines = finish();
    const auto names = of_type(lines, "name");
    ASSERT_EQ(names.size(), 2u);
    EXPECT_EQ(names[1].at("name"), "other");
    EXPECT_EQ(of_type(lines, "kernel").at(2).at("name"), 2);
}

TEST(ReadBuffer, StopsAtTheEndAndAtATruncatedRecord) {
    // A step function that knows the sizes of two kinds, as CUPTI's does.
    const NextRecord next = [](uint8_t* buffer, size_t valid, CUpti_Activity** record) {
        const auto size_of = [](const uint8_t* at) {
            return reinterpret_cast<const CUpti_Activity*>(at)->kind == CUPTI_ACTIVITY_KIND_RUNTIME
                       ? sizeof(CUpti_ActivityAPI)
                       : sizeof(CUpti_ActivityKernel10);
        };
        uint8_t* at = *record == nullptr ? buffer
                                         : reinterpret_cast<uint8_t*>(*record) +
                                               size_of(reinterpret_cast<uint8_t*>(*record));
        if (at + sizeof(CUpti_ActivityKind) > buffer + valid || at + size_of(at) > buffer + valid)
            return CUPTI_ERROR_MAX_LIMIT_REACHED;
        *record = reinterpret_cast<CUpti_Activity*>(at);
        return CUPTI_SUCCESS;
    };
    const auto call = api_record(1, 2, 3);
    const auto kernel = kernel_record(1, "k");
    alignas(8) uint8_t buffer[sizeof call + sizeof kernel];
    std::memcpy(buffer, &call, sizeof call);
    std::memcpy(buffer + sizeof call, &kernel, sizeof kernel);
    for (const size_t valid : {sizeof buffer, sizeof buffer - 1, sizeof call, size_t{3}, size_t{0}}) {
        RangeBook ranges;
        Joiner joiner(ranges, {});
        read_buffer(joiner, next, buffer, valid);
        EXPECT_EQ(joiner.counts().kernels, valid == sizeof buffer ? 1u : 0u) << valid;
    }
}

TEST(LaunchingFunctions, AreKnownByName) {
    for (const char* name : {"__cudaLaunchKernel_v13000", "cudaLaunchKernelExC_v11060",
                             "cuLaunchKernelEx_ptsz", "cudaGraphLaunch_v10000", "cuMemcpyHtoDAsync_v2",
                             "cudaMemset2DAsync_v3020", "cuMemcpyBatchAsync_v2"})
        EXPECT_TRUE(is_launching_function(name)) << name;
    for (const char* name : {"cudaLaunchHostFunc_v10000", "cuMemAlloc_v2", "cudaGraphAddMemcpyNode_v10000",
                             "cuGraphUpload", "cuDriverGetVersion"})
        EXPECT_FALSE(is_launching_function(name)) << name;
}

}  // namespace
}  // namespace attnscope::collector
