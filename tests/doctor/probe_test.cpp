// The probes against small libraries that behave, refuse, crash and hang. Right values: what those libraries
// say (fakes/), and NVML's numbers at https://docs.nvidia.com/deploy/nvml-api/.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "../../src/doctor/answer_lines.h"
#include "../../src/doctor/ask_child.h"
#include "../../src/doctor/probes.h"

namespace attnscope::doctor {
namespace {

using Clock = std::chrono::steady_clock;

std::string fake(const char* soname) {
    return std::string(std::getenv("ATTNSCOPE_FAKES")) + '/' + soname;
}

struct Variable {
    const char* name;
    Variable(const char* name_, const char* value) : name(name_) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name); }
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

TEST(AskChild, HearsTheChild) {
    const Answer answer = ask_child([](int out) { say(out, "key", "two\nlines"); }, 10000);
    EXPECT_EQ(answer.text, "key two lines\n");
    EXPECT_FALSE(answer.timed_out);
    EXPECT_EQ(answer.signal, 0);
}

TEST(AskChild, SaysHowItDied) {
    const Answer answer = ask_child(
        [](int out) {
            say(out, "before", 1);
            raise(SIGKILL);  // which no sanitizer catches
        },
        10000);
    EXPECT_EQ(answer.text, "before 1\n");
    EXPECT_EQ(answer.signal, SIGKILL);
}

TEST(AskChild, EndsOneThatHangsWithItsChildren) {
    const auto start = Clock::now();
    const Answer answer = ask_child(
        [](int out) {
            const pid_t own = fork();
            if (own == 0)
                for (;;) pause();  // holds the pipe, too
            say(out, "grandchild", own);
            for (;;) pause();
        },
        300);
    EXPECT_TRUE(answer.timed_out);
    EXPECT_LT(seconds_since(start), 10);
    pid_t grandchild = 0;
    each_line(answer.text,
              [&](const std::string&, const std::string& value) { grandchild = std::atoi(value.c_str()); });
    ASSERT_GT(grandchild, 0);
    // It is init's now; it may take a moment until it is reaped, and a container's init may not reap at all.
    std::string state = "R";
    for (int i = 0; i < 200 && state != "Z" && !state.empty(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::ifstream file("/proc/" + std::to_string(grandchild) + "/stat");
        std::string id, name;
        state.clear();
        file >> id >> name >> state;
    }
    EXPECT_TRUE(state.empty() || state == "Z") << state;
}

TEST(AskChild, LimitsTheWholeNotTheSilence) {
    const auto start = Clock::now();
    const Answer answer = ask_child(
        [](int out) {
            for (;;) {
                say(out, "drip", 1);
                usleep(20000);
            }
        },
        300);
    EXPECT_TRUE(answer.timed_out);
    EXPECT_LT(seconds_since(start), 10);
}

TEST(AskChild, LimitsTheText) {
    const Answer answer = ask_child(
        [](int out) {
            for (;;) say(out, "flood", std::string(1000, 'x'));
        },
        20000);
    EXPECT_LT(answer.text.size(), 80000u);
}

TEST(Driver, IsAsked) {
    const DriverFacts facts = probe_driver();
    EXPECT_EQ(facts.library, std::filesystem::canonical(fake("libcuda.so.1")).string());
    EXPECT_EQ(facts.cuda, 13000u);
    EXPECT_TRUE(facts.gpu.usable) << facts.gpu.reason;
    ASSERT_GE(facts.gpu.names.size(), 2u);
    EXPECT_EQ(facts.gpu.names[0], "NVIDIA H100 80GB HBM3");
}

TEST(Driver, ThatRefusesIsExplained) {
    const Variable error("FAKE_CUDA_ERROR", "803");
    const DriverFacts facts = probe_driver();
    EXPECT_FALSE(facts.gpu.usable);
    EXPECT_NE(facts.gpu.reason.find("different versions"), std::string::npos) << facts.gpu.reason;
    EXPECT_EQ(facts.cuda, 13000u);
}

TEST(Driver, ThatCrashesIsSaid) {
    const Variable crash("FAKE_CUDA", "crash");
    const DriverFacts facts = probe_driver();
    EXPECT_FALSE(facts.gpu.usable);
    EXPECT_NE(facts.gpu.reason.find("crashed"), std::string::npos) << facts.gpu.reason;
    EXPECT_NE(facts.gpu.remedy.find("nvidia-smi"), std::string::npos);
}

TEST(NvmlProbe, TakesEveryAnswer) {
    const NvmlFacts facts = probe_nvml();
    EXPECT_EQ(facts.problem, "");
    EXPECT_EQ(facts.driver, "580.65.06");
    EXPECT_EQ(facts.confidential, true);
    EXPECT_EQ(facts.confidential_devtools, false);
    ASSERT_EQ(facts.devices.size(), 2u);
    const NvmlDevice& first = facts.devices[0];
    EXPECT_EQ(first.name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(first.capability, 90u);
    EXPECT_EQ(first.persistence, true);
    EXPECT_EQ(first.mig, true);
    EXPECT_EQ(first.ecc, false);
    EXPECT_EQ(first.virtualization, 1u);
    EXPECT_EQ(first.compute_mode, 3u);
    EXPECT_EQ(first.sm_mhz, 1410u);
    EXPECT_EQ(first.sm_max_mhz, 1980u);
    // Functions that this NVML lacks are no answers, and no zeros.
    EXPECT_EQ(first.auto_boost, std::nullopt);
    EXPECT_EQ(first.applications_mhz, std::nullopt);
    EXPECT_EQ(facts.devices[1].persistence, false);
    EXPECT_EQ(facts.devices[1].mig, std::nullopt)
        << "not supported; and a name with a line end says nothing of it";
    EXPECT_EQ(facts.devices[1].name, "NVIDIA mig 1");
}

TEST(NvmlProbe, ThatRefusesIsSaid) {
    const Variable error("FAKE_NVML_ERROR", "18");
    const NvmlFacts facts = probe_nvml();
    EXPECT_EQ(facts.problem, "nvmlInit answered 18 (Driver/library version mismatch)");
    EXPECT_TRUE(facts.devices.empty());
}

TEST(NvmlProbe, ThatIsNotThereHangsOrCrashes) {
    EXPECT_EQ(probe_nvml("/nowhere/libnvidia-ml.so.1").problem, "libnvidia-ml.so.1 is not there");
    {
        const Variable hang("FAKE_NVML", "hang");
        const auto start = Clock::now();
        EXPECT_EQ(probe_nvml("libnvidia-ml.so.1", 300).problem, "NVML did not answer in time");
        EXPECT_LT(seconds_since(start), 10);
    }
    const Variable crash("FAKE_NVML", "crash-later");
    const NvmlFacts facts = probe_nvml();
    EXPECT_EQ(facts.problem, "NVML crashed while it was asked");
    EXPECT_EQ(facts.devices.size(), 1u) << "what came before stays";
}

TEST(CuptiProbe, TellsVersionAndFile) {
    const CuptiFacts facts = probe_cupti("libcupti.so.13");
    EXPECT_EQ(facts.problem, "");
    EXPECT_EQ(facts.version, 130000u);
    EXPECT_EQ(facts.path, std::filesystem::canonical(fake("libcupti.so.13")).string());
}

TEST(CuptiProbe, TellsWhatIsWrong) {
    EXPECT_NE(probe_cupti("/nowhere/libcupti.so.13").problem.find("cannot open"), std::string::npos);
    EXPECT_EQ(probe_cupti(fake("libcuda.so.1")).problem, "does not answer cuptiGetVersion");
    {
        const Variable hang("FAKE_CUPTI", "hang");
        EXPECT_EQ(probe_cupti("libcupti.so.13", 300).problem, "did not load in time");
    }
    const Variable crash("FAKE_CUPTI", "crash");
    const CuptiFacts facts = probe_cupti("libcupti.so.13");
    EXPECT_EQ(facts.problem, "crashed while it was loaded");
    EXPECT_EQ(facts.version, std::nullopt);
}

}  // namespace
}  // namespace attnscope::doctor
