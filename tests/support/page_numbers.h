#pragma once
// The numbers of report.html, as its tables show them.
#include <cstdlib>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace attnscope::test {

struct PageNumber {
    std::string text;             ///< "268.4 MB"
    std::optional<double> exact;  ///< what it stands for; absent where the page says the rounded number alone
    size_t times = 1;             ///< for so many rows
    bool in_chart = false;        ///< in the table of a picture
    pugi::xml_node node;
};

inline std::set<std::string> classes_of(const pugi::xml_node& node) {
    std::istringstream words(node.attribute("class").value());
    return {std::istream_iterator<std::string>(words), {}};
}

/// Its own words, without letters of origin, bars and folded parts.
inline std::string words_of_cell(const pugi::xml_node& node) {
    std::string out;
    for (const pugi::xml_node& child : node.children()) {
        const std::string name = child.name();
        if (name == "sup" || name == "svg" || name == "small" || classes_of(child).count("why")) continue;
        out += child.type() == pugi::node_pcdata ? child.value() : words_of_cell(child);
    }
    return out;
}

/// "67,108,864 bytes = ..." -> 67108864; of a formula alone, "= 3 x 4", none.
inline std::optional<double> leading_number(std::string text) {
    const size_t digit = text.starts_with('-') ? 1 : 0;
    if (digit >= text.size() || text[digit] < '0' || text[digit] > '9') return std::nullopt;
    std::erase(text, ',');
    return std::strtod(text.c_str(), nullptr);
}

/// "48 KiB" -> 49152: a number that was not rounded says all.
inline std::optional<double> in_base_unit(const std::string& text) {
    static const std::map<std::string, double> units = {
        {"KiB", 1024},    {"MB", 1e6},      {"GB", 1e9},      {"TB", 1e12},     {"µs", 1e3},
        {"ms", 1e6},      {"s", 1e9},       {"kB/s", 1e3},    {"MB/s", 1e6},    {"GB/s", 1e9},
        {"TB/s", 1e12},   {"kFLOP", 1e3},   {"MFLOP", 1e6},   {"GFLOP", 1e9},   {"TFLOP", 1e12},
        {"PFLOP", 1e15},  {"kFLOP/s", 1e3}, {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12},
        {"PFLOP/s", 1e15}};
    const std::string unsigned_text = text.starts_with('+') ? text.substr(1) : text;
    const auto number = leading_number(unsigned_text);
    if (!number) return std::nullopt;
    size_t at = text.find("\xC2\xA0");
    size_t skip = 2;
    if (at == std::string::npos) at = text.find(' '), skip = 1;
    const auto unit = at == std::string::npos ? units.end() : units.find(text.substr(at + skip));
    return unit == units.end() ? *number : *number * unit->second;
}

inline PageNumber page_number(const pugi::xml_node& node) {
    PageNumber out;
    out.node = node;
    out.text = words_of_cell(node);
    const pugi::xml_node titled = node.select_node(".//span[@title]").node();
    if (titled) out.exact = leading_number(titled.attribute("title").value());
    if (!out.exact) out.exact = in_base_unit(out.text);
    return out;
}

/// Every number in the tables within a node, in order; words and dashes are passed over.
inline std::vector<PageNumber> numbers_within(const pugi::xml_node& within) {
    std::vector<PageNumber> out;
    for (const auto& found : within.select_nodes(".//table | .//span[@class='same']")) {
        const pugi::xml_node node = found.node();
        if (std::string(node.name()) == "span") {
            const std::string words = node.child_value();  // "The same in all 5 rows: ..."
            const size_t digits = words.find_first_of("0123456789");
            for (const auto& value : node.select_nodes("b")) {
                PageNumber number = page_number(value.node());
                number.times = static_cast<size_t>(std::atoi(words.c_str() + digits));
                if (number.exact) out.push_back(number);
            }
            continue;
        }
        const auto classes = classes_of(node);
        const bool evidence = classes.count("evidence") > 0;
        const bool chart = !node.select_node("ancestor::details[@class='data']").node().empty();
        for (const auto& row : node.select_nodes("tbody/tr")) {
            size_t place = 0;
            for (const pugi::xml_node& cell : row.node().children()) {
                ++place;
                if (std::string(cell.name()) != "td") continue;
                const bool words = cell.attribute("class") || classes.count("t" + std::to_string(place)) > 0;
                if (evidence ? place != 2 : words && !classes_of(cell).count("v")) continue;
                PageNumber number = page_number(cell);
                if (!number.exact) continue;  // a dash
                number.in_chart = chart;
                out.push_back(number);
            }
        }
    }
    return out;
}

}  // namespace attnscope::test
