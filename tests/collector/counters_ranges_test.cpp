// Counters of whole NVTX ranges over the strict stand-in. Right values: the program's own source
// (counters_program.cpp) and the fixture.
#include "counters_run.h"

namespace attnscope {
namespace {

using nlohmann::json;
using test::of_type;

struct CountedRangesRun : test::CountersRun {
    std::vector<json> ranges(const std::string& name) const {
        std::vector<json> found;
        for (const json& line : of_type(lines, "range"))
            if (line["name"] == name) found.push_back(line);
        return found;
    }
    size_t images() const {
        return values.empty() ? 0 : of_type(values, "end").at(0)["images"].get<size_t>();
    }
};

TEST_F(CountedRangesRun, EachIterationOfAnImplementation) {
    ASSERT_EQ(collect(program() + "ranges", "--counters core --range implementation"), 21) << error;
    const auto iterations = ranges("attnscope.iteration");
    ASSERT_EQ(iterations.size(), 3u);
    EXPECT_EQ(value("range", iterations[0]["id"]), 9000);
    EXPECT_EQ(value("range", iterations[1]["id"]), 9000);
    EXPECT_EQ(value("range", iterations[2]["id"]), std::nullopt) << "a thread's range is no iteration";
    EXPECT_EQ(images(), 2u);
    EXPECT_EQ(kernels().size(), 6u);
    for (const json& kernel : kernels()) EXPECT_FALSE(kernel.contains("uncounted"));
    EXPECT_EQ(of_type(lines, "diagnostic").size(), 0u);
    bool whole = false;
    const auto records = test::read_data(data_file(), whole);
    EXPECT_TRUE(whole);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[1].header.of, DataOf::range);
    EXPECT_EQ(records[1].header.expected, 0u);
    EXPECT_EQ(records[1].header.id, iterations[0]["id"]);
}

TEST_F(CountedRangesRun, TheOutermostRanges) {
    ASSERT_EQ(collect(program() + "ranges", "--counters core --range nvtx"), 21) << error;
    EXPECT_EQ(images(), 2u);
    EXPECT_EQ(value("range", ranges("attnscope.implementation/naive").at(0)["id"]), 9900);
    EXPECT_EQ(value("range", ranges("outer").at(0)["id"]), 9500);
}

TEST_F(CountedRangesRun, RangesThatCannotBeCounted) {
    ASSERT_EQ(collect(program() + "bad-ranges", "--counters core --range implementation"), 21) << error;
    // bad_ranges(): six, of which the last one can be counted.
    const auto all = ranges("attnscope.iteration");
    ASSERT_EQ(all.size(), 6u);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(value("range", all[i]["id"]), std::nullopt) << i;
    EXPECT_EQ(value("range", all[5]["id"]), 9000);
    EXPECT_EQ(told("counters-captured"), 2u);
    std::string said;
    for (const json& line : of_type(lines, "diagnostic")) said += line["message"].get<std::string>() + '\n';
    EXPECT_NE(said.find("ended on another thread"), std::string::npos) << said;
    EXPECT_NE(said.find("before the thread had a CUDA context"), std::string::npos) << said;
    EXPECT_NE(said.find("another device or context"), std::string::npos) << said;
}

TEST_F(CountedRangesRun, ACallThatFailsEndsCountingNotTheProgram) {
    for (const std::string function : {"Start", "PushRange", "PopRange", "Stop", "DecodeData"}) {
        ASSERT_EQ(collect(program() + "ranges", "--counters core --range implementation",
                          "ATTNSCOPE_VGPU_FAULT=cuptiRangeProfiler" + function + ":2=UNKNOWN"),
                  21)
            << error;
        EXPECT_NE(diagnostic("counters-failed")["message"].get<std::string>().find(function),
                  std::string::npos);
        const auto iterations = ranges("attnscope.iteration");
        EXPECT_EQ(value("range", iterations.at(0)["id"]), 9000) << function;
        EXPECT_EQ(value("range", iterations.at(1)["id"]), std::nullopt) << function;
        EXPECT_EQ(kernels().size(), 6u);
    }
}

TEST_F(CountedRangesRun, TheProgramsOwnProfilerGetsCupti) {
    ASSERT_EQ(collect(program() + "ranges subscribe ranges", "--counters core --range implementation"), 21)
        << error;
    EXPECT_EQ(images(), 2u);
    EXPECT_EQ(kernels().size(), 6u);
    EXPECT_EQ(told("counters-yielded"), 1u);
}

}  // namespace
}  // namespace attnscope
