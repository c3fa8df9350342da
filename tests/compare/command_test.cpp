// attnscope compare as a user runs it: exit codes, formats, outputs.
#include <gtest/gtest.h>

#include <algorithm>

#include "blog_run.h"
#include "support/command.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using test::Outcome;

class CompareCommand : public ::testing::Test {
  protected:
    void SetUp() override {
        test::write_blog_run(at("a"), {});
        test::BlogOptions measured;
        measured.ground = "real";
        measured.iterations = 5;
        measured.times = true;
        test::write_counted_blog_run(at("b"), measured);
    }
    fs::path at(const std::string& name) const { return folder_.path() / name; }
    Outcome compare(const std::string& arguments) {
        return test::typed("compare " + arguments, {}, folder_.path().string());
    }
    test::TemporaryFolder folder_;
};

TEST_F(CompareCommand, PrintsTheLineUp) {
    const Outcome o = compare("a b");
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_EQ(o.out.find("COMPARED"), 0U) << o.out.substr(0, 200);
    EXPECT_NE(o.out.find("Launch by launch"), std::string::npos);
    EXPECT_NE(o.out.find("resolved"), std::string::npos);
    EXPECT_EQ(o.out.find('\x1b'), std::string::npos) << "a pipe gets no colours";
}

TEST_F(CompareCommand, WritesEveryFormat) {
    for (const char* format : {"text", "md", "html", "json"}) {
        const Outcome o = compare(std::string("a b --format ") + format + " -o out");
        EXPECT_EQ(o.exit_code, 0) << o.err;
        EXPECT_EQ(o.out, "");
        EXPECT_GT(fs::file_size(at("out")), 1000U) << format;
    }
    EXPECT_EQ(test::read_text(at("out")).find('{'), 0U) << "the last one was JSON";
}

TEST_F(CompareCommand, SeveralRunsAndAComment) {
    const Outcome three = compare("a b a");
    EXPECT_EQ(three.exit_code, 0) << three.err;
    EXPECT_NE(three.out.find("A against B and C"), std::string::npos) << three.out.substr(0, 400);
    const Outcome comment = compare("a b --format comment --id nightly");
    EXPECT_EQ(comment.exit_code, 0) << comment.err;
    EXPECT_EQ(comment.out.rfind("<!-- attnscope:id=nightly -->\n### attnscope: ", 0), 0U) << comment.out;
    EXPECT_LE(comment.out.size(), 4096U);
    const Outcome same = compare("a a --format comment");
    EXPECT_EQ(std::count(same.out.begin(), same.out.end(), '\n'), 3) << same.out;
    EXPECT_LE(same.out.size(), 600U);
}

TEST_F(CompareCommand, SameNamesCanBeReplaced) {
    const Outcome o = compare("a a --pair sdpa_flash:sdpa_math");
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_NE(o.out.find("sdpa_flash against sdpa_math"), std::string::npos);
}

TEST_F(CompareCommand, UnusableInputIsTwo) {
    fs::create_directories(at("no-run"));
    for (const char* arguments :
         {"a missing", "missing a", "a no-run", "a", "", "a b --format pdf",
          "a b --pair :", "a b --pair sdpa_flash:nobody", "a b -o no-folder/out", "a b missing"}) {
        const Outcome o = compare(arguments);
        EXPECT_EQ(o.exit_code, 2) << arguments << ": " << o.err;
        EXPECT_EQ(o.out, "") << arguments;
        EXPECT_FALSE(o.err.empty()) << arguments;
    }
}

TEST_F(CompareCommand, NothingToCompareIsThree) {
    test::ProcessWriter empty, other;
    empty.a100();
    empty.end();
    other.a100();
    other.kernel({"k"}, other.open("mine"));
    other.end();
    for (const auto& [name, writer] : {std::pair{"empty", &empty}, std::pair{"other", &other}}) {
        fs::create_directories(at(name));
        test::write_text(at(name) / "run.json", test::run_json());
        test::write_text(at(name) / "p.jsonl", writer->text());
    }
    for (const char* arguments : {"a empty", "empty a", "a other", "empty empty"}) {
        const Outcome o = compare(arguments);
        EXPECT_EQ(o.exit_code, 3) << arguments << ": " << o.err;
        EXPECT_NE(o.err.find("nothing to compare"), std::string::npos) << o.err;
    }
}

}  // namespace
}  // namespace attnscope
