// What a person sees of each kind of trouble, as the command prints it: golden files, to be read in a review.
// ATTNSCOPE_REGENERATE=1 writes them anew.
#include <gtest/gtest.h>

#include "blog_run.h"
#include "reports/golden.h"
#include "support/command.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using test::BlogOptions;
using test::ProcessWriter;

class Troubles : public ::testing::Test {
  protected:
    fs::path run() const { return folder_.path() / "run"; }
    fs::path process_file() const { return run() / "test-4242-1764500000000000000.jsonl"; }

    /// As somebody types it where the run's folder is; the exit code must be 0: a run that has its troubles
    /// is still reported.
    std::string report(const std::string& options) {
        const test::Outcome o = test::typed("report run " + options, {}, folder_.path().string());
        EXPECT_EQ(o.exit_code, 0) << o.err;
        return o.out + o.err;
    }

    void expect_golden(const std::string& name) {
        test::expect_golden("tests/cli/golden/" + name + ".txt", report(""));
        const std::string comment = report("--format comment");
        EXPECT_LE(comment.size(), 4096U);
        test::expect_golden("tests/cli/golden/" + name + ".comment.md", comment);
        for (const char* format : {"md", "html", "json"})
            EXPECT_GT(report(std::string("--format ") + format).size(), 500U) << format;
    }

    void write(const ProcessWriter& process, const std::string& run_json = test::run_json()) {
        fs::create_directories(run());
        test::write_text(run() / "run.json", run_json);
        test::write_text(process_file(), process.text());
    }

    test::TemporaryFolder folder_;
};

BlogOptions measured() {
    BlogOptions options;
    options.ground = "real";
    options.iterations = 5;
    options.times = true;
    return options;
}

TEST_F(Troubles, NoCounters) {
    test::write_blog_run(run(), measured());
    test::write_text(
        run() / "run.json",
        test::counters_run_json(
            "real",
            R"(,"diagnostics":[{"severity":"error","code":"counters-permission","message":"counters: reading them is not permitted to this user","remedy":"attnscope doctor --for counters says what to change"}])"));
    expect_golden("no-counters");
}

TEST_F(Troubles, DataLoss) {
    test::write_blog_run(run(), {});
    const std::string text = test::read_text(process_file());
    test::write_text(process_file(), text.substr(0, text.size() * 2 / 3));
    expect_golden("data-loss");
}

TEST_F(Troubles, Virtual) {
    test::write_blog_run(run(), {});
    expect_golden("virtual");
}

TEST_F(Troubles, Fixture) {
    test::write_counted_blog_run(run(), {});
    expect_golden("fixture");
}

TEST_F(Troubles, RefusedBackend) {
    BlogOptions options = measured();
    options.refuse_flash = true;
    test::write_blog_run(run(), options);
    expect_golden("refused-backend");
}

TEST_F(Troubles, NothingLaunched) {
    ProcessWriter process;
    process.a100();
    process.end();
    write(process);
    expect_golden("nothing-launched");
}

TEST_F(Troubles, NoProcess) {
    fs::create_directories(run());
    test::write_text(run() / "run.json", test::run_json());
    expect_golden("no-process");
}

TEST_F(Troubles, OneKernel) {
    ProcessWriter process;
    process.a100();
    process.kernel({"_Z8count_mePj"}, 0);
    process.end();
    write(process);
    expect_golden("one-kernel");
}

TEST_F(Troubles, HostileNames) {
    ProcessWriter process;
    process.a100();
    const uint64_t range = process.open("|<b>`evil`</b>\n# heading");
    process.kernel({"<script>alert(1)</script>"}, range);
    process.kernel({std::string(300, 'k')}, range);
    process.kernel({"\x1b[31m red \xe2\x80\xae @everyone"}, range);
    process.end();
    write(process);
    expect_golden("hostile-names");
}

TEST_F(Troubles, ValuesMissingEverywhere) {
    ProcessWriter process;
    process.line(R"({"type":"kernel","correlation":1})");
    process.line(R"({"type":"memcpy","correlation":2})");
    process.line(R"({"type":"library_call","correlation":3})");
    process.line(R"({"type":"end","kernels":1,"memcpys":1,"memsets":0,"library_calls":1,"dropped":0})");
    write(process);
    expect_golden("values-missing");
}

TEST_F(Troubles, ADeviceThatNobodyKnows) {
    ProcessWriter process("real");
    process.line(R"({"type":"device","device":0,"name":"NVIDIA Unheard-Of 9000"})");
    process.kernel({"_Z8count_mePj"}, 0, 5000);
    process.end();
    write(process, test::run_json("real"));
    expect_golden("unknown-device");
}

}  // namespace
}  // namespace attnscope
