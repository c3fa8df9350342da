// What a report says of imported files: the way from file to finding, with the values that a user would
// check.
#include <gtest/gtest.h>

#include "attnscope/analysis.h"
#include "attnscope/import.h"
#include "attnscope/rules.h"
#include "samples.h"
#include "trace.h"

namespace attnscope::test {
namespace {

const Finding* finding(const std::vector<Finding>& all, const std::string& id) {
    for (const Finding& f : all)
        if (f.id == id) return &f;
    return nullptr;
}

TEST(ImportedReport, AnOccupancyOfZeroIsAnArtefactWithItsRightValue) {
    const Analysis a = analyze(import_bytes(trace({flash_kernel(1), flash_kernel(2, "200")})));
    EXPECT_EQ(a.ground, Ground::imported);
    const std::vector<Finding> all = find_all(a);
    const Finding* f = finding(all, "occupancy-artefact");
    ASSERT_TRUE(f);
    EXPECT_NE(f->claim.find("0% for 2 launches, 2 of them fused attention"), std::string::npos) << f->claim;
    // 168 registers x 128 threads: 2 warps a partition would take 2 x 5,376 of 16,384, so 3 CTAs by
    // registers; 81,920 + 1,024 of 233,472 bytes: 2 CTAs by shared memory; 2 x 4 warps of 64.
    ASSERT_GE(f->evidence.size(), 3U);
    EXPECT_EQ(f->evidence[0].value.number, 0.0);
    EXPECT_EQ(f->evidence[0].value.provenance.source, Source::reported);
    EXPECT_EQ(f->evidence[1].value.number, 81920.0);
    EXPECT_EQ(f->evidence[2].value.number, 12.5);
    EXPECT_EQ(f->evidence[2].value.provenance.source, Source::computed);
    EXPECT_EQ(f->evidence[2].value.provenance.ground, Ground::imported);
    EXPECT_FALSE(f->counter_evidence.empty());
    EXPECT_FALSE(f->next_step.empty());
}

TEST(ImportedReport, AnHonestZeroIsNoArtefact) {
    // At or below 48 KiB a tiny grid's estimate is 0: for attention it is shown beside what fits, as no
    // fault.
    std::string small = flash_kernel(1);
    small.replace(small.find("81920"), 5, "49152");
    const std::vector<Finding> all = find_all(analyze(import_bytes(trace({small}))));
    const Finding* f = finding(all, "occupancy-artefact");
    ASSERT_TRUE(f);
    EXPECT_EQ(f->severity, Severity::info);
    EXPECT_EQ(f->claim.find("artefact"), std::string::npos) << f->claim;
    // 49,152 + 1,024 of 233,472 bytes: 4 CTAs; 168 registers x 128 threads: 3, of 4 warps each, of 64.
    EXPECT_EQ(f->evidence.at(2).value.number, 18.75);
    std::string other = small;
    other.replace(other.find("pytorch_flash::flash_fwd_kernel"), 31, "plain_elementwise");
    EXPECT_FALSE(finding(find_all(analyze(import_bytes(trace({other})))), "occupancy-artefact"));
}

TEST(ImportedReport, WithoutTheDeviceTheArtefactIsNamedAndTheValueIsNot) {
    const std::vector<Finding> all = find_all(analyze(import_bytes(trace({flash_kernel(1)}, ""))));
    const Finding* f = finding(all, "occupancy-artefact");
    ASSERT_TRUE(f);
    EXPECT_NE(f->claim.find("not known here"), std::string::npos) << f->claim;
    EXPECT_FALSE(f->evidence.at(2).value.number);
}

TEST(ImportedReport, NoGpuWorkIsSaidFirst) {
    const std::vector<Finding> all =
        find_all(analyze(import_bytes(trace({event("cpu_op", "aten::add", "1", "2", "", "1", "9")}, ""))));
    const Finding* f = finding(all, "no-gpu-work");
    ASSERT_TRUE(f);
    EXPECT_EQ(f->severity, Severity::problem);
    EXPECT_NE(f->claim.find("CPU-only trace: no GPU kernel was recorded"), std::string::npos);
    EXPECT_EQ(all.front().id, "no-gpu-work");
    EXPECT_FALSE(finding(find_all(analyze(import_bytes(trace({flash_kernel(1)})))), "no-gpu-work"));
}

TEST(ImportedReport, TimesUnderNsightComputeAreNotThePrograms) {
    const Analysis a = analyze(import_bytes(
        "\"ID\",\"Process ID\",\"Kernel Name\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric "
        "Unit\",\"Metric "
        "Value\"\n\"0\",\"42\",\"flash_fwd\",\"0\",\"9.0\",\"x\",\"gpu__time_duration.sum\",\"us\",\"2.5\"\n",
        "ncu.csv"));
    EXPECT_FALSE(a.timed());
    const std::vector<Finding> all = find_all(a);
    const Finding* f = finding(all, "replay-time");
    ASSERT_TRUE(f);
    ASSERT_EQ(f->evidence.size(), 2U);
    EXPECT_EQ(f->evidence[1].value.number, 2500.0);
    EXPECT_FALSE(finding(all, "serialised-time")) << "said once";
    EXPECT_FALSE(finding(find_all(analyze(import_bytes(trace({flash_kernel(1)})))), "replay-time"));
}

TEST(ImportedReport, SummariesCountEveryLaunch) {
    const Analysis a = analyze(import_bytes(
        "Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,600,3,200,plain_kernel\n", "sum.csv"));
    EXPECT_EQ(a.total_kernels.number, 3.0);
    ASSERT_EQ(a.implementations.size(), 1U);
    EXPECT_EQ(a.implementations[0].kernels.number, 3.0);
    ASSERT_EQ(a.implementations[0].steps.size(), 1U);
    EXPECT_EQ(a.implementations[0].steps[0].times, 3U);
    EXPECT_EQ(a.implementations[0].steps[0].time.number, 600.0);
}

TEST(ImportedReport, EveryRealFileMakesOne) {
    const auto folder = samples();
    if (!folder) GTEST_SKIP() << kNoSamples;
    size_t made = 0;
    for (const char* part : {"kineto", "ncu", "nsys"})
        for (const auto& entry : std::filesystem::directory_iterator(*folder / part)) {
            const std::string name = entry.path().filename().string();
            if (name == "empty.ncu-rep" || name == "not-ncu-pivot-crlf.csv" ||
                name == "only-error-lines.csv" || name == "gh200-rms-norm.ncu-rep")
                continue;
            SCOPED_TRACE(name);
            const Report report = build_report(analyze(open_run(entry.path())));
            EXPECT_FALSE(report.banner.empty());
            EXPECT_FALSE(report.implementations.columns.empty());
            ++made;
        }
    EXPECT_GE(made, 30U);
}

}  // namespace
}  // namespace attnscope::test
