// Every number in an explanation is the one in the JSON: the pages', the evidence's, and those in sentences.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "attnscope/analysis.h"
#include "attnscope/render.h"
#include "blog_run.h"
#include "support/page_numbers.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

std::vector<Report> reports() {
    std::vector<Report> out;
    const auto add = [&](auto write) {
        test::TemporaryFolder folder;
        write(folder.path());
        out.push_back(build_report(analyze(read_run(folder.path()))));
    };
    test::BlogOptions refused, real;
    refused.refuse_flash = true;
    real.ground = "real";
    real.times = true;
    add([](const auto& f) { test::write_blog_run(f); });
    add([&](const auto& f) { test::write_blog_run(f, refused); });
    add([&](const auto& f) { test::write_blog_run(f, real); });
    add([&](const auto& f) { test::write_counted_blog_run(f, real); });
    add([&](const auto& f) { test::write_counted_blog_run(f, {}); });
    return out;
}

/// Every number that the JSON holds as a number.
void collect(const Json& json, std::multiset<double>& out) {
    if (json.is_number()) out.insert(json.get<double>());
    if (json.is_structured())
        for (const Json& part : json) collect(part, out);
}

pugi::xml_document page_of(const Report& report) {
    pugi::xml_document document;
    const std::string page = render_html(report);
    EXPECT_TRUE(document.load_buffer(page.data(), page.size(), pugi::parse_default | pugi::parse_ws_pcdata));
    return document;
}

bool holds(const std::multiset<double>& known, double number) {
    const auto near = known.lower_bound(number - 1e-12 * std::fabs(number));
    return near != known.end() && *near <= number + 1e-12 * std::fabs(number);
}

TEST(Numbers, OfThePageAreThoseOfTheJson) {
    for (const Report& report : reports()) {
        std::multiset<double> known;
        collect(Json::parse(render_json(report)), known);
        const std::vector<test::PageNumber> shown = test::numbers_within(page_of(report));
        EXPECT_GT(shown.size(), 100U);
        for (const test::PageNumber& number : shown)
            EXPECT_TRUE(number.in_chart || holds(known, *number.exact)) << number.text;
    }
}

TEST(Numbers, OfTheEvidenceAreThoseOfTheJsonInOrder) {
    for (const Report& report : reports()) {
        const Json json = Json::parse(render_json(report));
        std::vector<double> expected;
        for (const Json& finding : json["findings"])
            for (const Json& evidence : finding["evidence"])
                if (evidence["value"].contains("value")) expected.push_back(evidence["value"]["value"]);
        ASSERT_FALSE(expected.empty());
        const pugi::xml_document page = page_of(report);
        std::vector<test::PageNumber> shown;
        for (const auto& article : page.select_nodes("//article"))
            for (const test::PageNumber& number : test::numbers_within(article.node()))
                shown.push_back(number);
        ASSERT_EQ(shown.size(), expected.size());
        for (size_t i = 0; i < shown.size(); ++i)
            EXPECT_NEAR(*shown[i].exact, expected[i], 1e-12 * std::fabs(expected[i])) << shown[i].text;
    }
}

/// A number as it stands in a sentence: its value, half a unit of its last digit, and whether it is a number
/// on its own ("12.5%", "1,024") and no part of a name ("A100", "fp32").
struct Written {
    double value = 0, half_unit = 0;
    std::string text;
};
std::vector<Written> written_numbers(const std::string& sentence) {
    std::vector<Written> out;
    const auto digit = [&](size_t i) {
        return i < sentence.size() && std::isdigit(static_cast<unsigned char>(sentence[i]));
    };
    const auto name = [&](size_t i) {
        return i < sentence.size() &&
               (std::isalpha(static_cast<unsigned char>(sentence[i])) || sentence[i] == '_' ||
                sentence[i] == '-' || sentence[i] == '<' || sentence[i] == '#');
    };
    for (size_t at = 0; at < sentence.size();) {
        if (!digit(at)) {
            ++at;
            continue;
        }
        const size_t begin = at;
        Written w;
        std::string digits;
        double unit = 1;
        bool fraction = false;
        for (; digit(at) || ((sentence[at] == ',' || sentence[at] == '.') && digit(at + 1) && !fraction);
             ++at) {
            if (sentence[at] == ',') {
                if (!(digit(at + 2) && digit(at + 3) && !digit(at + 4))) break;
                continue;
            }
            if (sentence[at] == '.') fraction = true;
            if (fraction && digit(at)) unit /= 10;
            digits += sentence[at];
        }
        const bool in_name = (begin > 0 && (name(begin - 1) || sentence[begin - 1] == '.')) ||
                             (name(at) && sentence[at] != '-');
        if (in_name) continue;
        w.value = std::stod(digits);
        w.half_unit = unit / 2;
        w.text = sentence.substr(begin, at - begin);
        out.push_back(w);
    }
    return out;
}

void collect_written(const Json& json, std::multiset<double>& out) {
    if (json.is_string())
        for (const Written& w : written_numbers(json)) out.insert(w.value);
    if (json.is_structured())
        for (const Json& part : json) collect_written(part, out);
}

/// As it is, in thousands of a unit or in powers of 1,024, in ms, or as the share that a percentage is.
bool is_known(const Written& w, const std::multiset<double>& known) {
    for (const double scale :
         {1.0, 1e3, 1e6, 1e9, 1e12, 1024.0, 1048576.0, 1073741824.0, 1099511627776.0, 0.01}) {
        const double slack = w.half_unit * scale * 1.000001;
        const auto near = known.lower_bound(w.value * scale - slack);
        if (near != known.end() && *near <= w.value * scale + slack) return true;
    }
    return false;
}

// What a claim says is in its evidence, in its formulas, in another number of the report, or it is made up.
TEST(Numbers, OfClaimsAreInTheReport) {
    for (const Report& report : reports()) {
        const Json json = Json::parse(render_json(report));
        std::multiset<double> numbers;
        collect(json["implementations"], numbers);
        collect(json["sections"], numbers);
        collect_written(json["strip"], numbers);
        collect_written(json["sections"], numbers);
        collect_written(json["implementations"], numbers);
        for (const Json& finding : json["findings"]) {
            std::multiset<double> known = numbers;
            collect(finding["evidence"], known);
            collect_written(finding["evidence"], known);
            // Ratios of two pieces of evidence may be said, and how many times a share goes into the whole:
            // exact arithmetic on them.
            std::multiset<double> evidence = {100};
            collect(finding["evidence"], evidence);
            for (const double a : evidence)
                for (const double b : evidence)
                    if (b != 0) known.insert(a / b);
            for (const Written& w : written_numbers(finding["claim"]))
                EXPECT_TRUE(is_known(w, known)) << w.text << " in: " << finding["claim"];
        }
    }
}

/// The numbers of the evidence in Markdown: "- label: *12.5 %*...".
std::vector<Written> markdown_evidence(const std::string& page) {
    const size_t begin = page.find("## Findings");
    std::string text = page.substr(begin, page.find("\n## ", begin + 1) - begin);
    for (size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;) text.replace(at, 3, " ");
    std::vector<Written> out;
    for (size_t at = 0; (at = text.find("\n- ", at)) != std::string::npos; ++at) {
        const std::string line = text.substr(at + 3, text.find('\n', at + 3) - at - 3);
        const size_t value = line.find(": *");
        if (line.starts_with("**") || value == std::string::npos) continue;
        const size_t from = line.find_first_not_of('*', value + 2);
        const auto numbers = written_numbers(line.substr(from, line.find('*', from) - from));
        if (!numbers.empty()) out.push_back(numbers.front());
    }
    return out;
}

TEST(Numbers, OfTheEvidenceInMarkdownAreThoseOfTheJson) {
    for (const Report& report : reports()) {
        const Json json = Json::parse(render_json(report));
        std::vector<double> expected;
        for (const Json& finding : json["findings"])
            for (const Json& evidence : finding["evidence"])
                if (evidence["value"].contains("value")) expected.push_back(evidence["value"]["value"]);
        const std::vector<Written> shown = markdown_evidence(render_markdown(report));
        ASSERT_EQ(shown.size(), expected.size());
        for (size_t i = 0; i < shown.size(); ++i)
            EXPECT_TRUE(is_known(shown[i], {expected[i]})) << shown[i].text << " for " << expected[i];
    }
}

TEST(Numbers, AreReadFromSentencesAsPeopleDo) {
    std::vector<double> values;
    for (const Written& w :
         written_numbers("On A100-SXM4-80GB fp32 takes 1,024 x 3 = 12.5%, 0.147 ms; sm_90, flash<64>. 7."))
        values.push_back(w.value);
    EXPECT_EQ(values, (std::vector<double>{1024, 3, 12.5, 0.147, 7}));
    EXPECT_FALSE(is_known({13, 0.5, "13"}, {12.4}));
    EXPECT_TRUE(is_known({256, 0.5, "256"}, {268435456}));
}

}  // namespace
}  // namespace attnscope
