#pragma once
// Checks JSON against schema/run.schema.json without a JSON Schema library.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "lines.h"

namespace attnscope::test {

using nlohmann::json;

inline json schema() {
    return json::parse(
        test::read_file(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/schema/run.schema.json"));
}

inline bool fits(const json& rule, const json& value) {
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
inline std::string fault(const json& all, const json& line, const std::string& what = {}) {
    const std::string type = what.empty() ? line.value("type", "") : what;
    if (!all["$defs"].contains(type)) return "unknown type " + type;
    const json& record = all["$defs"][type];
    for (const char* list : {"required", "recorded"})
        for (const json& key : record.value(list, json::array()))
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

}  // namespace attnscope::test
