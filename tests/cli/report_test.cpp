// attnscope report as a user runs it: exit codes (DESIGN.md, law 8), formats, and outputs that appear whole
// or not at all.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "blog_run.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

struct Outcome {
    int code = -1;
    std::string out, err;
};

class ReportCommand : public ::testing::Test {
  protected:
    void SetUp() override {
        const char* build = std::getenv("ATTNSCOPE_BINARY_DIR");
        program_ = fs::path(build ? build : ".") / "bin/attnscope";
        ASSERT_TRUE(fs::exists(program_)) << program_;
        test::write_blog_run(run(), {});
    }
    fs::path run() const { return folder_.path() / "run"; }
    Outcome report(const std::string& arguments) {
        const fs::path err = folder_.path() / "stderr";
        FILE* pipe = popen(
            ("'" + program_.string() + "' report " + arguments + " 2>'" + err.string() + "'").c_str(), "r");
        Outcome outcome;
        std::array<char, 4096> buffer;
        for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
            outcome.out.append(buffer.data(), n);
        const int status = pclose(pipe);
        outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        outcome.err = test::read_text(err);
        return outcome;
    }
    size_t files() const {
        size_t n = 0;
        for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_.path())) ++n;
        return n;
    }
    test::TemporaryFolder folder_;
    fs::path program_;
};

TEST_F(ReportCommand, TextOnStandardOutput) {
    const Outcome o = report(run().string());
    EXPECT_EQ(o.code, 0) << o.err;
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
    EXPECT_EQ(report(run().string() + " -o " + html.string()).code, 0);
    EXPECT_NE(test::read_text(html).find("<!DOCTYPE html>"), std::string::npos);
    EXPECT_EQ(report(run().string() + " --format pdf").code, 2);
}

TEST_F(ReportCommand, FileIsReplacedWholeAndKeepsItsMode) {
    const fs::path md = folder_.path() / "r.md";
    test::write_text(md, "old");
    ::chmod(md.c_str(), 0600);
    const size_t before = files();
    EXPECT_EQ(report(run().string() + " -o " + md.string()).code, 0);
    EXPECT_EQ(test::read_text(md).substr(0, 2), "# ");
    struct stat s {};
    ASSERT_EQ(::stat(md.c_str(), &s), 0);
    EXPECT_EQ(s.st_mode & 0777, 0600u);
    EXPECT_LE(files(), before + 1) << "nothing is left beside it";
}

TEST_F(ReportCommand, OutputsThatCannotBeWritten) {
    fs::create_directory(folder_.path() / "folder");
    Outcome o = report(run().string() + " -o " + (folder_.path() / "folder").string());
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.err.find("it is a folder"), std::string::npos) << o.err;
    o = report(run().string() + " -o " + (folder_.path() / "nowhere/r.md").string());
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.err.find("nowhere"), std::string::npos) << o.err;
    EXPECT_EQ(report(run().string() + " -o ''").code, 2);
    if (fs::exists("/dev/full")) {
        EXPECT_EQ(report(run().string() + " -o /dev/full").code, 2);
        EXPECT_TRUE(fs::is_character_file("/dev/full"));
        EXPECT_EQ(report(run().string() + " >/dev/full").code, 2);
    }
}

TEST_F(ReportCommand, WhatIsNoRunIsOneSentenceAndCode2) {
    test::write_text(folder_.path() / "file", "x");
    fs::create_directory(folder_.path() / "empty");
    for (const char* name : {"file", "empty", "missing"}) {
        const Outcome o =
            report((folder_.path() / name).string() + " -o " + (folder_.path() / "out.md").string());
        EXPECT_EQ(o.code, 2) << name;
        EXPECT_EQ(o.out, "");
        EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
        EXPECT_NE(o.err.find("attnscope attention -o DIR"), std::string::npos) << "the remedy";
        EXPECT_FALSE(fs::exists(folder_.path() / "out.md"));
    }
    EXPECT_EQ(report("").code, 2);
    test::write_text(run() / "run.json", test::run_json("virtual", "2.0"));
    const Outcome newer = report(run().string());
    EXPECT_EQ(newer.code, 2);
    EXPECT_NE(newer.err.find("schema version 2.0"), std::string::npos) << newer.err;
}

TEST_F(ReportCommand, ARunWithoutLaunchesReportsThatAndSucceeds) {
    for (const auto& entry : fs::directory_iterator(run()))
        if (entry.path().extension() == ".jsonl") fs::remove(entry.path());
    const Outcome o = report(run().string());
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("No comparison was made"), std::string::npos);
    EXPECT_NE(o.out.find("no process of the program initialised CUDA"), std::string::npos) << o.out;
}

}  // namespace
}  // namespace attnscope
