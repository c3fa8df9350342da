// Raw counter data to values: images of the virtual GPU's libcupti, evaluated through the same calls as a
// real GPU's. Right values: the numbers put into the images; schema/README.md, "Counters".
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "attnscope/counter_host.h"
#include "attnscope/error.h"
#include "collectors/cupti/counter_files.h"
#include "collectors/virtual_gpu/cupti/counter_image.h"
#include "libraries.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::vector<std::string> kMetrics = {"dram__bytes_read.sum", "sm__cycles_active.avg"};

/// A decoded image with one range for each row of values, named as auto range names them.
std::string image_of(const std::vector<std::vector<double>>& ranges, std::vector<std::string> names = {}) {
    const vgpu::cupti::ImageShape shape{kMetrics, 8, 8};
    std::string bytes(vgpu::cupti::image_bytes(shape), '\0');
    auto* data = reinterpret_cast<uint8_t*>(bytes.data());
    vgpu::cupti::initialise_image(data, shape);
    vgpu::cupti::CounterImage image;
    EXPECT_EQ(image.read(data, bytes.size()), vgpu::cupti::ImageState::good);
    for (size_t i = 0; i < ranges.size(); ++i)
        EXPECT_TRUE(image.add({i < names.size() ? names[i] : std::to_string(i)}, ranges[i]));
    image.write(data);
    return bytes;
}

class Evaluate : public testing::Test {
  protected:
    void SetUp() override {
        const std::string library =
            environment("ATTNSCOPE_BINARY_DIR") + "/lib/attnscope/virtual_gpu/libcupti.so.13";
        if (cupti_13().empty() || !fs::exists(library)) GTEST_SKIP() << "no libcupti, or no virtual GPU";
        setenv("ATTNSCOPE_REAL_CUPTI", cupti_13().c_str(), 1);
        folder = fs::temp_directory_path() / ("attnscope-evaluate-" + std::to_string(getpid()));
        fs::create_directories(folder);
        host = std::make_unique<CounterHost>(library, host_tool());
        key = config_key("GH100", host->version(), 7);
        host->plan("GH100", kMetrics, {}, folder / (key + ".config"));
        bytes.assign(kDataMagic, sizeof kDataMagic);
        put(DataKind::config, 0, key);
    }
    void TearDown() override { fs::remove_all(folder); }

    void put(DataKind kind, uint64_t id, const std::string& payload, uint32_t expected = 1,
             uint32_t flags = 0, DataOf of = DataOf::launch, uint32_t dropped = 0) {
        DataHeader header{};
        header.record_magic = kRecordMagic;
        header.kind = kind;
        header.of = of;
        header.expected = expected;
        header.id = id;
        header.dropped = dropped;
        header.flags = flags;
        header.bytes = payload.size();
        header.payload_crc32 = crc32(payload.data(), payload.size());
        header.header_crc32 = crc32(&header, sizeof header);
        bytes.append(reinterpret_cast<const char*>(&header), sizeof header).append(payload);
        bytes.resize((bytes.size() + 7) / 8 * 8);
    }

    Evaluated evaluate() {
        std::ofstream(folder / "host-1-2.data", std::ios::binary) << bytes;
        const Evaluated done = host->evaluate(folder / "host-1-2.data", folder / "host-1-2.counters.jsonl");
        std::ifstream file(folder / "host-1-2.counters.jsonl");
        lines.clear();
        for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
        return done;
    }
    std::vector<Json> of_type(const char* type) const {
        std::vector<Json> some;
        std::copy_if(lines.begin(), lines.end(), std::back_inserter(some),
                     [&](const Json& l) { return l["type"] == type; });
        return some;
    }
    /// "7:5 7:6" as correlation:value, graph nodes as 7.2:5; "-" for an absent one.
    std::string values() const {
        std::string text;
        for (const Json& line : of_type("counter")) {
            text += line.contains("range") ? "r" + line["range"].dump() : line["correlation"].dump();
            if (line.contains("graph_node")) text += "." + line["graph_node"].dump();
            text += line.contains("value") ? ":" + line["value"].dump() : ":-";
            text += "m" + line["metric"].dump() + " ";
        }
        return text;
    }
    /// "code x count" of all diagnostics.
    std::string diagnostics() const {
        std::string text;
        for (const Json& line : of_type("diagnostic"))
            text += line["code"].get<std::string>() + " x " + line["count"].dump() + " ";
        return text;
    }

    fs::path folder;
    std::unique_ptr<CounterHost> host;
    std::string key, bytes;
    std::vector<Json> lines;
};

TEST_F(Evaluate, OneLaunchOneRange) {
    put(DataKind::image, 7, image_of({{1234, 0.5}}));
    put(DataKind::image, 9, image_of({{0, 1e20}}));
    const Evaluated done = evaluate();
    EXPECT_EQ(done.images, 2U);
    EXPECT_EQ(done.counters, 4U);
    EXPECT_EQ(done.unjoined, 0U);
    EXPECT_EQ(done.ground, "fixture");
    EXPECT_EQ(values(), "7:1234m1 7:0.5m2 9:0m1 9:1e+20m2 ");
    EXPECT_EQ(diagnostics(), "");
    const Json& head = lines.front();
    EXPECT_EQ(head["type"], "counters");
    EXPECT_EQ(head["schema"], "attnscope-counters");
    EXPECT_EQ(head["process"], "host-1-2.jsonl");
    EXPECT_EQ(head["ground"], "fixture");
    EXPECT_EQ(head["cupti"], host->version());
    EXPECT_EQ(head["data_crc32"], crc32(bytes.data(), bytes.size()));
    ASSERT_EQ(of_type("metric").size(), 2U);
    EXPECT_EQ(of_type("metric")[0],
              (Json{{"type", "metric"}, {"id", 1}, {"name", "dram__bytes_read.sum"}, {"chip", "GH100"}}));
    EXPECT_EQ(lines.back(), (Json{{"type", "end"}, {"images", 2}, {"counters", 4}, {"unjoined", 0}}));
}

TEST_F(Evaluate, WhatIsNoNumberIsAbsent) {
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    put(DataKind::image, 7, image_of({{nan, inf}}));
    EXPECT_EQ(evaluate().counters, 2U);
    EXPECT_EQ(of_type("counter")[0]["absent"], "CUPTI gave no value");
    EXPECT_EQ(of_type("counter")[1]["absent"], "CUPTI gave no finite value");
    EXPECT_EQ(diagnostics(), "");
}

TEST_F(Evaluate, KernelsOfAGraphAreNumberedInTheOrderOfExecution) {
    // Range names tell the order; ten comes after two.
    put(DataKind::image, 7, image_of({{30, 3}, {10, 1}, {20, 2}}, {"10", "1", "2"}), 3, kNodesJoinable);
    EXPECT_EQ(evaluate().images, 1U);
    EXPECT_EQ(values(), "7.1:10m1 7.1:1m2 7.2:20m1 7.2:2m2 7.3:30m1 7.3:3m2 ");
}

TEST_F(Evaluate, WithoutOneOrderNothingIsJoined) {
    put(DataKind::image, 7, image_of({{1, 1}, {2, 2}}), 2);
    put(DataKind::image, 8, image_of({{1, 1}, {2, 2}}, {"0", "zero"}), 2, kNodesJoinable);
    put(DataKind::image, 9, image_of({{1, 1}, {2, 2}}, {"0", "0"}), 2, kNodesJoinable);
    const Evaluated done = evaluate();
    EXPECT_EQ(done.images, 0U);
    EXPECT_EQ(done.unjoined, 6U);
    EXPECT_EQ(diagnostics(), "counters-graph-order x 3 ");
    EXPECT_EQ(values().find(":1"), std::string::npos) << values();
}

TEST_F(Evaluate, AnotherNumberOfRangesIsNobodysValue) {
    put(DataKind::image, 7, image_of({{1, 1}, {2, 2}}));
    put(DataKind::image, 8, image_of({}));
    put(DataKind::image, 9, image_of({{3, 3}}), 2, kNodesJoinable);
    put(DataKind::image, 10, image_of({{4, 4}}));
    const Evaluated done = evaluate();
    EXPECT_EQ(done.images, 1U);
    EXPECT_EQ(done.unjoined, 3U);
    EXPECT_EQ(values(), "7:-m1 7:-m2 8:-m1 8:-m2 9.1:-m1 9.1:-m2 9.2:-m1 9.2:-m2 10:4m1 10:4m2 ");
    EXPECT_EQ(diagnostics(), "counters-unjoined x 3 ");
    EXPECT_EQ(of_type("counter")[0]["absent"], "CUPTI counted 2 ranges for 1 kernels");
    const Json diagnostic = of_type("diagnostic")[0];
    EXPECT_EQ(diagnostic["severity"], "data_loss");
    EXPECT_NE(diagnostic["message"].get<std::string>().find("3 launches or ranges, first launch 7"),
              std::string::npos);
    EXPECT_FALSE(diagnostic["remedy"].get<std::string>().empty());
}

TEST_F(Evaluate, DroppedRangesAreNobodysValue) {
    put(DataKind::image, 7, image_of({{1, 1}}), 1, 0, DataOf::launch, 3);
    EXPECT_EQ(evaluate().images, 0U);
    EXPECT_EQ(values(), "7:-m1 7:-m2 ");
    EXPECT_EQ(diagnostics(), "counters-dropped x 1 ");
}

TEST_F(Evaluate, RangesOfTheProgram) {
    put(DataKind::image, 3, image_of({{1, 2}}, {"attnscope.iteration"}), 0, 0, DataOf::range);
    put(DataKind::image, 4, image_of({{1, 2}, {3, 4}}), 0, 0, DataOf::range);
    evaluate();
    EXPECT_EQ(values(), "r3:1m1 r3:2m2 r4:-m1 r4:-m2 ");
    EXPECT_EQ(diagnostics(), "counters-unjoined x 1 ");
}

TEST_F(Evaluate, DamagedImagesCostOnlyThemselves) {
    std::string undecodable = image_of({{1, 1}});
    vgpu::cupti::damage_image(reinterpret_cast<uint8_t*>(undecodable.data()));
    put(DataKind::image, 7, undecodable);
    put(DataKind::image, 8, image_of({{1, 1}}));
    bytes[bytes.size() - 9] = static_cast<char>(bytes[bytes.size() - 9] ^ 1);  // differs from its checksum
    put(DataKind::image, 9, image_of({{5, 6}}));
    EXPECT_EQ(evaluate().images, 1U);
    EXPECT_EQ(values(), "7:-m1 7:-m2 8:-m1 8:-m2 9:5m1 9:6m2 ");
    EXPECT_EQ(diagnostics(), "counters-undecodable x 1 counters-undecodable x 1 ");
}

/// The real library is asked about what is not the stand-in's: it may answer an error or crash.
TEST_F(Evaluate, WhatCuptiCrashesOverCostsOnlyItself) {
    put(DataKind::image, 7, image_of({{1, 2}}));
    uint64_t id = 8;
    for (const char fill : {'\0', '\x7f', '\xff'})
        for (const size_t size : {0U, 1U, 64U, 100'000U}) put(DataKind::image, id++, std::string(size, fill));
    put(DataKind::image, 99, image_of({{3, 4}}));
    EXPECT_EQ(evaluate().images, 2U);
    const std::string text = values();
    EXPECT_NE(text.find("7:1m1 7:2m2"), std::string::npos) << text;
    EXPECT_NE(text.find("99:3m1 99:4m2"), std::string::npos) << text;
    EXPECT_EQ(of_type("metric").size(), 2U);
    uint64_t lost = 0;
    for (const Json& line : of_type("diagnostic")) {
        EXPECT_EQ(line["code"], "counters-undecodable");
        lost += line["count"].get<uint64_t>();
    }
    EXPECT_EQ(lost, 12U);
    EXPECT_EQ(lines.back()["type"], "end");
}

/// A library that crashes over images that say so (crashing_cupti.cpp), and gives 42 for others.
TEST_F(Evaluate, EachCrashIsToldAndABadLibraryComesToAnEnd) {
    host = std::make_unique<CounterHost>(environment("ATTNSCOPE_CRASHING_CUPTI"), host_tool());
    put(DataKind::image, 1, "good");
    put(DataKind::image, 2, "crash");
    put(DataKind::image, 3, "good");
    put(DataKind::image, 4, "abort");
    EXPECT_EQ(evaluate().images, 2U);
    EXPECT_EQ(values(), "1:42m1 1:42m2 3:42m1 3:42m2 ");
    EXPECT_EQ(diagnostics(), "counters-undecodable x 2 counters-other-cupti x 1 ");
    EXPECT_NE(
        of_type("diagnostic")[0]["message"].get<std::string>().find("first launch 2: CUPTI crashed or hung"),
        std::string::npos)
        << of_type("diagnostic")[0];
    for (uint64_t id = 10; id < 60; ++id) put(DataKind::image, id, "crash");
    put(DataKind::image, 60, "good");
    EXPECT_EQ(evaluate().images, 2U) << "twenty crashes are enough";
    EXPECT_EQ(diagnostics(), "counters-undecodable x 53 counters-other-cupti x 1 ")
        << "and every image is accounted for";
    EXPECT_EQ(lines.back()["type"], "end");
}

TEST_F(Evaluate, MissingAndDamagedConfigs) {
    put(DataKind::image, 7, image_of({{1, 1}}));
    put(DataKind::config, 0, "GH100-130001-ffffffff");
    put(DataKind::image, 8, image_of({{1, 1}}));
    put(DataKind::config, 0, "../" + key);
    put(DataKind::image, 9, image_of({{1, 1}}));
    put(DataKind::config, 0, key);
    put(DataKind::image, 10, image_of({{2, 2}}));
    EXPECT_EQ(evaluate().images, 2U);
    EXPECT_EQ(values(), "7:1m1 7:1m2 10:2m1 10:2m2 ");
    EXPECT_EQ(diagnostics(), "counters-undecodable x 2 ");
    std::ofstream(folder / (key + ".config"), std::ios::app) << "";
    fs::resize_file(folder / (key + ".config"), 60);
    EXPECT_EQ(evaluate().images, 0U);
    EXPECT_EQ(values(), "");
    EXPECT_EQ(diagnostics(), "counters-undecodable x 4 ");
}

TEST_F(Evaluate, ACutTailIsALossAndTheRestIsThere) {
    put(DataKind::image, 7, image_of({{1, 1}}));
    put(DataKind::image, 8, image_of({{2, 2}}));
    bytes.resize(bytes.size() - 20);
    EXPECT_EQ(evaluate().images, 1U);
    EXPECT_EQ(values(), "7:1m1 7:1m2 ");
    EXPECT_EQ(diagnostics(), "counters-undecodable x 1 ");
    EXPECT_NE(of_type("diagnostic")[0]["message"].get<std::string>().find("cut short"), std::string::npos);
}

TEST_F(Evaluate, AConfigOfAnotherCuptiIsSaid) {
    const std::string other = config_key("GH100", 26, 0);
    fs::copy_file(folder / (key + ".config"), folder / (other + ".config"));
    std::fstream file(folder / (other + ".config"), std::ios::in | std::ios::out | std::ios::binary);
    const uint32_t version = 26;
    file.seekp(offsetof(ConfigHeader, cupti_version));
    file.write(reinterpret_cast<const char*>(&version), sizeof version);
    file.close();
    put(DataKind::config, 0, other);
    put(DataKind::image, 7, image_of({{1, 1}}));
    EXPECT_EQ(evaluate().images, 1U);
    EXPECT_EQ(diagnostics(), "counters-other-cupti x 1 ");
}

TEST_F(Evaluate, WhatIsNoDataOrHasNoPlaceIsRefusedAndLeavesNothing) {
    bytes = "no counter data";
    EXPECT_THROW(evaluate(), Error);
    EXPECT_FALSE(fs::exists(folder / "host-1-2.counters.jsonl"));
    EXPECT_THROW(host->evaluate("/nowhere/x.data", folder / "x.jsonl"), Error);
    bytes.assign(kDataMagic, sizeof kDataMagic);
    std::ofstream(folder / "a.data", std::ios::binary) << bytes;
    EXPECT_THROW(host->evaluate(folder / "a.data", "/nowhere/x.jsonl"), Error);
    EXPECT_EQ(host->evaluate(folder / "a.data", folder / "a.jsonl").images, 0U);
    EXPECT_FALSE(fs::exists(folder / "a.jsonl.part"));
}

TEST_F(Evaluate, AgainGivesTheSameBytes) {
    put(DataKind::image, 7, image_of({{1.0 / 3, 2}}));
    evaluate();
    const std::vector<Json> first = lines;
    evaluate();
    EXPECT_EQ(lines, first);
    EXPECT_EQ(of_type("counter")[0]["value"], 1.0 / 3) << "no digit is lost";
}

}  // namespace
}  // namespace attnscope
