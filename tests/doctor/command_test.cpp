// attnscope doctor as a user calls it on this machine; with fake NVIDIA libraries where a GPU's are wanted.
// Exit codes: DESIGN.md, law 8.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../collector/schema_check.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Outcome {
    int code = -1;
    std::string out, error;
};

class DoctorCommand : public testing::Test {
  protected:
    void SetUp() override {
        folder = fs::temp_directory_path() / ("attnscope-doctor-command-" + std::to_string(getpid()));
        fs::remove_all(folder);
        fs::create_directories(folder / "work");
        fs::create_directories(folder / "home");
        if (!fs::exists(std::string(std::getenv("ATTNSCOPE_BINARY_DIR")) +
                        "/lib/attnscope/virtual_gpu/libcuda.so.1"))
            GTEST_SKIP() << "the virtual GPU is not built";
        if (fs::exists("/proc/driver/nvidia/version") || fs::exists("/dev/nvidia0"))
            GTEST_SKIP()
                << "this machine has an NVIDIA device: what is expected here are the answers without one";
    }
    void TearDown() override { fs::remove_all(folder); }

    Outcome doctor(const std::string& arguments, const std::string& variables = "") const {
        const std::string command =
            "cd " + (folder / "work").string() + " && HOME=" + (folder / "home").string() +
            " env -u XDG_CACHE_HOME -u ATTNSCOPE_CACHE -u CUDA_INJECTION64_PATH " + variables + ' ' +
            std::getenv("ATTNSCOPE_BINARY_DIR") + "/bin/attnscope doctor " + arguments + " >" +
            (folder / "out").string() + " 2>" + (folder / "error").string();
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, test::read_file(folder / "out"),
                test::read_file(folder / "error")};
    }
    /// The fake libraries of tests/doctor/fakes: two H100s, CUDA 13.0, CUPTI 13.0.
    static std::string with_fakes(const std::string& more = "") {
        const std::string fakes = std::getenv("ATTNSCOPE_FAKES");
        return "LD_LIBRARY_PATH=" + fakes + " ATTNSCOPE_CUPTI=" + fakes + "/libcupti.so.13 " + more;
    }

    fs::path folder;
};

/// Wherever the lines were broken.
bool has(const std::string& text, const std::string& words) {
    std::istringstream in(text);
    std::string flat;
    for (std::string word; in >> word;) flat += (flat.empty() ? "" : " ") + word;
    return flat.find(words) != std::string::npos;
}

TEST_F(DoctorCommand, WithoutAGpuPredictsAndSaysSo) {
    const Outcome r = doctor("");
    EXPECT_EQ(r.code, 0) << r.out << r.error;
    EXPECT_EQ(r.error, "");
    EXPECT_TRUE(has(r.out, "usable for prediction only: counters and kernel records need an NVIDIA GPU"))
        << r.out;
    EXPECT_FALSE(has(r.out, "FAIL")) << r.out;
    EXPECT_EQ(r.out.back(), '\n');
}

TEST_F(DoctorCommand, ExitCodeTellsWhatWasAskedFor) {
    for (const char* use : {"counters", "records"}) {
        const Outcome r = doctor(std::string("--for ") + use);
        EXPECT_EQ(r.code, 3) << r.out;
        EXPECT_EQ(r.out.rfind("FAIL", 0), 0u) << r.out;
        EXPECT_TRUE(has(r.out, "usable for prediction only")) << r.out;
    }
    EXPECT_EQ(doctor("--for prediction").code, 0);
}

TEST_F(DoctorCommand, BadUsageIsOneSentence) {
    for (const char* arguments :
         {"--for wonders", "--format yaml", "--unheard", "--run", "gibberish", "-- sh"}) {
        const Outcome r = doctor(arguments);
        EXPECT_EQ(r.code, 2) << arguments;
        EXPECT_EQ(r.out, "") << arguments;
        EXPECT_EQ(r.error.rfind("attnscope: ", 0), 0u) << r.error;
    }
}

TEST_F(DoctorCommand, JsonIsWhatTheSchemaSays) {
    const Outcome r = doctor("--format json --for counters");
    EXPECT_EQ(r.code, 3);
    const json schema = json::parse(test::read_file(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) +
                                                    "/tests/doctor/doctor.schema.json"));
    const json document = json::parse(r.out);
    EXPECT_EQ(test::fault(schema, document, "diagnosis"), "");
    for (const json& finding : document["findings"]) EXPECT_EQ(test::fault(schema, finding, "finding"), "");
    EXPECT_EQ(document["usable"], false);
    EXPECT_EQ(document["usable_for"], json::array({"prediction"}));
}

TEST_F(DoctorCommand, WritesNothing) {
    doctor("--format json");
    doctor("--run sh");
    for (const char* name : {"work", "home"}) EXPECT_TRUE(fs::is_empty(folder / name)) << name;
}

TEST_F(DoctorCommand, LooksAtTheProgramAndDoesNotRunIt) {
    const Outcome r = doctor("--run sh -- -c 'touch here'");
    EXPECT_EQ(r.code, 0) << r.out << r.error;
    EXPECT_TRUE(has(r.out, "sh can be started")) << r.out;
    EXPECT_FALSE(fs::exists(folder / "work/here"));
    EXPECT_EQ(doctor("--run sh script.sh").code, 0);
    const Outcome missing = doctor("--run ./nowhere");
    EXPECT_EQ(missing.code, 3);
    EXPECT_TRUE(has(missing.out, "program not found: ./nowhere")) << missing.out;
}

TEST_F(DoctorCommand, AnotherToolsInjectionIsInTheWay) {
    const Outcome r = doctor("", "CUDA_INJECTION64_PATH=/opt/nsys.so");
    EXPECT_EQ(r.code, 3);
    EXPECT_TRUE(has(r.out, "CUDA_INJECTION64_PATH is set already, to /opt/nsys.so")) << r.out;
    EXPECT_TRUE(has(r.out, "usable for nothing")) << r.out;
}

TEST_F(DoctorCommand, AsksTheLibrariesThatAreThere) {
    const Outcome r = doctor("", with_fakes());
    EXPECT_EQ(r.code, 3) << "confidential computing is on, and the profiler's libraries are missing\n"
                         << r.out;
    EXPECT_FALSE(has(r.out, "a library prints")) << r.out;
    for (const char* words : {"confidential computing is on", "MIG is on", "held down by the power limit",
                              "libnvperf_host.so and libnvperf_target.so missing", "serves CUDA up to 13.0",
                              "one process at a time", "off for device 1"})
        EXPECT_TRUE(has(r.out, words)) << words << '\n' << r.out;
}

TEST_F(DoctorCommand, SurvivesLibrariesThatCrash) {
    const Outcome r = doctor("", with_fakes("FAKE_CUDA=crash FAKE_NVML=crash FAKE_CUPTI=crash"));
    EXPECT_EQ(r.code, 0) << r.out;  // no device file is here: without a usable driver there is no device
    EXPECT_TRUE(has(r.out, "libcupti.so.13 cannot be used: crashed while it was loaded") ||
                has(r.out, "also"))
        << r.out;
}

}  // namespace
}  // namespace attnscope
