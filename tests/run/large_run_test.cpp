// A million launches load whole: runs of whole programs are read on laptops and in CI. How fast is printed,
// not judged.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "attnscope/run.h"
#include "run_writer.h"

namespace attnscope {
namespace {

TEST(LargeRun, AMillionLaunchesLoad) {
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json());
    test::ProcessWriter w;
    w.a100();
    const auto range = w.open("train");
#ifdef __SANITIZE_ADDRESS__
    constexpr uint64_t count = 100'000;  // sanitized, a million takes half a minute
#else
    constexpr uint64_t count = 1'000'000;
#endif
    for (uint64_t i = 0; i < count; ++i)
        w.kernel({"kernel_" + std::to_string(i % 100), {1, 2, 3}, {128, 1, 1}, 255, 0, 49152, 0}, range, 10);
    w.end();
    test::write_text(folder.path() / "p.jsonl", w.text());
    const auto start = std::chrono::steady_clock::now();
    const auto run = read_run(folder.path());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ASSERT_EQ(run.processes.at(0).launches.size(), count);
    EXPECT_TRUE(run.processes[0].diagnostics.empty());
    std::printf("%.0f MB, %.2f s\n", double(w.text().size()) / 1e6, seconds);
}

TEST(LargeRun, AMillionCounterRecordsLoadAndJoin) {
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::counters_run_json());
#ifdef __SANITIZE_ADDRESS__
    constexpr uint64_t count = 20'000;
#else
    constexpr uint64_t count = 200'000;
#endif
    test::ProcessWriter counted("real", test::kCountersCollection), timed("real");
    test::CounterWriter values;
    for (uint64_t i = 1; i <= count; ++i) {
        for (test::ProcessWriter* w : {&counted, &timed})
            w->kernel({"kernel_" + std::to_string(i % 100), {1, 2, 3}}, 0, w == &timed ? 10 : 0);
        for (const char* metric : {"dram__bytes_read.sum", "dram__bytes_write.sum", "sm__cycles_active.avg",
                                   "gpu__time_duration.sum", "sm__cycles_elapsed.avg"})
            values.launch(i, metric, double(i));
    }
    counted.end();
    timed.end();
    values.end();
    test::write_text(folder.path() / "p.jsonl", counted.text());
    test::write_text(folder.path() / "q.jsonl", timed.text());
    test::write_text(folder.path() / "p.counters.jsonl", values.text());
    const auto start = std::chrono::steady_clock::now();
    const auto run = read_run(folder.path());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Process& p = run.processes.at(0);
    ASSERT_EQ(p.launches.size(), count);
    EXPECT_TRUE(p.diagnostics.empty());
    EXPECT_EQ(p.counters.at(p.launches.back().counters).at(0).value, double(count));
    std::printf("%llu counter records and 2 x %llu launches, %.2f s\n", 5ULL * count,
                static_cast<unsigned long long>(count), seconds);
}

}  // namespace
}  // namespace attnscope
