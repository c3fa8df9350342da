// Does with files what the injection library does in a program with counters: leaves a process's file, asks
// for a config image, leaves counter data. Arguments: chip, version of CUPTI, libcupti, then the data it
// leaves: none, empty (a config and no image), foreign (not counter data). Prints what the launcher answered.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "attnscope/counter_files.h"

namespace fs = std::filesystem;
using namespace attnscope;

namespace {

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool beside(const fs::path& file, const std::string& text) {
    const fs::path part = file.string() + '.' + std::to_string(getpid()) + ".part";
    std::ofstream out(part, std::ios::binary);
    out << text;
    out.close();
    std::error_code error;
    if (out) fs::rename(part, file, error);
    return out && !error;
}

std::string header_of(const std::string& payload) {
    DataHeader header{};
    header.record_magic = kRecordMagic;
    header.kind = DataKind::config;
    header.bytes = payload.size();
    header.payload_crc32 = crc32(payload.data(), payload.size());
    header.header_crc32 = crc32(&header, sizeof header);
    std::string text(reinterpret_cast<const char*>(&header), sizeof header);
    text += payload;
    text.resize((text.size() + 7) / 8 * 8, '\0');
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 64;
    const fs::path run = std::getenv("ATTNSCOPE_RUN_DIR");
    const char* mode = std::getenv("ATTNSCOPE_COUNTERS");
    const std::string stem = "host-" + std::to_string(getpid()) + "-1", chip = argv[1], data = argv[4];
    std::ofstream(run / (stem + ".jsonl"))
        << R"({"type":"process","schema":"attnscope-run","version":"1.1","attnscope":"0.1.0","ground":"virtual",)"
        << R"("host":"host","pid":)" << getpid()
        << R"(,"ppid":1,"start_unix_ns":1,"command":["asking_program"]})" << '\n'
        << R"({"type":"end","kernels":0,"memcpys":0,"memsets":0,"library_calls":0,"dropped":0})" << '\n';
    std::printf("mode %s\n", mode != nullptr ? mode : "none");
    if (mode == nullptr) return 0;
    const auto version = static_cast<uint32_t>(std::atol(argv[2]));
    const std::string key = config_key(chip, version, 0);
    const fs::path folder = run / "counters", config = folder / (key + ".config"),
                   refused = folder / (key + ".refused");
    const std::string ask = "chip " + chip + "\ncupti " + argv[2] + "\nlibrary " + argv[3] + '\n';
    if (!fs::exists(config) && !fs::exists(refused) && !beside(folder / (key + ".ask"), ask)) {
        std::printf("cannot ask\n");
        return 0;
    }
    for (int i = 0; i < 6000 && !fs::exists(config) && !fs::exists(refused); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (fs::exists(refused)) {
        std::printf("refused %s", content(refused).c_str());
    } else if (const std::string bytes = content(config); bytes.size() >= sizeof(ConfigHeader)) {
        const auto& header = *reinterpret_cast<const ConfigHeader*>(bytes.data());
        const bool whole = bytes.size() == sizeof header + header.names_bytes + header.image_bytes;
        std::printf("config %s metrics %u passes %u\n", whole ? "whole" : "cut", header.metrics,
                    header.passes);
    } else {
        std::printf("no answer\n");
    }
    const std::string magic(kDataMagic, sizeof kDataMagic);
    if (data == "empty")
        std::ofstream(folder / (stem + ".data"), std::ios::binary) << magic << header_of(key);
    if (data == "foreign")
        std::ofstream(folder / (stem + ".data"), std::ios::binary) << "this is no counter data";
    return 0;
}
