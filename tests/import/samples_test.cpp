// Real files: what expected.tsv says of each, and that the run which is written reads back as it is.
#include "samples.h"

#include <gtest/gtest.h>

#include "attnscope/import.h"

namespace attnscope::test {
namespace {

TEST(Samples, HoldWhatTheirTableSays) {
    const auto folder = samples();
    if (!folder) GTEST_SKIP() << kNoSamples;
    const auto all = expected_facts(*folder);
    ASSERT_GE(all.size(), 20U);
    for (const ExpectedFacts& e : all) {
        SCOPED_TRACE(e.file);
        const Facts facts = facts_of(import_files({*folder / e.file}));
        EXPECT_EQ(facts.kernels, e.kernels);
        EXPECT_EQ(facts.unique_names, e.unique_names);
        if (e.memcpys) {
            EXPECT_EQ(facts.memcpys, *e.memcpys);
        }
        if (e.memsets) {
            EXPECT_EQ(facts.memsets, *e.memsets);
        }
        if (e.kernel_time_us) {
            EXPECT_NEAR(facts.kernel_time_us, *e.kernel_time_us, 5e-4 * double(e.kernels) / 1000 + 1e-3);
        }
        EXPECT_EQ(facts.gpu, e.gpu);
    }
}

/// Everything that the folder holds, as text: two runs are equal where these are.
std::string all_of(const Run& run) {
    TemporaryFolder scratch;
    write_imported_run(run, scratch.path() / "run", false);
    std::string out;
    for (const auto& entry : std::filesystem::directory_iterator(scratch.path() / "run"))
        if (entry.path().filename() != "run.json") out += read(entry.path());
    return out;
}

TEST(Samples, WhatIsWrittenReadsBackWithoutDiagnosticsOfTheReader) {
    const auto folder = samples();
    if (!folder) GTEST_SKIP() << kNoSamples;
    for (const ExpectedFacts& e : expected_facts(*folder)) {
        SCOPED_TRACE(e.file);
        const attnscope::Run run = import_files({*folder / e.file});
        TemporaryFolder scratch;
        write_imported_run(run, scratch.path() / "run", false);
        const attnscope::Run back = read_run(scratch.path() / "run");
        EXPECT_EQ(back.ground, Ground::imported);
        EXPECT_EQ(back.processes.size(), run.processes.size());
        for (const Process& p : back.processes)
            for (const Diagnostic& d : p.diagnostics) EXPECT_TRUE(d.code.starts_with("import-")) << d.message;
        for (const Diagnostic& d : back.diagnostics) EXPECT_TRUE(d.code.starts_with("import-")) << d.message;
        EXPECT_EQ(all_of(run), all_of(back));
    }
}

}  // namespace
}  // namespace attnscope::test
