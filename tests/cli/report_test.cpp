// attnscope report as a user runs it: exit codes (DESIGN.md, law 8), formats, and outputs that appear whole
// or not at all.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "blog_run.h"
#include "support/command.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using test::Outcome;

class ReportCommand : public ::testing::Test {
  protected:
    void SetUp() override { test::write_blog_run(run(), {}); }
    fs::path run() const { return folder_.path() / "run"; }
    static Outcome report(const std::string& arguments) { return test::typed("report " + arguments); }
    size_t files() const {
        size_t n = 0;
        for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_.path())) ++n;
        return n;
    }
    test::TemporaryFolder folder_;
};

TEST_F(ReportCommand, TextOnStandardOutput) {
    const Outcome o = report(run().string());
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_EQ(o.out.find('\x1b'), std::string::npos) << "a pipe gets no colours";
    EXPECT_NE(o.out.substr(0, o.out.find('\n')).find("nothing was measured"), std::string::npos)
        << "in the first line";
    EXPECT_NE(o.out.find("sdpa_flash"), std::string::npos);
}

TEST_F(ReportCommand, EveryFormatAndItsNameFromTheExtension) {
    EXPECT_EQ(report(run().string() + " --format md").out.substr(0, 2), "# ");
    EXPECT_EQ(report(run().string() + " --format json -o -").out.substr(0, 1), "{");
    EXPECT_NE(report(run().string() + " --format html").out.find("<!DOCTYPE html>"), std::string::npos);
    const fs::path html = folder_.path() / "r.html";
    EXPECT_EQ(report(run().string() + " -o " + html.string()).exit_code, 0);
    EXPECT_NE(test::read_text(html).find("<!DOCTYPE html>"), std::string::npos);
    EXPECT_EQ(report(run().string() + " --format pdf").exit_code, 2);
}

TEST_F(ReportCommand, SeveralOutputsOfOneReading) {
    const std::string base = (folder_.path() / "r").string();
    const Outcome o =
        report(run().string() + " -o " + base + ".html -o " + base + ".md -o " + base + ".json -o -");
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_NE(test::read_text(base + ".html").find("<!DOCTYPE html>"), std::string::npos);
    EXPECT_EQ(test::read_text(base + ".md").substr(0, 2), "# ");
    EXPECT_EQ(test::read_text(base + ".json").substr(0, 1), "{");
    EXPECT_EQ(o.out.find("PREDICTED"), 0U);
    EXPECT_EQ(report(run().string() + " --format md -o " + base + ".a -o " + base + ".b").exit_code, 2);
}

TEST_F(ReportCommand, FileIsReplacedWholeAndKeepsItsMode) {
    const fs::path md = folder_.path() / "r.md";
    test::write_text(md, "old");
    ::chmod(md.c_str(), 0600);
    const size_t before = files();
    EXPECT_EQ(report(run().string() + " -o " + md.string()).exit_code, 0);
    EXPECT_EQ(test::read_text(md).substr(0, 2), "# ");
    struct stat s {};
    ASSERT_EQ(::stat(md.c_str(), &s), 0);
    EXPECT_EQ(s.st_mode & 0777, 0600u);
    EXPECT_LE(files(), before + 1) << "nothing is left beside it";
}

TEST_F(ReportCommand, OutputsThatCannotBeWritten) {
    fs::create_directory(folder_.path() / "folder");
    Outcome o = report(run().string() + " -o " + (folder_.path() / "folder").string());
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_NE(o.err.find("it is a folder"), std::string::npos) << o.err;
    o = report(run().string() + " -o " + (folder_.path() / "nowhere/r.md").string());
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_NE(o.err.find("nowhere"), std::string::npos) << o.err;
    EXPECT_EQ(report(run().string() + " -o ''").exit_code, 2);
    if (fs::exists("/dev/full")) {
        EXPECT_EQ(report(run().string() + " -o /dev/full").exit_code, 2);
        EXPECT_TRUE(fs::is_character_file("/dev/full"));
        EXPECT_EQ(report(run().string() + " >/dev/full").exit_code, 2);
    }
}

TEST_F(ReportCommand, WhatIsNoRunIsOneSentenceAndCode2) {
    test::write_text(folder_.path() / "file", "x");
    fs::create_directory(folder_.path() / "empty");
    for (const char* name : {"file", "empty", "missing"}) {
        const Outcome o =
            report((folder_.path() / name).string() + " -o " + (folder_.path() / "out.md").string());
        EXPECT_EQ(o.exit_code, 2) << name;
        EXPECT_EQ(o.out, "");
        EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
        const bool file =
            std::string_view(name) == "file";  // perhaps a profiler's: what could be read is named
        EXPECT_NE(o.err.find(file ? "PyTorch" : "attnscope attention -o DIR"), std::string::npos) << o.err;
        EXPECT_FALSE(fs::exists(folder_.path() / "out.md"));
    }
    EXPECT_EQ(report("").exit_code, 2);
    test::write_text(run() / "run.json", test::run_json("virtual", "2.0"));
    const Outcome newer = report(run().string());
    EXPECT_EQ(newer.exit_code, 2);
    EXPECT_NE(newer.err.find("schema version 2.0"), std::string::npos) << newer.err;
}

TEST_F(ReportCommand, ARunWithoutLaunchesReportsThatAndSucceeds) {
    for (const auto& entry : fs::directory_iterator(run()))
        if (entry.path().extension() == ".jsonl") fs::remove(entry.path());
    const Outcome o = report(run().string());
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_NE(o.out.find("No comparison was made"), std::string::npos);
    EXPECT_NE(o.out.find("no process of the program initialised CUDA"), std::string::npos) << o.out;
}

// --kernel: the chain from the launch to the findings, one section a kernel.
TEST_F(ReportCommand, AKernelAsAChainOfReasons) {
    const Outcome o = report(run().string() + " --kernel 'flash_fwd_kernel<.*64'");
    ASSERT_EQ(o.exit_code, 0) << o.err;
    EXPECT_NE(o.out.find("sdpa_flash, launch 1: flash_fwd_kernel<64,128,128,4>"), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("sdpa_auto, launch 1"), std::string::npos) << "of each implementation";
    EXPECT_EQ(o.out.find("naive, launch"), std::string::npos);
    size_t last = 0;
    for (const char* part : {"launched by", "grid: 8 x 8 x 16", "registers per thread: 255 registers",
                             "48 KiB", "2 CTAs x 4 warps of 64; limited by registers",
                             "time bound of sdpa_flash", "low-occupancy-by-design"}) {
        const size_t at = o.out.find(part, last);
        EXPECT_NE(at, std::string::npos) << part << " in its order in\n" << o.out;
        if (at != std::string::npos) last = at;
    }
    for (size_t begin = 0, end; (end = o.out.find('\n', begin)) != std::string::npos; begin = end + 1)
        ASSERT_LE(end - begin, 80 * 3U);
    EXPECT_EQ(report(run().string() + " --kernel flash --format json").out.substr(0, 1), "{");
}

TEST_F(ReportCommand, AKernelThatIsNotThereOrNoExpression) {
    Outcome o = report(run().string() + " --kernel no_such_kernel");
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_NE(o.err.find("softmax_warp_forward"), std::string::npos) << "it names what there is: " << o.err;
    o = report(run().string() + " --kernel 'flash(fwd'");
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_NE(o.err.find("at character 6"), std::string::npos) << o.err;
    EXPECT_EQ(report(run().string() + " --kernel '((((a*)*)*)*)*~'").exit_code, 2) << "and it comes back";
    EXPECT_EQ(report(run().string() + " --kernel x --finding y").exit_code, 2);
}

TEST_F(ReportCommand, AFindingWithAllItsEvidence) {
    const Outcome o = report(run().string() + " --finding low-occupancy-by-design");
    ASSERT_EQ(o.exit_code, 0) << o.err;
    for (const char* part : {"12.5% theoretical occupancy of sdpa_flash is the design",
                             "evidence: theoretical occupancy 12.5 %", "2 CTAs x 4 warps of 64", "yet: ",
                             "Nsight Compute would say: ", "next: attnscope attention", "stay silent where"})
        EXPECT_NE(o.out.find(part), std::string::npos) << part << " in\n" << o.out;
}

TEST_F(ReportCommand, AFindingThatIsNotThere) {
    Outcome o = report(run().string() + " --finding data-loss");
    EXPECT_EQ(o.exit_code, 0) << "a rule that is silent is no mistake: " << o.err;
    EXPECT_NE(o.out.find("found nothing here"), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("no record was lost"), std::string::npos) << o.out;
    o = report(run().string() + " --finding low-occupancy-design");
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_NE(o.err.find("low-occupancy-by-design"), std::string::npos) << "the nearest: " << o.err;
}

}  // namespace
}  // namespace attnscope
