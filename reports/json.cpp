#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "attnscope/render.h"
#include "format.h"
#include "unicode.h"
#include "words.h"

namespace attnscope {
namespace reports {
namespace {

using Json = nlohmann::ordered_json;  // in reading order, the same every time

Json number(double value) {
    constexpr double exact = 9007199254740992;  // 2^53
    if (value >= -exact && value <= exact && value == static_cast<double>(static_cast<int64_t>(value)))
        return static_cast<int64_t>(value);
    return value;
}

void add_origin(Json& json, const Value& value) {
    json["unit"] = to_string(value.unit);
    json["source"] = to_string(value.provenance.source);
    json["ground"] = to_string(value.provenance.ground);
}

/// `by_column`: its column says unit, source and ground.
Json json_of(const Value& value, bool by_column = false) {
    Json json;
    if (is_shown(value))
        json["value"] = number(*value.number);
    else
        json["absent"] = absent_reason(value);
    if (!by_column) add_origin(json, value);
    if (!value.formula.empty()) json["formula"] = value.formula;
    return json;
}

bool same_origin(const Value& a, const Value& b) {
    return a.unit == b.unit && a.provenance.source == b.provenance.source &&
           a.provenance.ground == b.provenance.ground;
}

/// A value of a column of which all numbers have the same unit, source and ground, or, where it has no
/// numbers, all values; nullptr where they differ, or where there is none.
const Value* common_origin(const Table& table, size_t column) {
    const Value *number = nullptr, *absent = nullptr;
    bool absent_differ = false;
    for (const Row& row : table.rows) {
        if (column >= row.cells.size() || !row.cells[column].text.empty()) continue;
        const Value& value = row.cells[column].value;
        const Value*& first = is_shown(value) ? number : absent;
        if (!first) first = &value;
        if (same_origin(value, *first)) continue;
        if (is_shown(value)) return nullptr;
        absent_differ = true;
    }
    return number ? number : absent_differ ? nullptr : absent;
}

/// Kernel names and chains of operations are long, and many cells have the same one: each is written once.
class Texts {
  public:
    size_t place_of(const std::string& text) {
        const auto [it, fresh] = places_.try_emplace(text, list_.size());
        if (fresh) list_.push_back(text);
        return it->second;
    }
    Json take() { return std::move(list_); }

  private:
    std::map<std::string, size_t> places_;
    Json list_ = Json::array();
};

Json json_of(const Cell& cell, bool by_column, Texts& texts) {
    Json json;
    if (cell.text.empty()) {
        json = json_of(cell.value, by_column);
        if (cell.bar_of > 0) json["bar_of"] = number(cell.bar_of);
    } else {
        json["text"] = cell.text;
    }
    if (!cell.full_text.empty()) json["full_text_at"] = texts.place_of(cell.full_text);
    return json;
}

/// `explained`: columns whose meaning an earlier table has told.
Json json_of(const Table& table, Texts& texts, std::set<std::string>& explained) {
    Json columns = Json::array(), rows = Json::array();
    std::vector<std::string> ids;
    std::vector<bool> by_column;
    for (const Column& column : table.columns) {
        std::string id = column.id.empty() ? "column" : column.id;
        while (std::find(ids.begin(), ids.end(), id) != ids.end()) id += '_';  // cells are keyed by it
        ids.push_back(id);
        Json json{{"id", id}, {"title", column.title}};
        if (!column.meaning.empty() && explained.insert(id + '\n' + column.meaning).second)
            json["meaning"] = column.meaning;
        json["numeric"] = column.numeric;
        if (!column.bar_scale.empty()) json["bar_scale"] = column.bar_scale;
        if (column.difference) json["difference"] = true;
        const Value* common = common_origin(table, by_column.size());
        if (common) add_origin(json, *common);
        by_column.push_back(common != nullptr);
        columns.push_back(std::move(json));
    }
    for (const Row& row : table.rows) {
        const std::string status = row.status == RowStatus::normal ? "normal" : word(row.status);
        Json json{{"id", row.id}, {"status", status}};
        if (!row.note.empty()) json["note"] = row.note;
        Json cells = Json::object();
        for (size_t i = 0; i < ids.size(); ++i)
            cells[ids[i]] = json_of(i < row.cells.size() ? row.cells[i] : Cell{}, by_column[i], texts);
        json["cells"] = std::move(cells);
        rows.push_back(std::move(json));
    }
    return {{"id", table.id},
            {"title", table.title},
            {"sentence", table.sentence},
            {"columns", std::move(columns)},
            {"rows", std::move(rows)}};
}

Json json_of(const Notice& notice) {
    return {{"level", notice.level == NoticeLevel::info        ? "info"
                      : notice.level == NoticeLevel::data_loss ? "data_loss"
                                                               : word(notice.level)},
            {"code", notice.code},
            {"message", notice.message},
            {"remedy", notice.remedy},
            {"count", notice.count}};
}

Json json_of(const Finding& finding) {
    Json evidence = Json::array();
    for (const Evidence& item : finding.evidence)
        evidence.push_back(
            {{"label", item.label}, {"value", json_of(item.value)}, {"compared_with", item.compared_with}});
    return {{"id", finding.id},
            {"subject", finding.subject},
            {"severity", word(finding.severity)},
            {"claim", finding.claim},
            {"evidence", std::move(evidence)},
            {"counter_evidence", finding.counter_evidence},
            {"next_step", finding.next_step},
            {"nsight_compute_would_say", finding.nsight_compute_would_say}};
}

/// The origin that all numbers of an axis have; nullptr where they differ, or where there is none.
const Value* common_origin(const Chart& chart, Value Chart::Point::*axis) {
    const Value* first = nullptr;
    for (const Chart::Point& point : chart.points) {
        const Value& value = point.*axis;
        if (!is_shown(value)) continue;
        if (!first) first = &value;
        if (!same_origin(value, *first)) return nullptr;
    }
    return first;
}

Json json_of(const Chart::Axis& axis, const Value* origin) {
    Json json{{"title", axis.title}, {"unit", to_string(axis.unit)}};
    if (origin) {
        json["source"] = to_string(origin->provenance.source);
        json["ground"] = to_string(origin->provenance.ground);
    }
    if (axis.from != 0) json["from"] = number(axis.from);
    json["full"] = number(axis.full);
    json["scale"] = axis.scale;
    json["log"] = axis.log;
    return json;
}

/// "x": 12.5, or "x_absent": the reason; "x_from" where the axis does not say it.
void add_coordinate(Json& json, const std::string& name, const Value& value, bool by_axis) {
    if (!is_shown(value)) {
        if (!value.absent.empty() || value.number) json[name + "_absent"] = absent_reason(value);
        return;
    }
    json[name] = number(*value.number);
    if (!by_axis)
        json[name + "_from"] = {{"source", to_string(value.provenance.source)},
                                {"ground", to_string(value.provenance.ground)}};
}

Json json_of(const Chart::Line& line) {
    Json json{{"label", line.label}};
    if (is_shown(line.height)) json["height"] = json_of(line.height);
    for (const auto& [name, value] :
         {std::pair{"x1", line.x1}, {"y1", line.y1}, {"x2", line.x2}, {"y2", line.y2}})
        if (std::isfinite(value)) json[name] = number(value);
    return json;
}

Json json_of(const Chart& chart);

template <class Item>
Json list_of(const std::vector<Item>& items) {
    Json list = Json::array();
    for (const Item& item : items) list.push_back(json_of(item));
    return list;
}

Json json_of(const Chart& chart) {
    const Value *x = common_origin(chart, &Chart::Point::x), *y = common_origin(chart, &Chart::Point::y);
    Json points = Json::array();
    for (const Chart::Point& point : chart.points) {
        Json json;
        if (!point.group.empty()) json["group"] = point.group;
        json["label"] = point.label;
        json["series"] = point.series;
        add_coordinate(json, "x", point.x, x != nullptr);
        add_coordinate(json, "y", point.y, y != nullptr);
        json["measured"] = point.measured;
        if (!point.note.empty()) json["note"] = point.note;
        points.push_back(std::move(json));
    }
    Json json{
        {"id", chart.id}, {"title", chart.title}, {"sentence", chart.sentence}, {"kind", word(chart.kind)}};
    json["x"] = json_of(chart.x, x);
    const bool any_y = std::any_of(chart.points.begin(), chart.points.end(),
                                   [](const Chart::Point& point) { return is_shown(point.y); });
    if (any_y || y || !chart.y.title.empty()) json["y"] = json_of(chart.y, y);  // the unit of their y
    if (!chart.series.empty()) json["series_order"] = chart.series;
    if (!chart.shaded.empty()) json["shaded"] = chart.shaded;
    if (!chart.lines.empty()) json["lines"] = list_of(chart.lines);
    json["points"] = std::move(points);
    return json;
}

Json json_of(const std::vector<Fact>& facts) {
    Json list = Json::array();
    for (const Fact& fact : facts) list.push_back({{"label", fact.label}, {"value", fact.value}});
    return list;
}

Json json_of(const Section& section, Texts& texts) {
    Json tables = Json::array();
    std::set<std::string> explained;
    for (const Table& table : section.tables) tables.push_back(json_of(table, texts, explained));
    return {{"id", section.id},
            {"title", section.title},
            {"sentence", section.sentence},
            {"tables", std::move(tables)},
            {"charts", list_of(section.charts)}};
}

Json json_of(const Report& report) {
    Json json{{"schema", "attnscope-report"}, {"version", "2.1"}};
    Texts texts;
    const auto table = [&](const Table& of) {
        std::set<std::string> explained;
        return json_of(of, texts, explained);
    };
    json["title"] = report.title;
    json["predicted"] = report.predicted;
    json["banner"] = report.banner;
    json["exact"] = report.exact;
    json["not_exact"] = report.not_exact;
    json["strip"] = json_of(report.strip);
    json["answer"] = report.answer;
    json["implementations"] = table(report.implementations);
    json["notices"] = list_of(report.notices);
    json["findings"] = list_of(report.findings);
    Json sections = Json::array();
    for (const Section& section : report.sections) sections.push_back(json_of(section, texts));
    json["sections"] = std::move(sections);
    json["cannot_tell"] = report.cannot_tell;
    json["checks_passed"] = json_of(report.checks_passed);
    json["methods"] = table(report.methods);
    json["environment"] = json_of(report.environment);
    json["commands"] = report.commands;
    json["texts"] = texts.take();
    return json;
}

/// What reorders or hides text, and what XML forbids, is as dangerous in a terminal that shows this file:
/// written by its number. Such characters are inside strings only; JSON's own line ends stay.
std::string with_numbers_for_unsafe(const std::string& json) {
    std::string out;
    out.reserve(json.size());
    std::array<char, 8> escape;
    const auto append = [&](unsigned unit) {
        std::snprintf(escape.data(), escape.size(), "\\u%04x", unit & 0xFFFF);
        out += escape.data();
    };
    for (size_t at = 0; at < json.size();) {
        const size_t start = at;
        const char32_t c = next_code_point(json, at);
        if (c == '\n' || !is_unsafe(c)) {
            out.append(json, start, at - start);
        } else if (c < 0x10000) {
            append(static_cast<unsigned>(c));
        } else {
            append(static_cast<unsigned>(0xD800 + ((c - 0x10000) >> 10)));
            append(static_cast<unsigned>(0xDC00 + ((c - 0x10000) & 0x3FF)));
        }
    }
    return out;
}

std::string dump(const Report& report, bool indented) {
    return with_numbers_for_unsafe(
        json_of(report).dump(indented ? 1 : -1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

}  // namespace reports

std::string render_json(const Report& report, bool indented) {
    return reports::dump(report, indented) + "\n";
}

}  // namespace attnscope
