// render_json against reports/report.schema.json, by the few keywords that the schema uses.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "attnscope/render.h"
#include "sample_report.h"

namespace attnscope {
namespace {

using Json = nlohmann::json;

class Schema {
  public:
    explicit Schema(Json root) : root_(std::move(root)) {}

    /// Empty when `json` is valid; else where it is not, and why.
    std::string error(const Json& json) const { return check(json, root_, "$"); }

  private:
    std::string check(const Json& json, const Json& schema, const std::string& at) const {
        if (schema.contains("$ref")) {
            const std::string ref = schema["$ref"];
            if (std::string problem = check(json, root_.at(Json::json_pointer(ref.substr(1))), at);
                !problem.empty())
                return problem;
        }
        if (schema.contains("const") && json != schema["const"])
            return at + " is not " + schema["const"].dump();
        if (schema.contains("enum") &&
            std::find(schema["enum"].begin(), schema["enum"].end(), json) == schema["enum"].end())
            return at + " is " + json.dump();
        if (schema.contains("type") && !has_type(json, schema["type"]))
            return at + " is not a " + std::string(schema["type"]);
        if (schema.contains("required"))
            for (const std::string key : schema["required"])
                if (!json.contains(key)) return at + " lacks " + key;
        if (schema.contains("oneOf")) {
            int fits = 0;
            std::string why;
            for (const Json& one : schema["oneOf"]) {
                const std::string problem = check(json, one, at);
                fits += problem.empty();
                why += problem + "; ";
            }
            if (fits != 1) return at + " fits " + std::to_string(fits) + " of: " + why;
        }
        if (json.is_array() && schema.contains("items"))
            for (size_t i = 0; i < json.size(); ++i)
                if (auto problem = check(json[i], schema["items"], at + "[" + std::to_string(i) + "]");
                    !problem.empty())
                    return problem;
        if (json.is_object()) return check_members(json, schema, at);
        return {};
    }

    std::string check_members(const Json& json, const Json& schema, const std::string& at) const {
        for (const auto& [key, value] : json.items()) {
            std::string problem;
            if (schema.contains("properties") && schema["properties"].contains(key))
                problem = check(value, schema["properties"][key], at + "." + key);
            else if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object())
                problem = check(value, schema["additionalProperties"], at + "." + key);
            else if (schema.contains("additionalProperties"))
                problem = at + " has " + key;
            if (!problem.empty()) return problem;
        }
        return {};
    }

    static bool has_type(const Json& json, const std::string& type) {
        return type == "object"    ? json.is_object()
               : type == "array"   ? json.is_array()
               : type == "string"  ? json.is_string()
               : type == "number"  ? json.is_number()
               : type == "integer" ? json.is_number_integer()
                                   : json.is_boolean();
    }

    Json root_;
};

Schema report_schema() {
    const char* root = std::getenv("ATTNSCOPE_SOURCE_DIR");
    std::ifstream file(std::string(root ? root : ".") + "/reports/report.schema.json");
    return Schema(Json::parse(file));
}

TEST(JsonSchema, HoldsForEveryKindOfReport) {
    const Schema schema = report_schema();
    for (const Report& report : {Report{}, test::sample_report(), test::measured_report(),
                                 test::large_report(), test::hostile_report("<\xff&")})
        EXPECT_EQ(schema.error(Json::parse(render_json(report))), "");
}

TEST(JsonSchema, CanFail) {
    const Schema schema = report_schema();
    const Json good = Json::parse(render_json(test::sample_report()));
    const auto broken = [&](const std::function<void(Json&)>& change) {
        Json json = good;
        change(json);
        return schema.error(json);
    };
    EXPECT_NE(broken([](Json& j) { j["version"] = "3.0"; }), "");
    EXPECT_NE(broken([](Json& j) { j.erase("findings"); }), "");
    EXPECT_NE(broken([](Json& j) { j["surprise"] = 1; }), "");
    EXPECT_NE(broken([](Json& j) { j["implementations"]["rows"][0]["cells"]["copies"]["value"] = nullptr; }),
              "");
    EXPECT_NE(
        broken([](Json& j) { j["implementations"]["rows"][0]["cells"]["copies"]["absent"] = "and there"; }),
        "");
    EXPECT_NE(broken([](Json& j) { j["findings"][0]["evidence"][0]["value"].erase("unit"); }), "");
}

}  // namespace
}  // namespace attnscope
