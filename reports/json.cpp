#include "json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

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

Json json_of(const Value& value) {
    Json json;
    if (is_shown(value))
        json["value"] = number(*value.number);
    else
        json["absent"] = absent_reason(value);
    json["unit"] = to_string(value.unit);
    json["source"] = to_string(value.provenance.source);
    json["ground"] = to_string(value.provenance.ground);
    if (!value.formula.empty()) json["formula"] = value.formula;
    return json;
}

Json json_of(const Cell& cell) {
    Json json;
    if (cell.text.empty()) {
        json = json_of(cell.value);
        if (cell.bar_of > 0) json["bar_of"] = number(cell.bar_of);
        if (!cell.full_text.empty()) json["full_text"] = cell.full_text;
    } else {
        json["text"] = cell.text;
        if (!cell.full_text.empty()) json["full_text"] = cell.full_text;
    }
    return json;
}

Json json_of(const Table& table) {
    Json columns = Json::array(), rows = Json::array();
    std::vector<std::string> ids;
    for (const Column& column : table.columns) {
        std::string id = column.id.empty() ? "column" : column.id;
        while (std::find(ids.begin(), ids.end(), id) != ids.end()) id += '_';  // cells are keyed by it
        ids.push_back(id);
        Json json{
            {"id", id}, {"title", column.title}, {"meaning", column.meaning}, {"numeric", column.numeric}};
        if (!column.bar_scale.empty()) json["bar_scale"] = column.bar_scale;
        columns.push_back(std::move(json));
    }
    for (const Row& row : table.rows) {
        const std::string status = row.status == RowStatus::normal ? "normal" : word(row.status);
        Json json{{"id", row.id}, {"status", status}};
        if (!row.note.empty()) json["note"] = row.note;
        Json cells = Json::object();
        for (size_t i = 0; i < ids.size(); ++i)
            cells[ids[i]] = json_of(i < row.cells.size() ? row.cells[i] : Cell{});
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

Json json_of(const Chart& chart) {
    Json points = Json::array();
    for (const Chart::Point& point : chart.points) {
        Json json{{"label", point.label}, {"series", point.series}};
        if (std::isfinite(point.x)) json["x"] = number(point.x);
        if (chart.kind == Chart::Kind::scatter && std::isfinite(point.y)) json["y"] = number(point.y);
        json["measured"] = point.measured;
        points.push_back(std::move(json));
    }
    Json json{
        {"id", chart.id}, {"title", chart.title}, {"sentence", chart.sentence}, {"kind", word(chart.kind)}};
    json["x"] = {{"title", chart.x_title},
                 {"unit", to_string(chart.x_unit)},
                 {"full", number(chart.x_full)},
                 {"scale", chart.x_scale},
                 {"log", chart.x_log}};
    if (chart.kind == Chart::Kind::scatter)
        json["y"] = {
            {"title", chart.y_title}, {"unit", to_string(chart.y_unit)}, {"full", number(chart.y_full)}};
    json["points"] = std::move(points);
    return json;
}

Json json_of(const std::vector<Fact>& facts) {
    Json list = Json::array();
    for (const Fact& fact : facts) list.push_back({{"label", fact.label}, {"value", fact.value}});
    return list;
}

Json json_of(const Section& section);

template <class Item>
Json list_of(const std::vector<Item>& items) {
    Json list = Json::array();
    for (const Item& item : items) list.push_back(json_of(item));
    return list;
}

Json json_of(const Section& section) {
    return {{"id", section.id},
            {"title", section.title},
            {"sentence", section.sentence},
            {"tables", list_of(section.tables)},
            {"charts", list_of(section.charts)}};
}

Json json_of(const Report& report) {
    Json json{{"schema", "attnscope-report"}, {"version", "1.0"}};
    json["title"] = report.title;
    json["predicted"] = report.predicted;
    json["banner"] = report.banner;
    json["exact"] = report.exact;
    json["not_exact"] = report.not_exact;
    json["strip"] = json_of(report.strip);
    json["answer"] = report.answer;
    json["implementations"] = json_of(report.implementations);
    json["notices"] = list_of(report.notices);
    json["findings"] = list_of(report.findings);
    json["sections"] = list_of(report.sections);
    json["cannot_tell"] = report.cannot_tell;
    json["checks_passed"] = json_of(report.checks_passed);
    json["methods"] = json_of(report.methods);
    json["environment"] = json_of(report.environment);
    json["commands"] = report.commands;
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

std::string dump(const Report& report, int indent) {
    return with_numbers_for_unsafe(json_of(report).dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string embeddable_json(const Report& report) {
    std::string out;
    for (const char c : dump(report, -1)) {
        switch (c) {
            case '<':
                out += "\\u003c";
                break;
            case '>':
                out += "\\u003e";
                break;
            case '&':
                out += "\\u0026";
                break;
            default:
                out += c;
        }
    }
    return out;
}

}  // namespace reports

std::string render_json(const Report& report) {
    return reports::dump(report, 1) + "\n";
}

}  // namespace attnscope
