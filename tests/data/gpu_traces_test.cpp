// The table against the deviceProperties that real GPUs left in public PyTorch traces.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "attnscope/gpu.h"

namespace attnscope {
namespace {

std::filesystem::path samples() {
    if (const char* path = std::getenv("ATTNSCOPE_SAMPLES")) return path;
    const char* root = std::getenv("ATTNSCOPE_SOURCE_DIR");
    return std::filesystem::path(root != nullptr ? root : ".") / "../shared/samples";
}

/// The plain text of a file, gzipped or not (also of a tar inside).
std::string unpacked(const std::filesystem::path& path) {
    std::string text;
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return text;
    char buffer[1 << 16];
    for (int got; (got = gzread(file, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(got));
    gzclose(file);
    return text;
}

/// The array behind "deviceProperties": traces are large, the array small.
nlohmann::json device_properties(const std::string& trace) {
    const size_t key = trace.find("\"deviceProperties\"");
    const size_t begin = key == std::string::npos ? key : trace.find('[', key);
    const size_t end = begin == std::string::npos ? begin : trace.find(']', begin);
    if (end == std::string::npos) return nullptr;
    return nlohmann::json::parse(trace.substr(begin, end - begin + 1), nullptr, false);
}

struct Trace {
    const char* file;
    const char* gpu;
    bool same_product;  ///< else only the chip is the same: another board with another name and memory
};

class Traces : public testing::TestWithParam<Trace> {};

TEST_P(Traces, AgreeWithTheTable) {
    const std::filesystem::path path = samples() / "kineto" / GetParam().file;
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << path << " is not here (ATTNSCOPE_SAMPLES names the samples)";
    const nlohmann::json devices = device_properties(unpacked(path));
    ASSERT_TRUE(devices.is_array() && !devices.empty()) << path;
    const nlohmann::json& real = devices[0];
    const Gpu* gpu = find_gpu(GetParam().gpu);
    ASSERT_NE(gpu, nullptr);
    const std::map<std::string, std::string> keys = {
        {"maxThreadsPerBlock", "max_threads_per_block"},
        {"maxThreadsPerMultiprocessor", "max_threads_per_multiprocessor"},
        {"regsPerBlock", "max_registers_per_block"},
        {"regsPerMultiprocessor", "max_registers_per_multiprocessor"},
        {"warpSize", "warp_size"},
        {"sharedMemPerBlock", "max_shared_memory_per_block"},
        {"sharedMemPerBlockOptin", "max_shared_memory_per_block_optin"},
        {"sharedMemPerMultiprocessor", "max_shared_memory_per_multiprocessor"},
        {"numSms", "multiprocessor_count"}};
    for (const auto& [theirs, ours] : keys)
        EXPECT_EQ(real.at(theirs).get<double>(), gpu->value(ours)) << ours;
    EXPECT_EQ(real.at("computeMajor"), gpu->major);
    EXPECT_EQ(real.at("computeMinor"), gpu->minor);
    if (!GetParam().same_product) return;
    EXPECT_EQ(real.at("name"), gpu->name);
    EXPECT_EQ(real.at("totalGlobalMem").get<double>(), gpu->value("memory_bytes"));
}

INSTANTIATE_TEST_SUITE_P(Public, Traces,
                         testing::Values(Trace{"v100-dlrm.tar.gz", "V100", true},
                                         Trace{"v100-2021-resnet50.json.gz", "V100", false},
                                         Trace{"a100-simple-add.json.gz", "A100", false},
                                         Trace{"h100-bert-small.json.gz", "H100", true},
                                         Trace{"b200-vllm-eager.json.gz", "B200", true}));

}  // namespace
}  // namespace attnscope
