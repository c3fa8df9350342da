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

namespace attnscope::collector {
namespace {

using nlohmann::json;
using test::activity;

json schema() {
    return json::parse(
        test::read_file(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/schema/run.schema.json"));
}

bool fits(const json& rule, const json& value) {
    if (rule.contains("const") && rule["const"] != value) return false;
    if (rule.contains("enum") &&
        std::find(rule["enum"].begin(), rule["enum"].end(), value) == rule["enum"].end())
        return false;
    if (rule.contains("minimum") && value.get<double>() < rule["minimum"].get<double>()) return false;
    if (rule.contains("pattern") &&
        !std::regex_search(value.get<std::string>(), std::regex(rule["pattern"].get<std::string>())))
        return false;
    const std::string type = rule.value("type", "");
    if (type == "integer") return value.is_number_integer();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "array") {
        if (!value.is_array()) return false;
        for (const json& item : value)
            if (!fits(rule["items"], item)) return false;
    }
    return true;
}

/// What is wrong with a line; "" when nothing. The part of JSON Schema that run.schema.json uses, and
/// stricter: a field that the schema does not name is wrong, except a library call's attributes.
std::string fault(const json& all, const json& line) {
    const std::string type = line.value("type", "");
    if (!all["$defs"].contains(type)) return "unknown type " + type;
    const json& record = all["$defs"][type];
    for (const json& key : record["required"])
        if (!line.contains(key.get<std::string>())) return type + " without " + key.get<std::string>();
    for (const auto& [key, value] : line.items()) {
        if (!record["properties"].contains(key)) {
            if (type == "library_call") continue;
            return type + " with " + key;
        }
        if (!fits(record["properties"][key], value)) return type + ": " + key + " is " + value.dump();
    }
    return {};
}

TEST(Schema, NamesEveryRecordAndFieldOfTheReadme) {
    const json all = schema();
    const std::string readme =
        test::read_file(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/schema/README.md");
    const std::string table = readme.substr(readme.find("## Records"));
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

TEST(Schema, FitsTheRunsThatAreGiven) {
    const char* folder = std::getenv("ATTNSCOPE_CHECK_RUN");
    if (folder == nullptr) GTEST_SKIP() << "ATTNSCOPE_CHECK_RUN names no run";
    const json all = schema();
    for (const auto& file : test::process_files(folder))
        for (const json& line : test::parse_lines(test::read_file(file)))
            ASSERT_EQ(fault(all, line), "") << line;
}

}  // namespace
}  // namespace attnscope::collector
