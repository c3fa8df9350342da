// Activity buffers of libcupti's stand-in: whose they are, when they come and go, what is lost. Right values:
// cupti_activity.h of CUPTI 13.0, as quoted at each test.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "cupti_fixture.h"

namespace {

using namespace attnscope::vgpu;
using namespace cupti_client;

// The value: 1,000,000 launches from 8 threads, exactly. Threads end before the flush: what they
// recorded must stay.
TEST_F(CuptiActivity, MillionLaunchesFromEightThreads) {
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    constexpr size_t threads = 8, each = 125'000;
    std::vector<std::thread> workers;
    for (size_t t = 0; t < threads; ++t)
        workers.emplace_back([] {
            for (size_t i = 0; i < each; ++i) launch();
        });
    std::atomic<bool> done{false};
    std::thread flusher([&] {
        while (!done) cuptiActivityFlushAll(0);
    });
    for (std::thread& worker : workers) worker.join();
    done = true;
    flusher.join();
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    std::vector<bool> seen;
    size_t records = 0, twice = 0;
    std::set<int64_t> grids;
    client.each([&](const CUpti_Activity* record) {
        const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
        ++records;
        if (seen.size() <= kernel->correlationId) seen.resize(kernel->correlationId + 1);
        twice += seen[kernel->correlationId];
        seen[kernel->correlationId] = true;
        grids.insert(kernel->gridId);
    });
    EXPECT_EQ(threads * each, records);
    EXPECT_EQ(0u, twice);
    EXPECT_EQ(threads * each, grids.size());
    EXPECT_EQ(0u, dropped());
}

// "the buffer callbacks ... asked for on the launching thread": a client that flushes only when it was asked
// (Kineto) gets records.
TEST_F(CuptiActivity, BufferIsRequestedWhenARecordIsMade) {
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    EXPECT_EQ(0u, client.requests);
    launch();
    EXPECT_EQ(1u, client.requests);
    std::thread(launch, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel).join();
    EXPECT_EQ(2u, client.requests) << "PER_THREAD_ACTIVITY_BUFFER is 1 by default";
}

TEST_F(CuptiActivity, OneBufferForAllThreads) {
    uint8_t off = 0, on = 1;
    size_t size = sizeof off;
    ASSERT_EQ(CUPTI_SUCCESS,
              cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &off));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    launch();
    std::thread(launch, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel).join();
    EXPECT_EQ(1u, client.requests);
    cuptiActivityFlushAll(0);
    EXPECT_EQ(2u, client.count()[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
    ASSERT_EQ(CUPTI_SUCCESS,
              cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &on));
}

TEST_F(CuptiActivity, DeclinedBufferCountsDroppedRecordsAndReadingResets) {
    client.decline = true;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (int i = 0; i < 5; ++i) launch();
    EXPECT_EQ(5u, dropped());
    EXPECT_EQ(0u, dropped());
    client.decline = false;
    launch();
    cuptiActivityFlushAll(0);
    EXPECT_EQ(1u, client.count()[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
}

TEST_F(CuptiActivity, TooSmallAndUnalignedBuffersDropAndComeBack) {
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    client.buffer_size = sizeof(CUpti_ActivityKernel10) - 8;
    launch();
    cuptiActivityFlushAll(0);
    EXPECT_EQ(1u, dropped());
    ASSERT_EQ(1u, client.finished.size());
    EXPECT_EQ(0u, client.finished[0].used);
    client.clear();
    client.buffer_size = 1 << 20;
    client.misalign = 4;
    launch();
    cuptiActivityFlushAll(0);
    EXPECT_EQ(1u, dropped());
    client.clear();
    client.misalign = 0;
}

TEST_F(CuptiActivity, MaxNumRecordsIsHonoured) {
    client.max_records = 3;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    for (int i = 0; i < 7; ++i) launch();
    cuptiActivityFlushAll(0);
    ASSERT_EQ(3u, client.finished.size());
    EXPECT_EQ(7u, client.count()[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
    for (const auto& buffer : client.finished) EXPECT_LE(buffer.used, 3 * sizeof(CUpti_ActivityKernel10));
}

// A full buffer comes back by itself, from another thread.
TEST_F(CuptiActivity, WorkerDeliversFullBuffers) {
    client.max_records = 1;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    launch();
    launch();
    for (int i = 0; i < 1000; ++i) {
        {
            const std::lock_guard lock(client.mutex);
            if (!client.finished.empty()) break;
        }
        usleep(1000);
    }
    const std::lock_guard lock(client.mutex);
    EXPECT_EQ(1u, client.finished.size());
}

CUptiResult flush_result = CUPTI_SUCCESS;
void flushing_complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t) {
    flush_result = cuptiActivityFlushAll(0);
    std::free(buffer);
}

TEST_F(CuptiActivity, FlushInsideABufferCallbackIsRefused) {
    cuptiActivityRegisterCallbacks(cupti_client::request, flushing_complete);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    launch();
    EXPECT_EQ(CUPTI_SUCCESS, cuptiActivityFlushAll(0));
    EXPECT_EQ(CUPTI_ERROR_INVALID_OPERATION, flush_result);
}

// A second client takes over without a word; the first one's buffers go back to the first.
TEST_F(CuptiActivity, SecondClientTakesOver) {
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    launch();
    static size_t to_second = 0;
    const auto second = [](CUcontext, uint32_t, uint8_t* buffer, size_t, size_t used) {
        to_second += used / sizeof(CUpti_ActivityKernel10);
        std::free(buffer);
    };
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityRegisterCallbacks(cupti_client::request, second));
    cuptiActivityFlushAll(0);
    launch();
    cuptiActivityFlushAll(0);
    EXPECT_EQ(1u, client.count()[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
    EXPECT_EQ(1u, to_second);
}

// The overhead of asking for a buffer is measured, and never takes the room of the record that asked.
TEST_F(CuptiActivity, BufferRequestOverhead) {
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_OVERHEAD);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    launch();
    client.max_records = 1;
    cuptiActivityFlushAll(0);
    launch();
    cuptiActivityFlushAll(0);
    const auto overheads = client.all<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
    ASSERT_EQ(1u, overheads.size());
    EXPECT_EQ(CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, overheads[0].overheadKind);
    EXPECT_LE(overheads[0].start, overheads[0].end);
    EXPECT_EQ(2u, client.count()[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
    EXPECT_EQ(0u, dropped());
}

// A program may end with records unfetched and the worker at work.
TEST_F(CuptiActivity, ExitIsQuiet) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            client.max_records = 1;
            cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
            for (int i = 0; i < 100; ++i) launch();
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
}

// In the real library a forked child waits for ever in FlushAll: here it is refused, and nothing is recorded.
TEST_F(CuptiActivity, ForkedChildIsRefusedAndTheParentGoesOn) {
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    launch();
    const pid_t child = fork();
    if (child == 0) {
        launch();
        _exit(cuptiActivityFlushAll(0) == CUPTI_ERROR_UNKNOWN ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(0, status);
    launch();
    cuptiActivityFlushAll(0);
    EXPECT_EQ(2u, client.count()[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
}

TEST_F(CuptiActivity, Attributes) {
    size_t size = 8;
    size_t value = 0;
    ASSERT_EQ(CUPTI_SUCCESS,
              cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
    EXPECT_EQ(3'200'000u, value);
    value = 1 << 20;
    ASSERT_EQ(CUPTI_SUCCESS,
              cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
    value = 0;
    cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value);
    EXPECT_EQ(1u << 20, value);
    size = 4;
    EXPECT_EQ(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT,
              cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER,
              cuptiActivityGetAttribute(static_cast<CUpti_ActivityAttribute>(99), &size, &value));
    uint8_t per_thread = 0;
    size = 1;
    ASSERT_EQ(CUPTI_SUCCESS,
              cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &per_thread));
    EXPECT_EQ(1, per_thread);
}

}  // namespace
