#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "attnscope/render.h"
#include "sample_report.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

TEST(Json, SchemaVersionAndParts) {
    const Json json = Json::parse(render_json(test::sample_report()));
    EXPECT_EQ(json.at("schema"), "attnscope-report");
    EXPECT_EQ(json.at("version"), "2.1");
    for (const char* key : {"title", "predicted", "banner", "exact", "not_exact", "strip", "answer",
                            "implementations", "notices", "findings", "sections", "cannot_tell",
                            "checks_passed", "methods", "environment", "commands", "texts"})
        EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_EQ(json.at("notices").at(0).at("level"), "data_loss");
}

TEST(Json, AValueIsANumberOrAbsentWithItsReason) {
    const Json json = Json::parse(render_json(test::sample_report()));
    const Json& naive = json.at("implementations").at("rows").at(0).at("cells");
    EXPECT_EQ(naive.at("copies"), Json::parse(R"({"value":268435456})"));
    Json copies;
    for (const Json& column : json.at("implementations").at("columns"))
        if (column.at("id") == "copies") copies = column;
    EXPECT_EQ(copies.at("unit"), "bytes") << "the column says it where all its numbers have the same";
    EXPECT_EQ(copies.at("source"), "trace");
    EXPECT_EQ(copies.at("ground"), "virtual");
    EXPECT_FALSE(naive.at("duration").contains("value"));
    EXPECT_EQ(naive.at("duration").at("absent"), "not collected: nothing ran, a virtual GPU has no time");
    const Json& evidence = json.at("findings").at(0).at("evidence").at(0).at("value");
    EXPECT_EQ(evidence.at("value"), 12.5);
    EXPECT_EQ(evidence.at("formula"), "2 CTAs x 4 warps / 64 warps");
}

TEST(Json, NumbersOfSeveralOriginsSayTheirOwn) {
    Report report;
    report.implementations.columns = {{"a", "first", "", "", true}};
    for (const Source source : {Source::trace, Source::counter})
        report.implementations.rows.push_back(
            {"r", RowStatus::normal, "", {{Value::of(1, Unit::bytes, {source, Ground::real}), {}, {}, 0}}});
    const Json table = Json::parse(render_json(report)).at("implementations");
    EXPECT_FALSE(table.at("columns").at(0).contains("unit"));
    EXPECT_EQ(table.at("rows").at(0).at("cells").at("a").at("source"), "trace");
    EXPECT_EQ(table.at("rows").at(1).at("cells").at("a").at("source"), "counter");
}

TEST(Json, LongTextsAndMeaningsStandOnce) {
    const Json json = Json::parse(render_json(test::sample_report()));
    std::vector<Json> kernels;
    for (const Json& section : json.at("sections"))
        if (section.at("id") == "kernels")
            for (const Json& table : section.at("tables")) kernels.push_back(table);
    ASSERT_EQ(kernels.size(), 2U);
    std::set<size_t> places;
    for (const Json& table : kernels)
        places.insert(table.at("rows").at(0).at("cells").at("name").at("full_text_at").get<size_t>());
    ASSERT_EQ(places.size(), 1U) << "the same kernel";
    EXPECT_NE(json.at("texts").at(*places.begin()).get<std::string>().find("flash_fwd_kernel"),
              std::string::npos);
    EXPECT_TRUE(kernels[0].at("columns").at(0).contains("meaning"));
    EXPECT_FALSE(kernels[1].at("columns").at(0).contains("meaning")) << "told by the table before";
    std::set<std::string> once;
    for (const Json& text : json.at("texts")) EXPECT_TRUE(once.insert(text).second) << text;
}

TEST(Json, NotFiniteIsAbsentNeverNull) {
    Report report = test::sample_report();
    report.findings[0].evidence[0].value.number = std::numeric_limits<double>::infinity();
    report.sections[0].charts[0].points[0].x.number = std::numeric_limits<double>::quiet_NaN();
    const std::string text = render_json(report);
    EXPECT_EQ(text.find("null"), std::string::npos);
    EXPECT_EQ(Json::parse(text).at("findings").at(0).at("evidence").at(0).at("value").at("absent"),
              "not a finite number");
}

TEST(Json, AChartHoldsItsNumbersWithTheirOrigin) {
    const Json charts = Json::parse(render_json(test::sample_report())).at("sections").at(0).at("charts");
    const Json& bars = charts.at(0);
    EXPECT_EQ(bars.at("x").at("source"), "computed") << "all its numbers have it";
    EXPECT_FALSE(bars.at("points").at(0).contains("x_from"));
    EXPECT_EQ(bars.at("points").at(1), Json::parse(R"({"group":"fused","label":"sdpa_flash",)"
                                                   R"("series":"theoretical","x":12.5,"measured":false,)"
                                                   R"("note":"8 of 64 warps"})"));
    EXPECT_EQ(bars.at("points").at(3).at("x_absent"), "chosen by the library on a real GPU");
    const Json& scatter = charts.at(2);
    EXPECT_FALSE(scatter.at("y").contains("ground")) << "predicted and measured ones";
    EXPECT_EQ(scatter.at("points").at(2).at("y_from").at("ground"), "imported");
    EXPECT_EQ(scatter.at("lines").at(0).at("height").at("value"), 312e12);
    EXPECT_EQ(charts.at(5).at("points").size(), 0U);
}

TEST(Json, ColumnsWithOneIdDoNotLoseCells) {
    Report report;
    report.implementations.columns = {{"a", "first", "", "", true}, {"a", "second", "", "", true}};
    report.implementations.rows = {
        {"r",
         RowStatus::normal,
         "",
         {{Value::of(1, Unit::count, {}), {}, {}, 0}, {Value::of(2, Unit::count, {}), {}, {}, 0}}}};
    const Json cells = Json::parse(render_json(report)).at("implementations").at("rows").at(0).at("cells");
    EXPECT_EQ(cells.size(), 2U);
}

TEST(Json, IsTheSameEveryTime) {
    EXPECT_EQ(render_json(test::large_report()), render_json(test::large_report()));
}

TEST(Json, EverySignificantDigitSurvives) {
    Report report;
    report.findings.resize(1);
    for (const double number : {1.0 / 3, 9007199254740991.0, 1e300, -0.1, 268435456.0})
        report.findings[0].evidence.push_back({"x", Value::of(number, Unit::none, {}), ""});
    const Json json = Json::parse(render_json(report));
    for (size_t i = 0; i < report.findings[0].evidence.size(); ++i)
        EXPECT_EQ(json.at("findings").at(0).at("evidence").at(i).at("value").at("value").get<double>(),
                  *report.findings[0].evidence[i].value.number);
}

}  // namespace
}  // namespace attnscope
