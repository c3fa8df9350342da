// The binary files of a run's counters folder: whole ones come back, damaged ones are told. Right values: the
// format's description (collectors/cupti/counter_files.h), zlib's CRC-32.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <random>
#include <sstream>

#include "attnscope/error.h"
#include "collectors/cupti/counter_files.h"
#include "config_file.h"
#include "data_file.h"

namespace attnscope::cupti_host {
namespace {

ConfigFile sample_config() {
    return {130001, 1, {"dram__bytes_read.sum", "sm__cycles_active.avg"}, std::string("image\0bytes", 11)};
}

ConfigFile read_back(const std::string& bytes) {
    std::istringstream in(bytes);
    return read_config(in, "x.config");
}

std::string record(DataKind kind, uint64_t id, const std::string& payload) {
    DataHeader header{};
    header.record_magic = kRecordMagic;
    header.kind = kind;
    header.of = DataOf::launch;
    header.expected = 1;
    header.id = id;
    header.bytes = payload.size();
    header.payload_crc32 = crc32(payload.data(), payload.size());
    header.header_crc32 = crc32(&header, sizeof header);
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += payload;
    bytes.resize((bytes.size() + 7) / 8 * 8);
    return bytes;
}

std::string sample_data() {
    return std::string(kDataMagic, sizeof kDataMagic) + record(DataKind::config, 0, "GH100-130001-0badcafe") +
           record(DataKind::image, 7, "first image") + record(DataKind::image, 8, std::string(64, 'x'));
}

/// What a reader saw: ids of images, "!" behind one whose payload is damaged, then why it stopped.
std::string seen(const std::string& bytes) {
    std::istringstream in(bytes);
    DataReader reader(in, "x.data");
    DataRecord one;
    std::string text;
    while (reader.next(one))
        if (one.header.kind == DataKind::image)
            text += std::to_string(one.header.id) + (one.intact ? " " : "! ");
    if (reader.unread() != 0) text += std::string(reader.trouble()) + " " + std::to_string(reader.unread());
    return text;
}

TEST(Crc, IsZlibs) {
    std::mt19937 random(1);
    for (size_t bytes : {0U, 1U, 7U, 4096U}) {
        std::string text(bytes, '\0');
        for (char& c : text) c = static_cast<char>(random());
        const auto zlib = static_cast<uint32_t>(
            ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
        EXPECT_EQ(crc32(text.data(), text.size()), zlib);
        EXPECT_EQ(crc32(text.data() + bytes / 2, bytes - bytes / 2, crc32(text.data(), bytes / 2)), zlib);
    }
}

TEST(ConfigFile, ComesBack) {
    const ConfigFile config = read_back(to_bytes(sample_config()));
    EXPECT_EQ(config.cupti_version, 130001U);
    EXPECT_EQ(config.passes, 1U);
    EXPECT_EQ(config.metrics, sample_config().metrics);
    EXPECT_EQ(config.image, sample_config().image);
}

TEST(ConfigFile, EveryCutAndEveryFlippedBitIsRefused) {
    const std::string whole = to_bytes(sample_config());
    for (size_t size = 0; size < whole.size(); ++size)
        EXPECT_THROW(read_back(whole.substr(0, size)), Error) << size;
    // version (8..11) and passes (12..15) carry no checksum: they steer nothing here.
    for (size_t byte = 0; byte < whole.size(); ++byte) {
        if (byte >= 8 && byte < 16) continue;
        std::string damaged = whole;
        damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
        EXPECT_THROW(read_back(damaged), Error) << byte;
    }
}

TEST(ConfigFile, PromisesOfHugeSizesAreRefused) {
    std::string bytes = to_bytes(sample_config());
    const uint64_t huge = UINT64_MAX, large = 1ull << 30;
    std::memcpy(bytes.data() + offsetof(ConfigHeader, image_bytes), &huge, sizeof huge);
    EXPECT_THROW(read_back(bytes), Error);
    std::memcpy(bytes.data() + offsetof(ConfigHeader, image_bytes), &large, sizeof large);
    EXPECT_THROW(read_back(bytes), Error) << "takes no gigabyte";
}

TEST(ConfigKey, GivesTheChipBack) {
    EXPECT_EQ(chip_of_key(config_key("GH100", 130001, 0xBADCAFE)), "GH100");
    for (const char* key : {"", "GH100", "GH100-1", "-1", "../GH100-1-2", "/-1-2"})
        EXPECT_EQ(chip_of_key(key), "") << key;
}

TEST(DataFile, ComesBack) {
    EXPECT_EQ(seen(sample_data()), "7 8 ");
}

TEST(DataFile, CutAnywhereGivesTheWholeRecordsAndTheLoss) {
    const std::string whole = sample_data();
    const size_t second = whole.size() - 64 - sizeof(DataHeader);
    for (size_t size = sizeof kDataMagic; size < whole.size(); ++size) {
        const std::string text = seen(whole.substr(0, size));
        EXPECT_EQ(text.find('!'), std::string::npos) << size;
        if (size > second) {
            EXPECT_EQ(text, "7 cut short " + std::to_string(size - second));
        }
    }
    for (size_t size = 0; size < sizeof kDataMagic; ++size) EXPECT_THROW(seen(whole.substr(0, size)), Error);
}

TEST(DataFile, DamagedPayloadIsSkippedDamagedHeaderEndsIt) {
    const std::string whole = sample_data();
    const size_t second = whole.size() - 64 - sizeof(DataHeader);
    std::string damaged = whole;
    damaged[whole.size() - 1] = 'y';
    EXPECT_EQ(seen(damaged), "7 8! ");
    for (size_t byte = 0; byte < sizeof(DataHeader); ++byte) {
        damaged = whole;
        damaged[second + byte] = static_cast<char>(damaged[second + byte] ^ 1);
        EXPECT_EQ(seen(damaged), "7 damaged " + std::to_string(64 + sizeof(DataHeader))) << byte;
    }
    EXPECT_THROW(seen("something else"), Error);
}

TEST(DataFile, AHonestChecksumOverAHugeSizeIsNoAllocation) {
    std::string bytes = std::string(kDataMagic, sizeof kDataMagic) + record(DataKind::image, 1, "x");
    for (const uint64_t size : {uint64_t{1} << 29, uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 7}) {
        DataHeader header;
        std::memcpy(&header, bytes.data() + sizeof kDataMagic, sizeof header);
        header.bytes = size;
        header.header_crc32 = 0;
        header.header_crc32 = crc32(&header, sizeof header);
        std::string hostile = bytes;
        std::memcpy(hostile.data() + sizeof kDataMagic, &header, sizeof header);
        EXPECT_NE(seen(hostile).find(size == uint64_t{1} << 29 ? "cut short" : "damaged"), std::string::npos)
            << size;
    }
}

TEST(CounterFiles, DamageNeverCrashes) {
    std::mt19937 random(11);
    const std::string data = sample_data(), config = to_bytes(sample_config());
    for (int round = 0; round < 30'000; ++round) {
        std::string mutated = round % 2 == 0 ? data : config;
        for (auto change = random() % 6; change > 0; --change) {
            const size_t at = random() % mutated.size();
            if (random() % 3 == 0)
                mutated.erase(at, random() % 16);
            else if (random() % 3 == 0)
                mutated.insert(at, std::string(random() % 16, static_cast<char>(random())));
            else
                mutated[at] = static_cast<char>(random());
            if (mutated.empty()) break;
        }
        try {
            if (round % 2 == 0)
                seen(mutated);
            else
                read_back(mutated);
        } catch (const Error&) {
        }
    }
}

}  // namespace
}  // namespace attnscope::cupti_host
