#pragma once
// `attnscope collect` in a folder of its own, through a shell.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "lines.h"
#include "schema_check.h"

namespace attnscope::test {

namespace fs = std::filesystem;

struct Outcome {
    int code = 0;
    std::string out, error;
};

struct LauncherTest : testing::Test {
    fs::path folder;

    void SetUp() override {
        folder = fs::temp_directory_path() / ("attnscope-counters-" + std::to_string(getpid()) + '-' +
                                              testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder);
        fs::create_directories(folder);
        if (!fs::exists(build() + "/lib/attnscope/virtual_gpu/libcuda.so.1"))
            GTEST_SKIP() << "the virtual GPU is not built";
        for (const char* name : {"ATTNSCOPE_VGPU_COUNTERS", "ATTNSCOPE_NVML", "ATTNSCOPE_COUNTERS"})
            unsetenv(name);
    }
    void TearDown() override { fs::remove_all(folder); }

    static std::string build() { return std::getenv("ATTNSCOPE_BINARY_DIR"); }
    static std::string program() { return build() + "/bin/attnscope"; }
    static std::string asking() { return build() + "/tests/launch/attnscope_asking_program"; }

    /// A libcupti whose host side works here; "" where there is none.
    static std::string libcupti() {
        const std::string cache =
            std::string(std::getenv("HOME") != nullptr ? std::getenv("HOME") : "/root") +
            "/.cache/attnscope/cuda/nvidia/cu13/lib/libcupti.so.13";
        for (const std::string& file :
             {cache, std::string("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"),
              std::string("/usr/local/cuda/lib64/libcupti.so.13")})
            if (fs::exists(file) && fs::exists(build() + "/lib/attnscope/attnscope_cupti_host")) return file;
        return {};
    }

    Outcome shell(const std::string& command) const {
        const std::string out = folder / "stdout", error = folder / "stderr";
        const int status = std::system(
            ("cd " + folder.string() + " && { " + command + "\n} >" + out + " 2>" + error).c_str());
        return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), read_file(out),
                read_file(error)};
    }
    Outcome collect(const std::string& arguments, const std::string& variables = "") const {
        return shell(variables + ' ' + program() + " collect --device virtual:H100-SXM5 " + arguments);
    }
    nlohmann::json run_json(const std::string& name = "run") const {
        auto run = nlohmann::json::parse(read_file(folder / name / "run.json"));
        EXPECT_EQ(fault(schema(), run, "run"), "");
        return run;
    }
    /// The launcher's diagnostics with this code.
    std::vector<nlohmann::json> diagnostics(const std::string& code) const {
        std::vector<nlohmann::json> found;
        for (const auto& d : run_json().value("diagnostics", nlohmann::json::array()))
            if (d.at("code") == code) found.push_back(d);
        return found;
    }
    static size_t sentences(const std::string& text) {
        return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    static bool holds(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }
};

}  // namespace attnscope::test
