// What a user reads of an imported file, as files to be read in a review: what a trace's own viewer gets
// wrong, replayed kernels, counters that are missing.
#include <gtest/gtest.h>

#include <cstdlib>

#include "attnscope/analysis.h"
#include "attnscope/import.h"
#include "attnscope/render.h"
#include "reports/golden.h"

namespace attnscope::test {
namespace {

void expect_report(const std::string& name, const std::string& extension) {
    const std::string base = "tests/import/golden/" + name;
    const char* root = std::getenv("ATTNSCOPE_SOURCE_DIR");
    ASSERT_NE(root, nullptr) << "ATTNSCOPE_SOURCE_DIR is not set";
    Run run = import_files({std::string(root) + "/" + base + extension});
    run.started.clear();  // when it was imported
    expect_golden(base + ".txt", render_text(build_report(analyze(run))));
}

TEST(ImportedGolden, AnH100TraceWithFlashAttention) {
    expect_report("h100-flash", ".json");
}
TEST(ImportedGolden, KernelsThatNsightComputeReplayed) {
    expect_report("replayed", ".csv");
}
TEST(ImportedGolden, CountersThatAreMissing) {
    expect_report("missing-counters", ".csv");
}

}  // namespace
}  // namespace attnscope::test
