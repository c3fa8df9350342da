// Every number that people read in Markdown and HTML is a number of the JSON, rounded as reports/format.h
// says. The rounding is checked here by arithmetic of its own, not by the code that rounds.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <pugixml.hpp>

#include "attnscope/render.h"
#include "random_report.h"
#include "sample_report.h"
#include "support/page_numbers.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

struct Number {
    double value;
    std::string unit;  ///< the JSON's name
};

/// A number as it is printed.
struct Token {
    double value = 0;
    int decimals = 0;
    bool plain = true;  ///< without an exponent
    std::string unit;   ///< "MB"; empty
    std::string before, after;
};

/// What a printed unit stands for, in the JSON's unit.
std::optional<double> divisor(const std::string& unit, const std::string& printed) {
    static const std::map<std::string, std::map<std::string, double>> scales = {
        {"bytes", {{"B", 1}, {"KiB", 1024}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}},
        {"ns", {{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}},
        {"bytes/s", {{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}},
        {"FLOP",
         {{"FLOP", 1}, {"kFLOP", 1e3}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}}},
        {"FLOP/s",
         {{"FLOP/s", 1},
          {"kFLOP/s", 1e3},
          {"MFLOP/s", 1e6},
          {"GFLOP/s", 1e9},
          {"TFLOP/s", 1e12},
          {"PFLOP/s", 1e15}}},
        {"%", {{"%", 1}}}};
    const auto of_unit = scales.find(unit);
    if (of_unit == scales.end()) {
        // Counted things: a word may follow them, a unit does not.
        const bool other = std::any_of(scales.begin(), scales.end(),
                                       [&](const auto& one) { return one.second.count(printed) > 0; });
        return other ? std::nullopt : std::optional<double>(1);
    }
    const auto found = of_unit->second.find(printed);
    if (found == of_unit->second.end()) return std::nullopt;
    return found->second;
}

/// The stated rounding: nothing from 10^15 on, no decimals from 1,000 on, at most one from 10, at most two
/// below; of what is below 0.1 two digits.
int most_decimals(double shown) {
    const double size = std::fabs(shown);
    if (size >= 1000) return 0;
    if (size >= 10) return 1;
    if (size >= 0.1 || size == 0) return 2;
    return 13;
}

bool is_rounding(const Token& token, const Number& number) {
    const auto by = divisor(number.unit, token.unit);
    if (!by) return false;
    if (*by == 1 && number.unit != "%" && std::fabs(number.value) >= 1e15) return token.value == number.value;
    if (!token.plain) return std::fabs(token.value * *by - number.value) <= 1e-12 * std::fabs(number.value);
    if (token.decimals > most_decimals(token.value)) return false;
    // Two digits at least say something: nothing is rounded away.
    if (std::fabs(token.value * *by - number.value) > 0.05 * (1 + 1e-9) * std::fabs(number.value))
        return false;
    const double half = 0.5 * std::pow(10, -token.decimals) * *by;
    return std::fabs(token.value * *by - number.value) <= half * (1 + 1e-9) + 1e-12 * std::fabs(number.value);
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// The numbers of a text, in order.
std::vector<Token> tokens(const std::string& text) {
    std::vector<Token> out;
    for (size_t at = 0; at < text.size();) {
        if (!is_digit(text[at])) {
            ++at;
            continue;
        }
        Token token;
        const size_t start = at;
        const bool negative = start > 0 && text[start - 1] == '-' && (start < 2 || text[start - 2] != '-');
        std::string digits;
        while (at < text.size() &&
               (is_digit(text[at]) || (text[at] == ',' && at + 1 < text.size() && is_digit(text[at + 1])))) {
            if (text[at] != ',') digits += text[at];
            ++at;
        }
        if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
            digits += text[at++];
            const size_t point = at;
            while (at < text.size() && is_digit(text[at])) digits += text[at++];
            token.decimals = static_cast<int>(at - point);
        }
        if (at + 1 < text.size() && text[at] == 'e' && (text[at + 1] == '+' || text[at + 1] == '-')) {
            token.plain = false;
            digits += text[at++];
            digits += text[at++];
            while (at < text.size() && is_digit(text[at])) digits += text[at++];
        }
        token.value = (negative ? -1 : 1) * std::stod(digits);
        size_t unit = at;
        if (text.compare(unit, 2, "\xC2\xA0") == 0)
            unit += 2;
        else if (unit < text.size() && text[unit] == ' ')
            ++unit;
        size_t end = unit;
        while (end < text.size() &&
               (std::isalpha(static_cast<unsigned char>(text[end])) || text[end] == '%' || text[end] == '/' ||
                text.compare(end, 2, "µ") == 0 || (end > unit && text.compare(end - 1, 2, "µ") == 0)))
            ++end;
        token.unit = text.substr(unit, end - unit);
        token.before = text.substr(start < 20 ? 0 : start - 20, std::min<size_t>(start, 20));
        token.after = text.substr(at, 20);
        out.push_back(std::move(token));
    }
    return out;
}

/// The numbers of a report in the order in which it is read.
class Numbers {
  public:
    explicit Numbers(const Json& report) {
        table(report["implementations"]);
        for (const Json& finding : report["findings"])
            for (const Json& evidence : finding["evidence"]) value(evidence["value"], evidence["value"]);
        for (const Json& section : report["sections"]) {
            for (const Json& one : section["tables"]) table(one);
            for (const Json& chart : section["charts"])
                for (const Json& point : chart["points"]) {
                    const size_t before = all_.size();
                    add(point, "x", chart["x"]["unit"]);
                    add(point, "y", chart.contains("y") ? chart["y"]["unit"] : Json(""));
                    of_charts_.insert(of_charts_.end(), all_.begin() + static_cast<std::ptrdiff_t>(before),
                                      all_.end());
                }
        }
        table(report["methods"]);
    }
    const std::vector<Number>& all() const { return all_; }
    const std::vector<Number>& of_charts() const { return of_charts_; }

  private:
    void add(const Json& from, const char* key, const std::string& unit) {
        if (from.contains(key)) all_.push_back({from[key].get<double>(), unit});
    }
    void value(const Json& value, const Json& unit_of) { add(value, "value", unit_of.value("unit", "")); }
    void table(const Json& table) {
        for (const Json& row : table["rows"])
            for (const Json& column : table["columns"]) {
                const Json& cell = row["cells"].at(column["id"].get<std::string>());
                value(cell, cell.contains("unit") ? cell : column);
            }
    }
    std::vector<Number> all_, of_charts_;
};

/// A count of what the page lists, not a value of the report.
bool is_count(const Token& t) {
    for (const char* before : {"### P", "Full names (", "Checks passed ("})
        if (t.before.ends_with(before)) return true;
    for (const char* after :
         {" row)", " rows)", " more findings", " quantities", " times)", " more of this rule"})
        if (t.after.starts_with(after)) return true;
    return false;
}

void expect_markdown_agrees(const Report& report) {
    const Numbers numbers(Json::parse(render_json(report)));
    const std::vector<Number>& held = numbers.all();
    std::string text = render_markdown(report);
    std::erase_if(text, [](char c) { return c == '*' || c == '\\'; });
    for (size_t at = 0; (at = text.find("&#", at)) != std::string::npos;)  // a character by its number
        text.erase(at, text.find(';', at) + 1 - at);
    size_t next = 0;
    for (const Token& token : tokens(text)) {
        if (is_count(token)) continue;
        size_t at = next;
        while (at < held.size() && !is_rounding(token, held[at])) ++at;
        ASSERT_LT(at, held.size()) << token.value << " " << token.unit << " in \"" << token.before << "..."
                                   << token.after << "\" is no number of the JSON at this place";
        next = at + 1;
    }
}

/// Outside of pictures, scripts, styles, the numbers of tables, and what names a source or a note.
void words_of(const pugi::xml_node& node, std::string& out) {
    for (const pugi::xml_node& child : node.children()) {
        const std::string name = child.name();
        if (name == "svg" || name == "script" || name == "style" || name == "sup" || name == "footer" ||
            (name == "td" && test::page_number(child).exact) ||
            std::string_view(child.attribute("class").value()) == "same")
            continue;
        if (child.type() == pugi::node_pcdata) out += std::string(child.value()) + "\n";
        words_of(child, out);
    }
}

void expect_html_agrees(const Report& report) {
    const Numbers numbers(Json::parse(render_json(report)));
    std::multimap<double, std::string> held;
    for (const Number& number : numbers.all()) held.emplace(number.value, number.unit);
    pugi::xml_document document;
    const std::string page = render_html(report);
    ASSERT_TRUE(document.load_buffer(page.data(), page.size(), pugi::parse_default | pugi::parse_ws_pcdata));
    const auto take = [&](const test::PageNumber& number) {
        const std::vector<Token> shown = tokens(number.text);
        ASSERT_EQ(shown.size(), 1U) << number.text;
        // One of the JSON's numbers, each as often as it is there, and its own rounding.
        const double slack = 1e-12 * std::fabs(*number.exact);
        const auto first = held.lower_bound(*number.exact - slack),
                   last = held.upper_bound(*number.exact + slack);
        const auto match = std::find_if(first, last, [&](const auto& one) {
            return is_rounding(shown.front(), {one.first, one.second});
        });
        ASSERT_NE(match, last) << number.text << " for " << *number.exact;
        held.erase(match);
    };
    size_t point = 0;
    for (const test::PageNumber& number : test::numbers_within(document)) {
        if (number.in_chart) {
            // Beside a picture the page says the rounded number alone: they are the picture's, in its order.
            ASSERT_LT(point, numbers.of_charts().size());
            const Number& of_json = numbers.of_charts()[point++];
            const std::vector<Token> shown = tokens(number.text);
            ASSERT_EQ(shown.size(), 1U) << number.text;
            EXPECT_TRUE(is_rounding(shown.front(), of_json)) << number.text << " for " << of_json.value;
            const auto [first, last] = held.equal_range(of_json.value);
            held.erase(
                std::find_if(first, last, [&](const auto& one) { return one.second == of_json.unit; }));
        }
        for (size_t i = 0; !number.in_chart && i < number.times; ++i) take(number);
        if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(point, numbers.of_charts().size());
    // What did not run is shown without its zeros.
    for (const auto& [value, unit] : held)
        EXPECT_EQ(value, 0) << value << " " << unit << " is not on the page";
    std::string words;
    words_of(document.child("html").child("body"), words);
    for (const Token& token : tokens(words)) {
        EXPECT_EQ(token.value, std::floor(token.value)) << token.before << token.value << token.after;
        EXPECT_LT(token.value, 100) << "only counts stand outside of tables: " << token.before << token.value
                                    << token.after;
    }
}

TEST(NumbersAgree, MarkdownWithJson) {
    for (unsigned seed = 0; seed < 80; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        expect_markdown_agrees(test::Random(seed, false).report());
        if (HasFatalFailure()) return;
    }
}

TEST(NumbersAgree, HtmlWithJson) {
    for (unsigned seed = 0; seed < 80; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        expect_html_agrees(test::Random(seed, false).report());
        if (HasFatalFailure()) return;
    }
}

// The check itself: what is not a rounding is seen.
TEST(NumbersAgree, TheCheckCanFail) {
    const Number bytes{268435456, "bytes"};
    const auto read = [](const std::string& text) { return tokens(text).at(0); };
    EXPECT_TRUE(is_rounding(read("268.4 MB"), bytes));
    EXPECT_FALSE(is_rounding(read("268.5 MB"), bytes));
    EXPECT_FALSE(is_rounding(read("268.4 GB"), bytes));
    EXPECT_FALSE(is_rounding(read("268.4"), bytes));
    EXPECT_FALSE(is_rounding(read("268.44 MB"), bytes)) << "more decimals than stated";
    EXPECT_TRUE(is_rounding(read("-12.5 %"), {-12.5, "%"}));
    EXPECT_FALSE(is_rounding(read("12.5 %"), {-12.5, "%"}));
    EXPECT_FALSE(is_rounding(read("0 %"), {0.3, "%"}));
    EXPECT_TRUE(is_rounding(read("1,778,384"), {1778384, ""}));
}

// The verdict is one sentence, the same in every format.
TEST(NumbersAgree, TheVerdictIsTheSameSentence) {
    const Report report = test::sample_report();
    const std::string verdict = report.answer.front();
    const auto unwrapped = [](std::string text) {
        for (char& c : text)
            if (c == '\n') c = ' ';
        std::erase(text, '\\');
        return text;
    };
    for (const std::string& text : {render_text(report), render_markdown(report), render_html(report),
                                    render_json(report), render_comment(report, {})})
        EXPECT_NE(unwrapped(text).find(verdict), std::string::npos) << text.substr(0, 800);
}

}  // namespace
}  // namespace attnscope
