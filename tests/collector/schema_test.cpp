// schema/run.schema.json is valid, names every record of schema/README.md, and fits the lines that the writer
// makes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

#include "environment.h"
#include "joiner.h"
#include "lines.h"
#include "notices.h"
#include "records.h"
#include "schema_check.h"

namespace attnscope::collector {
namespace {

using nlohmann::json;
using test::activity;

using test::fault;
using test::schema;

TEST(Schema, NamesEveryRecordAndFieldOfTheReadme) {
    const json all = schema();
    const std::string readme =
        test::read_file(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/schema/README.md");
    // The counters' own files are described after it.
    const size_t records = readme.find("## Records");
    const std::string table = readme.substr(records, readme.find("## Counters") - records);
    for (const auto& [type, record] : all["$defs"].items()) {
        if (type == "run") continue;
        EXPECT_NE(table.find("| " + type + " |"), std::string::npos) << type;
        bool chosen = false;
        for (const json& branch : all["allOf"])
            chosen = chosen || branch["if"]["properties"]["type"]["const"] == type;
        EXPECT_TRUE(chosen) << type << " has no branch in allOf";
    }
    const std::regex row("\\| ([a-z_]+) \\| ");
    size_t rows = 0;
    for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at) {
        const std::string type = (*at)[1];
        if (type == "type") continue;
        ++rows;
        EXPECT_TRUE(all["$defs"].contains(type)) << type;
    }
    EXPECT_EQ(rows, all["$defs"].size() - 1);
}

TEST(Schema, FitsTheWritersLines) {
    const json all = schema();
    RangeBook ranges;
    Joiner joiner(ranges, {});
    auto kernel = test::kernel_record(1, "k");
    kernel.clusterX = kernel.clusterY = kernel.clusterZ = 1;
    kernel.graphId = 1;
    joiner.record(activity(test::external_record(1, external_id(1, 0))));
    joiner.record(activity(test::api_record(1, 5, 10)));
    joiner.record(activity(kernel));
    joiner.record(activity(test::kernel_record(2, nullptr)));
    CUpti_ActivityMemcpy6 copy{};
    copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    joiner.record(activity(copy));
    CUpti_ActivityMemset4 set{};
    set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    joiner.record(activity(set));
    std::string text;
    joiner.settle(text, true);
    Notices notices;
    notices.diagnostic("info", "code", "message", "");
    notices.take(text);
    text += describe_process({"host", 1, true, 130001}, {13000, 13000});
    std::set<std::string> told;
    text += describe_libraries(told);
    const auto lines = test::parse_lines(text);
    EXPECT_GE(lines.size(), 7u);
    for (const json& line : lines) EXPECT_EQ(fault(all, line), "") << line;
}

TEST(Schema, CanRefuse) {
    const json all = schema();
    for (const char* bad :
         {R"({"type":"end","kernels":1})", R"({"type":"strange"})", R"({"type":"name","id":0,"name":"x"})",
          R"({"type":"name","id":1,"name":5})", R"({"type":"name","id":1,"name":"x","more":1})",
          R"({"type":"diagnostic","severity":"bad","code":"c","message":"m","count":1})"})
        EXPECT_NE(fault(all, json::parse(bad)), "") << bad;
}

}  // namespace
}  // namespace attnscope::collector
