// The program's asks are answered while it runs, and its data evaluated afterwards. The program is one that
// does with files what the injection library does; the answers are the real host side's, where a libcupti is
// on this machine.
#include <thread>

#include "harness.h"

namespace attnscope::test {
namespace {

struct CountersAnswer : LauncherTest {
    void SetUp() override {
        LauncherTest::SetUp();
        if (!IsSkipped() && libcupti().empty())
            GTEST_SKIP() << "no libcupti with its host side on this machine";
        setenv("ATTNSCOPE_CUPTI", libcupti().c_str(), 1);
    }
    void TearDown() override {
        unsetenv("ATTNSCOPE_CUPTI");
        LauncherTest::TearDown();
    }
    static std::string ask(const std::string& chip, const std::string& version,
                           const std::string& data = "none", const std::string& library = libcupti()) {
        return asking() + ' ' + chip + ' ' + version + ' ' + library + ' ' + data;
    }
};

/// The API version of the libcupti that is here.
const char* const kVersion = "130001";

TEST_F(CountersAnswer, AConfigImageComesWhileTheProgramRuns) {
    const Outcome r = collect("-o run --counters core -- " + ask("GH100", kVersion));
    EXPECT_EQ(r.code, 0) << r.error;
    EXPECT_EQ(r.out, "mode kernel\nconfig whole metrics " +
                         std::to_string(run_json().at("counters").at("metrics").size()) + " passes 1\n");
}

TEST_F(CountersAnswer, ManyProcessesAskAtOnce) {
    // As torchrun does it: several processes of one program, on two kinds of GPU.
    std::string script;
    for (int i = 0; i < 6; ++i)
        script += ask(i % 2 == 0 ? "GH100" : "GA100", kVersion) + " >out" + std::to_string(i) + " & ";
    std::ofstream(folder / "ranks.sh") << script << "wait\n";
    const Outcome r = collect("-o run --counters core -- sh ranks.sh");
    EXPECT_EQ(r.code, 0) << r.error;
    for (int i = 0; i < 6; ++i)
        EXPECT_TRUE(holds(read_file(folder / ("out" + std::to_string(i))), "config whole")) << i;
    EXPECT_EQ(run_json().at("counters").at("passes"), nlohmann::json({{"GA100", 1}, {"GH100", 1}}))
        << "GA100 was not foreseen, and is planned when it asks";
    EXPECT_EQ(process_files(folder / "run").size(), 6u);
}

TEST_F(CountersAnswer, AnOlderCuptiIsRefusedWithTheRemedy) {
    const Outcome r =
        collect("-o run --counters core -- " + ask("GH100", "22"));  // CUDA 12.4: cupti_version.h
    EXPECT_EQ(r.code, 0);
    EXPECT_TRUE(holds(r.out, "refused counters-no-cupti\n")) << r.out;
    EXPECT_TRUE(holds(r.out, "older than 12.6")) << r.out;
}

TEST_F(CountersAnswer, ALibraryThatCannotBeLoadedIsRefused) {
    std::ofstream(folder / "broken.so") << "not a library";
    for (const std::string& library : {(folder / "broken.so").string(), (folder / "missing.so").string()}) {
        const Outcome r =
            collect("-o run --force --counters core -- " + ask("GH100", kVersion, "none", library));
        EXPECT_EQ(r.code, 0);
        EXPECT_TRUE(holds(r.out, "refused counters-no-c")) << r.out;
        EXPECT_TRUE(holds(r.out, library)) << r.out;
    }
}

TEST_F(CountersAnswer, AChipThatCuptiRefusesIsRefused) {
    const Outcome r = collect("-o run --counters core -- " + ask("GV11B", kVersion));
    EXPECT_EQ(r.code, 0);
    EXPECT_TRUE(holds(r.out, "refused counters-")) << r.out;
}

TEST_F(CountersAnswer, MorePassesThanForeseenAreRefused) {
    // Planned for the virtual GPU's chip; the process finds another one, where dram__bytes_read is absent.
    const Outcome r = collect("-o run --counters dram__bytes_read.sum -- " + ask("GB202", kVersion));
    EXPECT_EQ(r.code, 0);
    EXPECT_TRUE(holds(r.out, "refused counters-metric-absent\n")) << r.out;
    EXPECT_EQ(diagnostics("counters-metric-absent").size(), 1u);
}

TEST_F(CountersAnswer, EachProcessHasItsValues) {
    std::ofstream(folder / "ranks.sh")
        << ask("GH100", kVersion, "empty") << " & " << ask("GH100", kVersion, "empty") << " & wait\n";
    const Outcome r = collect("-o run --counters core -- sh ranks.sh");
    EXPECT_EQ(r.code, 0);
    size_t values = 0;
    for (const fs::path& file : process_files(folder / "run"))
        if (file.stem().extension() == ".counters") {
            ++values;
            const auto lines = parse_lines(read_file(file));
            ASSERT_FALSE(lines.empty());
            EXPECT_EQ(lines[0].at("schema"), "attnscope-counters");
            EXPECT_EQ(lines.back().at("type"), "end");
            EXPECT_EQ(lines.back().at("images"), 0) << "a process that launched nothing";
        }
    EXPECT_EQ(values, 2u);
    EXPECT_TRUE(diagnostics("counters-undecodable").empty());
}

TEST_F(CountersAnswer, EvaluatedAgainItIsTheSame) {
    ASSERT_EQ(collect("-o run --counters core -- " + ask("GH100", kVersion, "empty")).code, 0);
    fs::path values;
    for (const fs::path& file : process_files(folder / "run"))
        if (file.stem().extension() == ".counters") values = file;
    ASSERT_FALSE(values.empty());
    const std::string before = read_file(values);
    fs::remove(values);
    const Outcome r = shell(program() + " collect --evaluate run");
    EXPECT_EQ(r.code, 0) << r.error;
    EXPECT_EQ(read_file(values), before);
    EXPECT_TRUE(fs::exists(folder / "run/counters" / (values.stem().stem().string() + ".data")))
        << "raw data is kept";
}

TEST_F(CountersAnswer, WhatCannotBeEvaluatedIsADiagnosticWithTheRemedy) {
    const Outcome r = collect("-o run --counters core -- " + ask("GH100", kVersion, "foreign"));
    EXPECT_EQ(r.code, 0) << "the program's own";
    EXPECT_TRUE(holds(r.error, "could not be evaluated")) << r.error;
    auto said = diagnostics("counters-undecodable");
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0].at("severity"), "data_loss");
    EXPECT_TRUE(holds(said[0].at("remedy"), "attnscope collect --evaluate " + (folder / "run").string()));
    const Outcome again = shell(program() + " collect --evaluate run");
    EXPECT_EQ(again.code, 3) << again.error;
    EXPECT_EQ(diagnostics("counters-undecodable").size(), 1u) << "said once, however often it is tried";
    for (const auto& entry : fs::directory_iterator(folder / "run/counters"))
        if (entry.path().extension() == ".data") std::ofstream(entry.path(), std::ios::binary) << "ATTNCTR1";
    EXPECT_EQ(shell(program() + " collect --evaluate run").code, 0);
    EXPECT_TRUE(diagnostics("counters-undecodable").empty()) << "no longer true";
}

TEST_F(CountersAnswer, OnlyARunWithRawDataIsEvaluatedAgain) {
    ASSERT_EQ(collect("-o run -- true").code, 0);
    for (const std::string arguments : {"--evaluate run", "--evaluate nowhere", "--evaluate run -o other",
                                        "--evaluate run -- true", "--evaluate"}) {
        const Outcome r = shell(program() + " collect " + arguments);
        EXPECT_EQ(r.code, 2) << arguments;
        EXPECT_EQ(sentences(r.error), 1u) << r.error;
    }
}

TEST_F(CountersAnswer, AnEarlierRunsCountersAreReplaced) {
    ASSERT_EQ(collect("-o run --counters core -- " + ask("GH100", kVersion, "empty")).code, 0);
    std::ofstream(folder / "run/counters/thesis.txt") << "mine";
    ASSERT_EQ(collect("-o run --force -- true").code, 0);
    EXPECT_EQ(read_file(folder / "run/counters/thesis.txt"), "mine");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "run/counters"), fs::directory_iterator()), 1);
    EXPECT_TRUE(process_files(folder / "run").empty());
}

}  // namespace
}  // namespace attnscope::test
