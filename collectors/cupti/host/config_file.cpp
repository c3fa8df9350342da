#include "config_file.h"

#include <cstring>

#include "attnscope/error.h"
#include "collectors/cupti/counter_files.h"

namespace attnscope::cupti_host {
namespace {

// A GPU's config image has some ten KiB; the caps are what hostile headers run into.
constexpr uint32_t kMostNamesBytes = 64u << 20;
constexpr uint64_t kMostImageBytes = 1ull << 30;

/// `bytes` of the stream; fewer at its end.
std::string take(std::istream& in, uint64_t bytes) {
    std::string text;
    constexpr uint64_t kStep = 1u << 20;  // grows with what is really there
    while (text.size() < bytes && in) {
        const size_t before = text.size();
        text.resize(before + static_cast<size_t>(std::min(kStep, bytes - before)));
        in.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
        text.resize(before + static_cast<size_t>(in.gcount()));
    }
    return text;
}

}  // namespace

std::string to_bytes(const ConfigFile& config) {
    std::string names;
    for (const std::string& name : config.metrics) names.append(name).push_back('\0');
    ConfigHeader header{};
    std::memcpy(header.magic, kConfigMagic, sizeof header.magic);
    header.cupti_version = config.cupti_version;
    header.passes = config.passes;
    header.metrics = static_cast<uint32_t>(config.metrics.size());
    header.names_bytes = static_cast<uint32_t>(names.size());
    header.image_bytes = config.image.size();
    header.names_crc32 = crc32(names.data(), names.size());
    header.image_crc32 = crc32(config.image.data(), config.image.size());
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + names + config.image;
}

ConfigFile read_config(std::istream& in, const std::string& origin) {
    const auto fail = [&](const char* what) -> Error {
        return Error(origin + ": " + what + "; the run's counters cannot be evaluated without it");
    };
    ConfigHeader header{};
    in.read(reinterpret_cast<char*>(&header), sizeof header);
    if (in.gcount() != sizeof header || std::memcmp(header.magic, kConfigMagic, sizeof header.magic) != 0)
        throw fail("no config file of attnscope");
    if (header.names_bytes > kMostNamesBytes || header.image_bytes > kMostImageBytes)
        throw fail("the config file's sizes are impossible");
    const std::string names = take(in, header.names_bytes);
    ConfigFile config{header.cupti_version, header.passes, {}, take(in, header.image_bytes)};
    if (names.size() != header.names_bytes || config.image.size() != header.image_bytes)
        throw fail("the config file is cut short");
    if (crc32(names.data(), names.size()) != header.names_crc32 ||
        crc32(config.image.data(), config.image.size()) != header.image_crc32)
        throw fail("the config file is damaged (its checksum differs)");
    for (size_t begin = 0; begin < names.size();) {
        const size_t end = names.find('\0', begin);
        if (end == std::string::npos || end == begin) throw fail("the config file's names are damaged");
        config.metrics.push_back(names.substr(begin, end - begin));
        begin = end + 1;
    }
    if (config.metrics.size() != header.metrics) throw fail("the config file's names are damaged");
    return config;
}

std::string chip_of_key(const std::string& key) {
    const size_t crc = key.rfind('-');
    if (key.find('/') != std::string::npos || crc == std::string::npos || crc == 0) return {};
    const size_t version = key.rfind('-', crc - 1);
    return version == std::string::npos ? std::string() : key.substr(0, version);
}

}  // namespace attnscope::cupti_host
