// The page is well-formed XML, so that pugixml, a strict parser, sees what a browser would.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "attnscope/render.h"
#include "format.h"
#include "gunzip.h"
#include "html/base64.h"
#include "html/style.h"
#include "sample_report.h"
#include "support/page_numbers.h"
#include "unicode.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

struct Page {
    std::string text;
    pugi::xml_document document;

    explicit Page(const Report& report) : text(render_html(report)) {
        const auto result =
            document.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_ws_pcdata);
        EXPECT_TRUE(result) << result.description() << " at "
                            << text.substr(static_cast<size_t>(result.offset), 120);
    }
    pugi::xpath_node_set all(const char* path) const { return document.select_nodes(path); }
    pugi::xml_node one(const char* path) const {
        const auto nodes = all(path);
        EXPECT_EQ(nodes.size(), 1U) << path;
        return nodes.empty() ? pugi::xml_node{} : nodes.first().node();
    }
};

std::string inner_text(const pugi::xml_node& node) {
    std::string text;
    for (const auto& found : node.select_nodes(".//text()")) text += found.node().value();
    return text;
}

TEST(Html, IsWellFormedWithOneHeadingAndLandmarks) {
    const Page page(test::sample_report());
    EXPECT_EQ(std::string(page.one("//h1").child_value()),
              "Attention: bf16, 8 x 16 x 1024 x 64, causal, forward");
    EXPECT_STREQ(page.one("/html").attribute("lang").value(), "en");
    for (const char* path : {"//header", "//main", "//footer", "//nav", "//a[@class='skip']"}) page.one(path);
    EXPECT_EQ(page.all("//table[not(caption)]").size(), 0U);
    EXPECT_EQ(page.all("//thead//th[not(@scope)]").size(), 0U);
    EXPECT_EQ(page.all("//svg[@role='img'][not(@aria-labelledby) or not(@aria-describedby)]").size(), 0U);
    EXPECT_EQ(page.all("//figure").size(), page.all("//figure//details[@class='data']").size());
}

TEST(Html, IdentifiersAreUniqueAndReferencesHold) {
    const Page page(test::large_report());
    std::set<std::string> ids;
    for (const auto& found : page.all("//*[@id]"))
        EXPECT_TRUE(ids.insert(found.node().attribute("id").value()).second)
            << found.node().attribute("id").value();
    for (const char* reference : {"aria-labelledby", "aria-describedby"})
        for (const auto& found : page.all("//*")) {
            std::istringstream names(found.node().attribute(reference).value());
            for (std::string name; names >> name;) EXPECT_TRUE(ids.count(name)) << name;
        }
    for (const auto& found : page.all("//a[starts-with(@href,'#')]"))
        EXPECT_TRUE(ids.count(std::string(found.node().attribute("href").value()).substr(1)));
}

TEST(Html, LoadsAndRunsNothing) {
    const Page page(test::sample_report());
    EXPECT_EQ(
        page.all(
                "//img|//link|//iframe|//object|//embed|//form|//base|//audio|//video|//canvas|//use|//image")
            .size(),
        0U);
    EXPECT_EQ(page.all("//script").size(), 0U);
    EXPECT_EQ(
        page.all("//@src|//@style|//@onclick|//@onerror|//@onload|//*[@*[starts-with(name(),'on')]]").size(),
        0U);
    for (const auto& found : page.all("//@href[not(parent::a[@id='attnscope-report'])]"))
        EXPECT_EQ(found.attribute().value()[0], '#');
    const std::string data = page.one("//a[@id='attnscope-report'][@download]").attribute("href").value();
    EXPECT_EQ(data.find("data:application/gzip;base64,"), 0U);
    const std::string css = inner_text(page.one("//style"));
    EXPECT_EQ(css.find("url("), std::string::npos);
    EXPECT_EQ(css.find("@import"), std::string::npos);
}

TEST(Html, PolicyNamesTheHashOfExactlyThisStyle) {
    const Page page(test::sample_report());
    const std::string policy =
        page.one("//meta[@http-equiv='Content-Security-Policy']").attribute("content").value();
    EXPECT_EQ(policy, "default-src 'none'; style-src '" + reports::style_hash() +
                          "'; base-uri 'none'; form-action 'none'");
    EXPECT_EQ(inner_text(page.one("//style")), reports::style_sheet());
    // Right value: sha256sum and base64 of coreutils and openssl, when they are there.
    const std::string file =
        std::string(getenv("ATTNSCOPE_SOURCE_DIR") ? getenv("ATTNSCOPE_SOURCE_DIR") : "") +
        "/reports/html/report.css";
    FILE* pipe =
        popen(("openssl dgst -sha256 -binary '" + file + "' 2>/dev/null | base64 2>/dev/null").c_str(), "r");
    std::string base64(64, '\0');
    base64.resize(pipe ? fread(base64.data(), 1, base64.size(), pipe) : 0);
    if (pipe) pclose(pipe);
    if (base64.size() < 44) GTEST_SKIP() << "openssl and base64 are not installed";
    EXPECT_EQ(reports::style_hash(), "sha256-" + base64.substr(0, 44));
}

TEST(Html, FirstScreenInOrder) {
    const std::string text = Page(test::sample_report()).text;
    size_t last = 0;
    for (const char* part :
         {"<h1>", "class=\"strip\"", "class=\"banner predicted\"", "class=\"answer\"", "<table ",
          "cuDNN attention does not support", "class=\"notices\"", "<nav", "id=\"findings\"", "id=\"checks\"",
          "id=\"cannot-tell\"", "id=\"pictures\"", "id=\"kernels\"", "id=\"methods\"", "id=\"environment\"",
          "id=\"reproduce\"", "id=\"attnscope-report\""}) {
        const size_t at = text.find(part, last);
        ASSERT_NE(at, std::string::npos) << part;
        last = at;
    }
}

TEST(Html, RefusedRowHasLibTorchsSentence) {
    const Page page(test::sample_report());
    const auto row = page.one("//tr[@class='absent']");
    EXPECT_NE(inner_text(row).find("refused"), std::string::npos);
    EXPECT_EQ(inner_text(row.child("td")),
              "cuDNN attention does not support this configuration: head_dim should be a multiple of 8.");
}

TEST(Html, SevenFindingsAreOpenAndTheRestIsCounted) {
    const Page page(test::sample_report());
    EXPECT_EQ(page.all("//section/article").size(), 7U);
    EXPECT_EQ(page.all("//details[@class='rest']/article").size(), 2U);
    EXPECT_EQ(inner_text(page.one("//details[@class='rest']/summary")), "2 more findings");
}

TEST(Html, MissingIsADashWithItsReasonInSight) {
    const Page page(test::sample_report());
    EXPECT_EQ(inner_text(page.one("(//table)[1]/tbody/tr[1]/td[3]")), "—1");
    const std::string notes = inner_text(page.one("(//p[@class='notes'])[1]"));
    EXPECT_NE(notes.find("—1\xC2\xA0"
                         "chosen by the library on a real GPU."),
              std::string::npos)
        << notes;
    EXPECT_NE(notes.find("No values, so not shown: time (not collected: nothing ran"), std::string::npos);
    EXPECT_EQ(page.all("(//table)[1]/thead//th[starts-with(.,'time')]").size(), 0U);
    EXPECT_NE(page.text.find("needs hardware counters</span>"), std::string::npos);
}

/// What the page's link saves.
Json embedded(const Page& page) {
    const std::string link = page.one("//a[@id='attnscope-report']").attribute("href").value();
    return Json::parse(test::gunzip(test::from_base64(link.substr(link.find(',') + 1))));
}

TEST(Html, TheWholeJsonIsInside) {
    for (const Report& report : {Report{}, test::sample_report(), test::large_report()})
        EXPECT_EQ(embedded(Page(report)), Json::parse(render_json(report)));
}

// RFC 4648, section 10.
TEST(Html, Base64) {
    const std::vector<std::pair<std::string, std::string>> vectors{{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"},
                                                                   {"\xff\xfe", "//4="}};
    for (const auto& [bytes, text] : vectors) EXPECT_EQ(reports::base64(bytes), text);
}

TEST(Html, PredictedNumbersAreInItalicsAndTagged) {
    const Page page(test::sample_report());
    // A table's own class, or an element, makes them italic; the charts' numbers say it in words.
    for (const test::PageNumber& number : test::numbers_within(page.document))
        EXPECT_TRUE(number.in_chart || number.node.child("i") ||
                    test::classes_of(number.node.select_node("ancestor::table").node()).count("p"))
            << number.text;
    // There the style sheet sets words upright again, and numbers among words not.
    EXPECT_NE(page.text.find(".p td,.p.d .v{font-style:italic}"), std::string::npos);
    EXPECT_EQ(page.all("(//table)[1]/thead//th[.='launchestv']").size(), 1U)
        << "the same for all of a column";
    for (const auto& letters : page.all("(//table)[1]/tbody//sup"))
        EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(*letters.node().child_value())))
            << "a note's number";
    const Page measured(test::measured_report());
    EXPECT_EQ(test::classes_of(measured.all("//table").first().node()).count("p"), 0U);
    // Its column of DRAM bytes mixes a GPU's value and a fixture's: each has its own letters.
    EXPECT_EQ(measured.all("//td[not(i)][sup='c']").size(), 1U);
    EXPECT_EQ(measured.all("//td/i[sup='cf']").size(), 1U);
    EXPECT_EQ(inner_text(measured.one("//section[contains(@class,'banner')]//strong")), "MEASURED");
}

TEST(Html, AClaimsHeadIsItsHeading) {
    Report report;
    const auto headings = [&](const std::string& claim) {
        Finding finding;
        finding.claim = claim;
        report.findings = {finding};
        const Page page(report);
        return inner_text(page.one("//h3")) + "|" +
               inner_text(page.all("//p[@class='claim']").first().node());
    };
    EXPECT_EQ(headings("More occupancy, less speed: a keeps 25%."),
              "P1More occupancy, less speed:|a keeps 25%.");
    EXPECT_EQ(headings("One sentence is enough. Here is another."),
              "P1One sentence is enough.|Here is another.");
    EXPECT_EQ(headings("Of `at::native: x` it is said."), "P1Of at::native: x it is said.|");
    EXPECT_EQ(headings("Short."), "P1Short.|");
}

TEST(Html, LongTablesAreFoldedWithTheirCount) {
    const Page page(test::large_report());
    EXPECT_EQ(page.all("//details[@class='fold']").size(), 7U);
    EXPECT_NE(inner_text(page.all("//details[@class='fold']/summary").first().node()).find("30 rows"),
              std::string::npos);
}

/// Width of a bar: "M.. ..h123v14h-123z".
double bar_width(const pugi::xml_node& path) {
    const std::string d = path.attribute("d").value();
    return std::stod(d.substr(d.find('h') + 1));
}

TEST(Html, ChartsShowPredictedHollowAndSayTheirScale) {
    const Page page(test::sample_report());
    const auto bars = page.one("//figure[1]");
    const auto shapes = bars.select_nodes("svg[@role='img']//path[contains(@class,'hollow')]");
    ASSERT_EQ(shapes.size(), 3U);
    EXPECT_NE(inner_text(bars.child("p")).find("full width: the SM's 64 warps"), std::string::npos);
    EXPECT_NEAR(bar_width(shapes[0].node()) / bar_width(shapes[1].node()), 8, 0.05);  // 100 % and 12.5 %
    EXPECT_NE(inner_text(bars).find("sdpa_cudnn: — chosen by the library on a real GPU"), std::string::npos);
    EXPECT_EQ(page.all("//figure[5]//svg[@role='img']//*[contains(@class,'hollow')]").size(), 0U);
    EXPECT_NE(inner_text(page.one("//figure[4]/p")).find("(logarithmic)"), std::string::npos);
}

TEST(Html, PartsOfABarAddUpAndTheHatchedSeriesIsHatched) {
    const Page page(test::sample_report());
    const auto picture = page.one("//figure[2]/svg");
    const auto parts = picture.select_nodes("path[contains(@class,'hollow')]");
    ASSERT_EQ(parts.size(), 3U) << "the sum is no part";
    EXPECT_NEAR(bar_width(parts[0].node()) / bar_width(parts[1].node()), 469762048. / 5905580032., 0.005);
    const std::string id = picture.child("pattern").attribute("id").value();
    EXPECT_EQ(page.all(("//figure[2]/svg/path[@fill='url(#" + id + ")']").c_str()).size(), 1U);
    EXPECT_NE(inner_text(picture).find("20 launches"), std::string::npos);
    EXPECT_EQ(page.all("//figure[1]//pattern").size(), 0U);
}

TEST(Html, AMarkWithoutBothNumbersIsNamedWithTheReason) {
    const Page page(test::sample_report());
    EXPECT_EQ(page.all("//figure[3]/svg/*[contains(@class,'s1') or contains(@class,'s2')]").size(), 3U);
    EXPECT_NE(inner_text(page.one("//figure[3]/p")).find("Not drawn: sdpa_cudnn: — chosen by the library"),
              std::string::npos);
    EXPECT_EQ(inner_text(page.one("//p[@class='empty'][contains(., 'Left out')]")),
              "Left out: nothing to draw. Nothing was measured.");
}

/// A text's box, generously: no two of one picture meet, and none leaves it.
struct TextBox {
    double left, top, right, bottom;
    std::string words;
};
std::vector<TextBox> texts_of(const pugi::xml_node& svg) {
    std::vector<TextBox> out;
    for (const pugi::xml_node text : svg.children("text")) {
        if (text.attribute("transform")) continue;  // along a slope
        const std::string words = text.child_value();
        const std::set<std::string> classes = test::classes_of(text);
        const double x = text.attribute("x").as_double(), y = text.attribute("y").as_double();
        const double width = 5.8 * static_cast<double>(reports::width_of(words));
        const double left = classes.count("e") ? x - width : classes.count("m") ? x - width / 2 : x;
        out.push_back({left, y - 8, left + width, y + 2, words});
    }
    return out;
}

TEST(Html, NamesInAPictureNeitherMeetNorLeaveIt) {
    for (const Report& report : {test::sample_report(), test::large_report(), test::measured_report()}) {
        const Page page(report);
        for (const auto& found : page.all("//svg[@role='img']")) {
            std::istringstream box(found.node().attribute("viewBox").value());
            double x, y, width, height;
            box >> x >> y >> width >> height;
            const auto texts = texts_of(found.node());
            for (size_t i = 0; i < texts.size(); ++i) {
                EXPECT_TRUE(texts[i].left >= -1 && texts[i].right <= width + 1 && texts[i].bottom <= height)
                    << texts[i].words;
                for (size_t k = 0; k < i; ++k)
                    EXPECT_FALSE(texts[i].left < texts[k].right && texts[k].left < texts[i].right &&
                                 texts[i].top < texts[k].bottom && texts[k].top < texts[i].bottom)
                        << texts[i].words << " over " << texts[k].words;
            }
        }
    }
}

Report with_findings(std::initializer_list<std::pair<const char*, Severity>> findings) {
    Report report;
    for (const auto& [id, severity] : findings) {
        Finding finding;
        finding.id = id;
        finding.severity = severity;
        finding.claim = std::string("Of ") + id + ".";
        report.findings.push_back(finding);
    }
    return report;
}

TEST(Html, FindingsOfOneRuleAreFoldedBehindTheFirst) {
    const Severity w = Severity::warning, i = Severity::info;
    const Report report = with_findings({{"a", w},
                                         {"a", w},
                                         {"a", w},
                                         {"b", w},
                                         {"c", w},
                                         {"d", i},
                                         {"e", i},
                                         {"f", i},
                                         {"g", i},
                                         {"h", i},
                                         {"h", i}});
    const Page page(report);
    const auto open = page.all("//section[@aria-labelledby='findings']/article/h3");
    ASSERT_EQ(open.size(), 7U) << "seven rules, not seven findings";
    EXPECT_EQ(inner_text(open[0].node()), "P1Of a.");
    EXPECT_EQ(inner_text(open[1].node()), "P4Of b.");
    const auto folded = page.all("//section[@aria-labelledby='findings']/details");
    ASSERT_EQ(folded.size(), 2U);
    EXPECT_EQ(inner_text(folded[0].node().child("summary")), "2 more of this rule");
    EXPECT_EQ(folded[0].node().select_nodes("article").size(), 2U);
    EXPECT_EQ(inner_text(folded[1].node().child("summary")), "2 more findings") << "both of h";
    const std::string text = render_text(report), markdown = render_markdown(report);
    EXPECT_NE(text.find("and 2 more of this rule."), std::string::npos) << text;
    EXPECT_NE(text.find("… and 6 more in"), std::string::npos) << text;
    EXPECT_NE(markdown.find("<summary>2 more of this rule</summary>"), std::string::npos) << markdown;
    EXPECT_NE(markdown.find("<summary>2 more findings</summary>"), std::string::npos) << markdown;
    // Another severity is another matter.
    EXPECT_EQ(Page(with_findings({{"a", w}, {"a", i}})).all("//details[@class='rest']").size(), 0U);
}

Table table_of_rows(std::initializer_list<std::vector<double>> rows) {
    Table table;
    table.id = table.title = "t";
    table.columns = {
        {"name", "name", "", "", false}, {"x", "first", "", "", true}, {"y", "second", "", "", true}};
    for (const auto& numbers : rows) {
        Row row;
        row.id = std::to_string(table.rows.size() + 1);
        row.cells = {{{}, "row " + row.id, {}, 0}};
        for (const double number : numbers)
            row.cells.push_back({std::isnan(number)
                                     ? Value::missing("not a kernel")
                                     : Value::of(number, Unit::bytes, {Source::trace, Ground::real}),
                                 {},
                                 {},
                                 0});
        table.rows.push_back(row);
    }
    return table;
}

TEST(Html, AColumnWithOneValueIsSaidOnce) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    Report report;
    Section section;
    section.tables = {table_of_rows({{48, 0}, {49, 0}, {50, 0}})};
    report.sections = {section};
    const Page page(report);
    EXPECT_EQ(page.all("//thead//th").size(), 2U);
    EXPECT_EQ(inner_text(page.one("//span[@class='same']")),
              "The same in all 3 rows: second 0\xC2\xA0"
              "Bt.");
    const auto said = [](const Table& table) {
        Report r;
        Section s;
        s.tables = {table};
        r.sections = {s};
        return Page(r).all("//span[@class='same']").size();
    };
    EXPECT_EQ(said(table_of_rows({{48, 0}, {49, 0}})), 0U) << "two rows say it themselves";
    EXPECT_EQ(said(table_of_rows({{48, 0}, {49, 0}, {50, 1}})), 0U);
    // A dash keeps its reason: it must stand in another column of its row.
    EXPECT_EQ(said(table_of_rows({{48, 0}, {49, 0}, {50, 0}, {51, none}})), 0U);
    EXPECT_EQ(said(table_of_rows({{48, 0}, {49, 0}, {50, 0}, {none, none}})), 1U);
}

TEST(Html, AGroupOfOneLabelKeepsItsColumns) {
    Report report;
    Section section;
    Chart chart;
    chart.id = chart.title = "c";
    chart.kind = Chart::Kind::bars;
    chart.x.unit = Unit::bytes;
    for (const char* group : {"DRAM", "L2", "registers"}) {
        Chart::Point point;
        point.group = group;
        point.label = "sdpa_flash";
        point.x = Value::of(64, Unit::bytes, {Source::model, Ground::virtual_gpu});
        chart.points.push_back(point);
    }
    section.charts = {chart};
    report.sections = {section};
    const Page page(report);
    for (const auto& row : page.all("//figure//tbody/tr"))
        EXPECT_EQ(row.node().select_nodes("th | td").size(), page.all("//figure//thead//th").size());
}

TEST(Html, AGroupsNameStandsOnceBesideItsRows) {
    const Page page(test::sample_report());
    const auto tables = page.all("//table[contains(@class,' g')]");
    ASSERT_GT(tables.size(), 0U);
    for (const auto& found : tables) {
        size_t rows = 0, spanned = 0;
        for (const auto& row : found.node().select_nodes("tbody/tr")) {
            ++rows;
            const auto headers = row.node().select_nodes("th");
            ASSERT_TRUE(headers.size() == 1 || headers.size() == 2);
            if (headers.size() == 2) spanned += headers[0].node().attribute("rowspan").as_uint(1);
        }
        EXPECT_EQ(rows, spanned);
    }
}

TEST(Html, ACommandIsBrokenAsAShellJoinsIt) {
    Report report;
    report.commands = {"attnscope collect -o again -- ./program --first 'two words' --second " +
                           std::string(40, 'x') + " --third 3 --fourth 4 --fifth 5",
                       "attnscope report " + std::string(200, 'y'),
                       "attnscope collect -o a -- python3 -c 'print('\\''two words'\\'')' --some --more "
                       "--and --even --more --options a"};
    const Page page(report);
    const auto blocks = page.all("//section[@aria-labelledby='reproduce']/pre");
    ASSERT_EQ(blocks.size(), 3U);
    for (const size_t i : {0U, 2U}) {
        std::string joined = inner_text(blocks[i].node());
        ASSERT_NE(joined.find(" \\\n    "), std::string::npos) << joined;
        EXPECT_NE(joined.find("two words"), std::string::npos) << joined;
        for (size_t at; (at = joined.find(" \\\n   ")) != std::string::npos;) joined.erase(at, 6);
        EXPECT_EQ(joined, report.commands[i]);
    }
    EXPECT_EQ(inner_text(blocks[1].node()), report.commands[1]) << "a word is not broken";
}

TEST(Html, KeepsToItsSize) {
    EXPECT_LE(render_html(Report{}).size(), 60'000U);
    EXPECT_LE(render_html(test::sample_report()).size(), 80'000U);
    EXPECT_LE(render_html(test::large_report()).size(),
              250'000U);  // 210 kernels with names of 430 letters
}

TEST(Html, AnEmptyReportIsAPage) {
    const Page page{Report{}};
    page.one("//h1");
    EXPECT_EQ(page.all("//figure").size(), 0U);
}

}  // namespace
}  // namespace attnscope
