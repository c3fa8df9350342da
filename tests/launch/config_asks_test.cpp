// What a program may write into its run's `counters` folder, and what the launcher makes of it. Right values:
// include/attnscope/counter_files.h.
#include "config_asks.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "attnscope/counter_files.h"

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;

struct Asks : testing::Test {
    fs::path folder;
    void SetUp() override {
        folder = fs::temp_directory_path() / ("attnscope-asks-" + std::to_string(getpid()));
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder / name, std::ios::binary) << text;
    }
    std::string fault_of(const std::string& key, const std::string& text) const {
        write(key + ".ask", text);
        std::string fault;
        EXPECT_FALSE(read_ask(folder, key, fault).has_value()) << text;
        return fault;
    }
};

TEST_F(Asks, AnHonestOne) {
    const std::string image = "availability";
    const std::string key = config_key("GH100", 130001, crc32(image.data(), image.size()));
    write(key + ".availability", image);
    write(key + ".ask", "library /opt/with space/libcupti.so.13\navailability " + key +
                            ".availability\nlater field\ncupti 130001\nchip GH100\n");
    EXPECT_EQ(unanswered_asks(folder), std::vector<std::string>{key});
    std::string fault;
    const auto ask = read_ask(folder, key, fault);
    ASSERT_TRUE(ask) << fault;
    EXPECT_EQ(ask->chip, "GH100");
    EXPECT_EQ(ask->cupti, 130001u);
    EXPECT_EQ(ask->library, "/opt/with space/libcupti.so.13");
    EXPECT_EQ(ask->availability, folder / (key + ".availability"));
    for (const char* answer : {".config", ".refused"}) {
        write(key + answer, "");
        EXPECT_TRUE(unanswered_asks(folder).empty()) << answer;
        fs::remove(folder / (key + answer));
    }
}

TEST_F(Asks, WhatIsNotPlainIsNoAsk) {
    write("a b.ask", "");
    write("..ask", "");
    write("x.y.ask", "");
    write("$(id).ask", "");
    write("\xff.ask", "");
    write(std::string(240, 'k') + ".ask", "");
    write("GH100-130001-00000000.part", "");
    EXPECT_TRUE(unanswered_asks(folder).empty());
}

TEST_F(Asks, HostileContentIsRefused) {
    const std::string key = config_key("GH100", 130001, 0), good = "chip GH100\ncupti 130001\nlibrary /l\n";
    std::string fault;
    write(key + ".ask", good);
    EXPECT_TRUE(read_ask(folder, key, fault)) << fault;
    write("secret", "x");
    fs::create_symlink("/etc/passwd", folder / "link");
    for (const std::string name : {"../secret", "/etc/passwd", "link", "..", ".", "missing"})
        EXPECT_NE(fault_of(key, good + "availability " + name + "\n"), "") << name;
    for (const std::string text :
         {"", "chip ../GH100\ncupti 130001\nlibrary /l\n", "chip GH100\ncupti -1\nlibrary /l\n",
          "chip GH100\ncupti 99999999999\nlibrary /l\n", "chip GH100\ncupti 130001x\nlibrary /l\n",
          "chip GH100\ncupti 130001\nlibrary libcupti.so\n", "chip GH100\ncupti 130001\n",
          "chip GH100\nlibrary /l\n", "chip GA100\ncupti 130001\nlibrary /l\n",
          "chip GH100\ncupti 26\nlibrary /l\n"})
        EXPECT_NE(fault_of(key, text), "") << text;
    EXPECT_NE(fault_of(key, std::string(1 << 20, 'x')), "") << "too long";
}

TEST_F(Asks, APipeOrALinkDoesNotHoldTheLauncher) {
    ASSERT_EQ(mkfifo((folder / "GH100-1-00000000.ask").c_str(), 0600), 0);
    fs::create_symlink("/dev/zero", folder / "GH100-2-00000000.ask");
    fs::create_directory(folder / "GH100-3-00000000.ask");
    std::string fault;
    for (const char* key : {"GH100-1-00000000", "GH100-2-00000000", "GH100-3-00000000", "GH100-4-00000000"})
        EXPECT_FALSE(read_ask(folder, key, fault)) << key;
}

std::string record(DataKind kind, const std::string& payload, uint32_t magic = kRecordMagic) {
    DataHeader header{};
    header.record_magic = magic;
    header.kind = kind;
    header.bytes = payload.size();
    header.payload_crc32 = crc32(payload.data(), payload.size());
    header.header_crc32 = crc32(&header, sizeof header);
    std::string text(reinterpret_cast<const char*>(&header), sizeof header);
    text += payload;
    text.resize((text.size() + 7) / 8 * 8, '\0');
    return text;
}

TEST_F(Asks, TheConfigsOfADataFile) {
    const std::string magic(kDataMagic, sizeof kDataMagic), image(1003, 'i');
    write("p.data", magic + record(DataKind::config, "GH100-130001-00000000") +
                        record(DataKind::image, image) + record(DataKind::config, "GA100-130001-00000000") +
                        record(DataKind::config, "GH100-130001-00000000"));
    EXPECT_EQ(config_keys(folder / "p.data"),
              (std::vector<std::string>{"GH100-130001-00000000", "GA100-130001-00000000"}));
    write("cut.data",
          magic + record(DataKind::config, "A-1-0") + record(DataKind::config, "B-1-0").substr(0, 30));
    EXPECT_EQ(config_keys(folder / "cut.data"), std::vector<std::string>{"A-1-0"});
    write("damaged.data", magic + record(DataKind::config, "A-1-0") + record(DataKind::config, "B-1-0", 7) +
                              record(DataKind::config, "C-1-0"));
    EXPECT_EQ(config_keys(folder / "damaged.data"), std::vector<std::string>{"A-1-0"});
    write("path.data", magic + record(DataKind::config, "../../etc/x"));
    write("foreign.data", "not counter data at all");
    write("empty.data", "");
    for (const char* name : {"path.data", "foreign.data", "empty.data", "missing.data"})
        EXPECT_TRUE(config_keys(folder / name).empty()) << name;
}

}  // namespace
}  // namespace attnscope::launch
