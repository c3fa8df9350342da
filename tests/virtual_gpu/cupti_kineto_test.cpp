// PyTorch's own profiler (Kineto), unmodified, on the stand-ins: its trace holds every kernel that an
// independent record, an injected callback client in a second run of the same program, saw launched: names,
// grids, blocks, registers, shared memory, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Launch {
    std::string name;
    std::vector<int> grid, block;
    int registers = 0, shared = 0;
    bool operator==(const Launch&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Launch& launch) {
    out << launch.name << " grid";
    for (int x : launch.grid) out << ' ' << x;
    out << " block";
    for (int x : launch.block) out << ' ' << x;
    return out << " registers " << launch.registers << " shared " << launch.shared;
}

std::string shell_word(const std::string& text) {
    return "'" + text + "'";
}

class CuptiKineto : public testing::Test {
  protected:
    void SetUp() override {
        if (std::system(
                (shell_word(PYTHON) +
                 " -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(\"torch\") is None)'")
                    .c_str()) != 0)
            GTEST_SKIP() << PYTHON << " has no torch: configure with -DATTNSCOPE_PYTHON=FILE";
        char name[] = "/tmp/attnscope-kineto-XXXXXX";
        folder = mkdtemp(name);
        for (const auto& entry : fs::directory_iterator(VGPU_DIR))
            if (entry.path().filename().string().find(".so") != std::string::npos)
                preload += (preload.empty() ? "" : ":") + entry.path().string();
    }
    void TearDown() override {
        if (!folder.empty()) fs::remove_all(folder);
    }
    int python(const std::string& environment, const std::string& arguments) {
        const std::string script =
            std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/tests/virtual_gpu/cupti_kineto.py";
        return std::system(("env LD_LIBRARY_PATH=" VGPU_DIR " LD_PRELOAD=" + shell_word(preload) +
                            " ATTNSCOPE_VIRTUAL_DEVICES=H100-SXM5 " + environment + " " + shell_word(PYTHON) +
                            " " + shell_word(script) + " " + arguments)
                               .c_str());
    }
    std::string folder, preload;
};

std::vector<Launch> logged(const std::string& path) {
    std::vector<Launch> launches;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        Launch launch;
        launch.grid.resize(3);
        launch.block.resize(3);
        for (int& x : launch.grid) fields >> x;
        for (int& x : launch.block) fields >> x;
        fields >> launch.registers >> launch.shared >> std::ws;
        std::getline(fields, launch.name);
        launches.push_back(launch);
    }
    return launches;
}

TEST_F(CuptiKineto, TraceHoldsEveryKernel) {
    ASSERT_EQ(0,
              python("CUDA_INJECTION64_PATH=" LAUNCH_LOG_LIBRARY " LAUNCH_LOG=" + folder + "/log", "log -"));
    ASSERT_EQ(0, python("ATTNSCOPE_VGPU_TICKS=1", "profile " + folder + "/trace.json"));
    const std::vector<Launch> expected = logged(folder + "/log");
    ASSERT_GT(expected.size(), 40u);

    std::ifstream file(folder + "/trace.json");
    const json trace = json::parse(file);
    std::vector<json> kernels, copies;
    std::set<int64_t> calls;
    for (const json& event : trace["traceEvents"]) {
        const std::string category = event.value("cat", "");
        if (category == "kernel") kernels.push_back(event);
        if (category == "gpu_memcpy") copies.push_back(event);
        if (category == "cuda_runtime" || category == "cuda_driver")
            calls.insert(event["args"].value("correlation", int64_t{-1}));
    }
    std::sort(kernels.begin(), kernels.end(),
              [](const json& a, const json& b) { return a["ts"].get<double>() < b["ts"].get<double>(); });
    std::vector<Launch> seen;
    for (const json& kernel : kernels) {
        const json& args = kernel["args"];
        seen.push_back({kernel["name"], args["grid"], args["block"], args["registers per thread"],
                        args["shared memory"]});
        EXPECT_TRUE(args.contains("External id")) << kernel;
        EXPECT_TRUE(calls.count(args["correlation"])) << kernel;
    }
    ASSERT_EQ(expected.size(), seen.size());
    // Kineto writes times in microseconds with three digits: launches in one nanosecond cannot be, so the
    // order is exact.
    for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(expected[i], seen[i]) << i;
    EXPECT_GE(copies.size(), 2u);
    // Facts (a real H100's launch): flash forward at head_dim 64 has 255 registers, 49,152 bytes, blocks of
    // 128.
    EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const Launch& launch) {
        return launch.name.find("flash_fwd_kernel") != std::string::npos && launch.registers == 255 &&
               launch.shared == 49152 && launch.block[0] == 128;
    }));
}

}  // namespace
