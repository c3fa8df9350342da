// The baseline file: what is written is read back, and what is broken is refused with its place.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "attnscope/error.h"
#include "sample.h"

namespace attnscope::gate {
namespace {

using namespace test;

std::string error_of(const std::string& json) {
    try {
        read_baseline(json, "b.json");
    } catch (const Error& e) {
        EXPECT_EQ(e.exit(), Exit::bad_input);
        return e.what();
    }
    return "";
}

std::string changed(const std::function<void(nlohmann::json&)>& change) {
    auto json = nlohmann::json::parse(to_json({"why", small_facts()}));
    change(json);
    return json.dump();
}

TEST(Baseline, ReadsBackWhatItWrote) {
    for (const GateFacts& facts : {small_facts(), blog_facts(), join({small_facts(), small_facts()})}) {
        const std::string json = to_json({"first", facts});
        const Baseline back = read_baseline(json, "b.json");
        EXPECT_EQ(back.reason, "first");
        EXPECT_EQ(to_json(back), json);
        EXPECT_TRUE(difference({"", facts}, back).empty());
        EXPECT_EQ(back.facts.runs, facts.runs);
    }
}

TEST(Baseline, IsSortedSmallAndWithoutDates) {
    const std::string json = to_json({"first", blog_facts()});
    EXPECT_EQ(json, to_json({"first", blog_facts()})) << "two runs of one program write one file";
    EXPECT_LT(json.size(), 60000u);
    EXPECT_EQ(json.find("202"), std::string::npos) << "a date changes with every run";
    EXPECT_LT(json.find("\"environment\""), json.find("\"implementations\""));
    EXPECT_LT(json.find("\"naive\""), json.find("\"sdpa_flash\""));
}

TEST(Baseline, BrokenFilesAreRefusedWithTheirPlace) {
    EXPECT_NE(error_of("").find("not JSON"), std::string::npos);
    EXPECT_NE(error_of("{").find("byte"), std::string::npos);
    EXPECT_NE(error_of("[]").find("not a baseline"), std::string::npos);
    EXPECT_NE(error_of("{}").find("not a baseline"), std::string::npos);
    EXPECT_NE(error_of(changed([](auto& j) { j["version"] = "2.0"; })).find("version 2.0"),
              std::string::npos);
    EXPECT_NE(error_of(changed([](auto& j) { j["version"] = 1; })).find("version"), std::string::npos);
    EXPECT_NE(error_of(changed([](auto& j) {
                  j["implementations"]["fused"]["launches"] = "one";
              })).find("implementations.fused.launches"),
              std::string::npos);
    EXPECT_NE(
        error_of(changed([](auto& j) { j["implementations"]["fused"]["launches"] = -1; })).find("from 0 up"),
        std::string::npos);
    EXPECT_NE(
        error_of(changed([](auto& j) { j["implementations"]["fused"]["lunches"] = 1; })).find("lunches"),
        std::string::npos);
    EXPECT_NE(error_of(changed([](auto& j) {
                  auto& parts = j["implementations"]["plain"]["parts"];
                  parts.push_back(parts[0]);
              })).find("twice"),
              std::string::npos);
    EXPECT_NE(
        error_of(changed([](auto& j) { j["implementations"] = nlohmann::json::object(); })).find("empty"),
        std::string::npos);
    EXPECT_NE(error_of(changed([](auto& j) { j["matched_on"]["ground"] = "moon"; })).find("ground"),
              std::string::npos);
    EXPECT_THROW(load_baseline("/nonexistent/b.json"), Error);
    EXPECT_THROW(load_baseline("/"), Error);
}

TEST(Baseline, AnyCutOrDamagedFileIsReadOrRefusedNeverMore) {
    const std::string whole = to_json({"first", small_facts()});
    for (size_t n = 0; n + 2 < whole.size(); n += 7) EXPECT_NE(error_of(whole.substr(0, n)), "") << n;
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
        std::string damaged = whole;
        for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
        error_of(damaged);
    }
}

TEST(Baseline, HostileNamesSurvive) {
    GateFacts facts = small_facts();
    facts.subjects[0].name = "a\"b\\\x01\xff </script>";
    const Baseline back = read_baseline(to_json({"\xff", facts}), "b.json");
    EXPECT_EQ(back.facts.subjects.size(), 2u);
}

TEST(Baseline, DifferenceSaysWhatReplacesWhat) {
    GateFacts after = small_facts();
    measurement(after, "plain", "launches").samples = {6};
    part_measurement(after, "fused", "flash_fwd_kernel<64>", "occupancy").samples = {12.5};
    after.inputs[1].value = "fp32";
    subject(after, "plain").parts.pop_back();
    const std::vector<std::string> lines = difference({"", small_facts()}, {"", after});
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[0], "input dtype: bf16 -> fp32");
    EXPECT_EQ(
        lines[1],
        "fused kernel `flash_fwd_kernel` in aten::scaled_dot_product_attention occupancy: 25% -> 12.5%");
    EXPECT_EQ(lines[2], "plain launches: 5 -> 6");
    EXPECT_EQ(lines[3], "plain copy `DtoD` in aten::masked_fill: gone");
}

TEST(Baseline, SchemaNamesEveryKeyThatIsWritten) {
    const char* source = std::getenv("ATTNSCOPE_SOURCE_DIR");
    ASSERT_TRUE(source);
    std::ifstream in(std::string(source) + "/schema/baseline.schema.json");
    const auto schema = nlohmann::json::parse(in);
    const auto baseline = nlohmann::json::parse(to_json({"x", blog_facts()}));
    for (const auto& [key, value] : baseline.items()) EXPECT_TRUE(schema["properties"].contains(key)) << key;
    for (const std::string key : schema["required"]) EXPECT_TRUE(baseline.contains(key)) << key;
    for (const auto& [name, one] : baseline["implementations"].items())
        for (const auto& [key, value] : one.items())
            EXPECT_TRUE(schema["$defs"]["implementation"]["properties"].contains(key)) << key;
}

}  // namespace
}  // namespace attnscope::gate
