// The way of counters from the hardware's names to a finding, with values from a fixture.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "harness.h"

namespace attnscope::test {
namespace {

/// One flash kernel whose counters are these; everything says `fixture`.
std::vector<Finding> findings_with(double tensor, double occupancy, double bytes) {
    Scratch scratch;
    std::ofstream(scratch.path("fixture.json"))
        << R"({"attnscope_fixture":1,"note":"chosen for the test","kernels":[{"match":".","metrics":{)"
        << R"("sm__warps_active.avg.pct_of_peak_sustained_active":)" << occupancy
        << R"(,"dram__bytes_read.sum":)" << bytes * 3 / 4 << R"(,"dram__bytes_write.sum":)" << bytes / 4
        << R"(,"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active":)" << tensor
        << R"(,"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed":)" << tensor
        << R"(,"sm__cycles_active.avg":200000,"sm__cycles_elapsed.avg":210000,"gpu__time_duration.sum":160000}}]})";
    const Outcome outcome =
        attnscope({"attention", "--device", "virtual:A100-SXM4-80GB", "--only", "sdpa_flash", "--batch", "8",
                   "--heads", "16", "--seq", "1024", "--head-dim", "64", "--counters", "core", "--timing",
                   "same", "-o", scratch.path("out")},
                  {{"ATTNSCOPE_VGPU_COUNTERS", scratch.path("fixture.json")}});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    if (outcome.exit_code != 0) return {};
    const Analysis a = analyze(read_run(scratch.path("out/run")));
    EXPECT_EQ(a.counter_ground, Ground::fixture);
    return find_all(a);
}

constexpr double kLeast = 67108864;  // q, k, v and o of the blog's shape

TEST(Counters, FewWarpsThatKeepNothingBusy) {
    const auto found = findings_with(4, 6.25, kLeast);
    if (found.empty()) GTEST_SKIP() << "no libcupti with its host side on this machine";
    expect_finding(found, {"low-occupancy-hurts",
                           "sdpa_flash",
                           {{"achieved occupancy", 6.25},
                            {"tensor pipe busy", 4},
                            {"DRAM busy", 100 * kLeast / (160e-6 * 2.039e12)}},
                           {"(fixture)"}});
    expect_finding(found, {"achieved-below-theoretical", "sdpa_flash", {{"achieved occupancy", 6.25}}, {}});
    expect_silent(found, "low-occupancy-by-design");
}

TEST(Counters, FewWarpsThatKeepThePipeBusy) {
    const auto found = findings_with(61, 11.5, 3 * kLeast);
    if (found.empty()) GTEST_SKIP() << "no libcupti with its host side on this machine";
    expect_finding(found, {"low-occupancy-by-design",
                           "sdpa_flash",
                           {{"tensor pipe busy", 61}, {"achieved occupancy", 11.5}},
                           {"61% (fixture)"}});
    expect_finding(found, {"redundant-dram",
                           "sdpa_flash",
                           {{"DRAM bytes, counted", 3 * kLeast}, {"least bytes of its kernels", kLeast}},
                           {"3 times the least"}});
    for (const char* id : {"low-occupancy-hurts", "achieved-below-theoretical", "fastest", "launch-bound"})
        expect_silent(found, id);
}

}  // namespace
}  // namespace attnscope::test
