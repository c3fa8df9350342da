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

}  // namespace
}  // namespace attnscope
