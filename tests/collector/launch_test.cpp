// `attnscope collect` as a user meets it, with programs that know nothing of CUDA. Right values: DESIGN.md,
// law 8 (exit codes), and what a shell does with the same command.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "lines.h"
#include "schema_check.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Outcome {
    int code = 0;
    std::string out, error;
};

struct LaunchTest : testing::Test {
    fs::path folder;

    void SetUp() override {
        folder = fs::temp_directory_path() / ("attnscope-launch-" + std::to_string(getpid()) + '-' +
                                              testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder);
        fs::create_directories(folder);
        if (!fs::exists(std::string(std::getenv("ATTNSCOPE_BINARY_DIR")) +
                        "/lib/attnscope/virtual_gpu/libcuda.so.1"))
            GTEST_SKIP() << "the virtual GPU is not built";
    }
    void TearDown() override { fs::remove_all(folder); }

    static std::string program() {
        return std::string(std::getenv("ATTNSCOPE_BINARY_DIR")) + "/bin/attnscope";
    }

    Outcome shell(const std::string& command) const {
        const std::string out = folder / "stdout", error = folder / "stderr";
        const int status =
            std::system(("cd " + folder.string() + " && " + command + " >" + out + " 2>" + error).c_str());
        return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), test::read_file(out),
                test::read_file(error)};
    }
    Outcome collect(const std::string& arguments, const std::string& variables = "") const {
        return shell(variables + ' ' + program() + " collect --device virtual:A100-SXM4-80GB " + arguments);
    }
    json run_json(const std::string& name = "run") const {
        return json::parse(test::read_file(folder / name / "run.json"));
    }
    static size_t sentences(const std::string& text) {
        return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    }
};

TEST_F(LaunchTest, KeepsExitCodeAndOutput) {
    const Outcome r = collect("-o run -- sh -c 'echo to stdout; exit 42'");
    EXPECT_EQ(r.code, 42);
    EXPECT_EQ(r.out, "to stdout\n");
    EXPECT_EQ(r.error.find("attnscope: virtual GPU A100-SXM4-80GB: nothing is measured"), 0u) << r.error;
    EXPECT_NE(r.error.find("never initialised CUDA"), std::string::npos) << r.error;
    const json run = run_json();
    EXPECT_EQ(test::fault(test::schema(), run, "run"), "");
    EXPECT_EQ(run.at("schema"), "attnscope-run");
    EXPECT_EQ(run.at("version"), "1.1");
    EXPECT_EQ(run.at("collections"), json::array({"activity"}));
    EXPECT_FALSE(run.contains("counters"));
    EXPECT_FALSE(run.contains("diagnostics"));
    EXPECT_EQ(run.at("ground"), "virtual");
    EXPECT_EQ(run.at("devices"), json::array({"A100-SXM4-80GB"}));
    EXPECT_EQ(run.at("device_request"), "virtual:A100-SXM4-80GB");
    EXPECT_EQ(run.at("command"), json::array({"sh", "-c", "echo to stdout; exit 42"}));
    EXPECT_EQ(run.at("exit_code"), 42);
    EXPECT_TRUE(run.contains("ended"));
    EXPECT_FALSE(run.contains("signal"));
}

TEST_F(LaunchTest, ASignalIs128PlusItsNumber) {
    EXPECT_EQ(collect("-o run -- sh -c 'kill -9 $$'").code, 137);
    EXPECT_EQ(run_json().at("signal"), 9);
}

TEST_F(LaunchTest, SignalsArePassedOn) {
    // The program ends on SIGTERM with a code of its own.
    std::thread sender([&] {
        for (int i = 0; i < 100 && !fs::exists(folder / "ready"); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        (void)!std::system(("kill -TERM $(cat " + (folder / "pid").string() + ")").c_str());
    });
    const Outcome r = shell("sh -c 'echo $$ > pid; exec " + program() +
                            " collect --device virtual:T4 -o run -- sh -c \"trap \\\"exit 33\\\" TERM; touch "
                            "ready; while :; do sleep 0.1; done\"'");
    sender.join();
    EXPECT_EQ(r.code, 33);
    EXPECT_EQ(run_json().at("exit_code"), 33);
}

TEST_F(LaunchTest, ProgramNotFoundOrNotExecutable) {
    const Outcome missing = collect("-o run -- no-such-program-here");
    EXPECT_EQ(missing.code, 125);
    EXPECT_EQ(sentences(missing.error), 1u) << missing.error;
    EXPECT_NE(missing.error.find("no-such-program-here"), std::string::npos);
    std::ofstream(folder / "plain.py") << "print(1)\n";
    const Outcome plain = collect("-o run -- ./plain.py");
    EXPECT_EQ(plain.code, 125);
    EXPECT_NE(plain.error.find("not an executable"), std::string::npos) << plain.error;
    std::ofstream(folder / "damaged") << "#!/no/such/interpreter\n";
    chmod((folder / "damaged").c_str(), 0755);
    EXPECT_EQ(collect("-o run -- ./damaged").code, 125);
    EXPECT_FALSE(fs::exists(folder / "run")) << "half written";
}

TEST_F(LaunchTest, AScriptWithoutAFirstLineRunsAsInAShell) {
    std::ofstream(folder / "script") << "exit 12\n";
    chmod((folder / "script").c_str(), 0755);
    EXPECT_EQ(collect("-o run -- ./script").code, 12);
}

TEST_F(LaunchTest, BadRequestsAreOneSentenceAndLeaveNothing) {
    const std::string start = program() + " collect -o run ";
    for (const std::string& command :
         {start + "--device virtual:H900 -- true", start + "--device cheese -- true",
          start + "--device virtual:T4",
          program() + " collect --device virtual:T4 -o /proc/nowhere/run -- true"}) {
        const Outcome r = shell(command);
        EXPECT_EQ(r.code, 2) << command << r.error;
        EXPECT_EQ(sentences(r.error), 1u) << r.error;
        EXPECT_FALSE(fs::exists(folder / "run")) << command;
    }
    EXPECT_NE(shell(start + "--device virtual:H900 -- true").error.find("H100-SXM5"), std::string::npos)
        << "names the known ones";
}

TEST_F(LaunchTest, AForeignFolderIsNotTouched) {
    fs::create_directories(folder / "run");
    std::ofstream(folder / "run" / "thesis.txt") << "mine";
    EXPECT_EQ(collect("-o run --force -- true").code, 2);
    EXPECT_EQ(test::read_file(folder / "run" / "thesis.txt"), "mine");
    EXPECT_FALSE(fs::exists(folder / "run" / "run.json"));
    std::ofstream(folder / "file") << "x";
    EXPECT_EQ(collect("-o file -- true").code, 2);
}

TEST_F(LaunchTest, AnEarlierRunIsReplacedOnlyWhenAsked) {
    EXPECT_EQ(collect("-o run -- sh -c 'exit 1'").code, 1);
    EXPECT_EQ(collect("-o run -- sh -c 'exit 3'").code, 2);
    EXPECT_EQ(run_json().at("exit_code"), 1);
    EXPECT_EQ(collect("-o run --force -- sh -c 'exit 3'").code, 3);
    EXPECT_EQ(run_json().at("exit_code"), 3);
}

TEST_F(LaunchTest, AnotherToolAtTheDoorIsNamed) {
    for (const std::string variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
        const Outcome r = collect("-o run -- true", variable + "=/opt/nsight/libinjection.so");
        EXPECT_EQ(r.code, 2);
        EXPECT_NE(r.error.find("/opt/nsight/libinjection.so"), std::string::npos);
        EXPECT_FALSE(fs::exists(folder / "run"));
    }
}

TEST_F(LaunchTest, SecretsAreNotStored) {
    EXPECT_EQ(collect("-o run -- true --hf-token abcdef --password=hunter2").code, 0);
    EXPECT_EQ(run_json().at("command"), json::array({"true", "--hf-token", "***", "--password=***"}));
}

TEST_F(LaunchTest, TheProgramsEnvironment) {
    const Outcome r =
        collect("-o run --uncomputed 0x01 -- env", "LD_PRELOAD=libm.so.6 LD_LIBRARY_PATH=/mine");
    EXPECT_EQ(r.code, 0);
    const auto value = [&](const std::string& name) {
        const size_t at = ('\n' + r.out).find('\n' + name + '=');
        return at == std::string::npos
                   ? "absent"
                   : r.out.substr(at + name.size() + 1, r.out.find('\n', at) - at - name.size() - 1);
    };
    EXPECT_EQ(value("ATTNSCOPE_RUN_DIR"), (folder / "run").string());
    EXPECT_EQ(value("ATTNSCOPE_VIRTUAL_DEVICES"), "A100-SXM4-80GB");
    EXPECT_EQ(value("ATTNSCOPE_UNCOMPUTED"), "0x01");
    const std::string preload = value("LD_PRELOAD"), path = value("LD_LIBRARY_PATH");
    EXPECT_NE(preload.find("/virtual_gpu/libcuda.so.1"), std::string::npos);
    EXPECT_EQ(preload.substr(preload.size() - 10), ":libm.so.6") << "the user's own is kept";
    EXPECT_EQ(path.substr(path.size() - 6), ":/mine");
}

TEST_F(LaunchTest, WithoutANameTheFolderIsNewAndInTheWorkingDirectory) {
    EXPECT_EQ(collect("-- true").code, 0);
    size_t runs = 0;
    for (const auto& entry : fs::directory_iterator(folder))
        runs += entry.path().filename().string().find("attnscope-run-") == 0 ? 1 : 0;
    EXPECT_EQ(runs, 1u);
}

TEST_F(LaunchTest, ArgumentsArriveUnchanged) {
    const Outcome r = collect(R"(-o run -- printf '%s|' '[a,b]' '' '--' '-o' 'x y' '--help' '"q"')");
    EXPECT_EQ(r.out, R"([a,b]||--|-o|x y|--help|"q"|)");
}

TEST_F(LaunchTest, AnUnknownOptionIsNotTakenForTheProgram) {
    const Outcome r = shell(program() + " collect --devic real -- true");
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.error.find("--devic\n"), std::string::npos) << r.error;
}

TEST_F(LaunchTest, APyTorchForAnotherCudaIsRefusedOnTheVirtualGpu) {
    const std::string other = std::string(std::getenv("ATTNSCOPE_BINARY_DIR")) + "/tests/collector/cuda12";
    if (std::system("python3 -c pass 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
    ASSERT_TRUE(fs::exists(other + "/torch/lib/libtorch_cuda.so"));
    std::ofstream(folder / "script") << "#!/usr/bin/env python3\nimport torch\n";
    chmod((folder / "script").c_str(), 0755);
    for (const std::string& command : {std::string("python3 -c 'import torch'"), std::string("./script")}) {
        const Outcome r = collect("-o run -- " + command, "PYTHONPATH=" + other);
        EXPECT_EQ(r.code, 125) << r.error;
        EXPECT_EQ(sentences(r.error), 1u);
        EXPECT_NE(r.error.find("libcudart.so.12"), std::string::npos) << r.error;
        EXPECT_FALSE(fs::exists(folder / "run"));
    }
    const Outcome plain = collect("-o run -- " + other + "/needs_cuda12");
    EXPECT_EQ(plain.code, 125);
    EXPECT_NE(plain.error.find("libcudart.so.12"), std::string::npos) << plain.error;
}

TEST_F(LaunchTest, AStaticCudaRuntimeIsRefusedOnTheVirtualGpu) {
    std::ofstream(folder / "k.cu") << "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n";
    if (std::system(("PATH=$PATH:/usr/local/cuda/bin nvcc -o " + (folder / "program").string() + ' ' +
                     (folder / "k.cu").string() + " 2>/dev/null")
                        .c_str()) != 0)
        GTEST_SKIP() << "no nvcc";
    const Outcome r = collect("-o run -- ./program");
    EXPECT_EQ(r.code, 125);
    EXPECT_NE(r.error.find("statically"), std::string::npos) << r.error;
    EXPECT_FALSE(fs::exists(folder / "run"));
}

TEST_F(LaunchTest, AutoSaysWhatItChose) {
    const Outcome r = shell(program() + " collect -o run -- true");
    if (fs::exists("/proc/driver/nvidia/version")) GTEST_SKIP() << "this machine has an NVIDIA driver";
    EXPECT_EQ(r.code, 0) << r.error;
    EXPECT_EQ(r.error.find("attnscope: virtual GPU H100-SXM5: nothing is measured"), 0u) << r.error;
}

TEST_F(LaunchTest, RealWithoutAGpuIsRefusedWithTheRemedy) {
    if (fs::exists("/proc/driver/nvidia/version")) GTEST_SKIP() << "this machine has an NVIDIA driver";
    const Outcome r = shell(program() + " collect --device real -o run -- true");
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.error.find("--device virtual:"), std::string::npos) << r.error;
}

}  // namespace
}  // namespace attnscope
