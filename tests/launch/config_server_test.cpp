// The launcher's side of include/attnscope/counter_files.h, with a maker of config images that the test
// holds.
#include "config_server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "attnscope/counter_files.h"
#include "attnscope/error.h"
#include "lines.h"

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Server : testing::Test {
    fs::path folder;
    std::atomic<int> made{0};

    void SetUp() override {
        folder = fs::temp_directory_path() / ("attnscope-server-" + std::to_string(getpid())) / "counters";
        fs::remove_all(folder.parent_path());
    }
    void TearDown() override { fs::remove_all(folder.parent_path()); }

    MakeConfig maker() {
        return [this](const ConfigAsk& ask, const fs::path& config) -> std::optional<Refusal> {
            ++made;
            if (ask.chip == "GV11B") throw Error("this chip is\nrefused");
            if (ask.chip == "TU102") return Refusal{"counters-no-cupti", "too old", "a newer one"};
            std::ofstream(config) << "config of " << ask.chip;
            return std::nullopt;
        };
    }
    std::string ask(const std::string& chip) const {
        const std::string key = config_key(chip, 130001, 0);
        std::ofstream(folder / (key + ".part")) << "chip " << chip << "\ncupti 130001\nlibrary /l\n";
        fs::rename(folder / (key + ".part"), folder / (key + ".ask"));
        return key;
    }
    bool comes(const std::string& name) const {
        for (int i = 0; i < 500 && !fs::exists(folder / name); ++i) std::this_thread::sleep_for(10ms);
        return fs::exists(folder / name);
    }
};

TEST_F(Server, AnswersWhileItRuns) {
    ConfigServer server(folder, maker());
    const std::string key = ask("GH100");
    ASSERT_TRUE(comes(key + ".config"));
    EXPECT_EQ(test::read_file(folder / (key + ".config")), "config of GH100");
    const std::string other = ask("GA100");
    EXPECT_TRUE(comes(other + ".config"));
    ask("GH100");  // a second process asks the same
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(made, 2) << "an answer is made once";
    EXPECT_FALSE(fs::exists(folder / "closed"));
    server.close();
    EXPECT_TRUE(fs::exists(folder / "closed"));
    EXPECT_TRUE(server.diagnostics().empty());
}

TEST_F(Server, RefusalsAreThreeLines) {
    ConfigServer server(folder, maker());
    const std::string old = ask("TU102"), refused = ask("GV11B");
    ASSERT_TRUE(comes(old + ".refused"));
    EXPECT_EQ(test::read_file(folder / (old + ".refused")), "counters-no-cupti\ntoo old\na newer one\n");
    ASSERT_TRUE(comes(refused + ".refused"));
    const std::string text = test::read_file(folder / (refused + ".refused"));
    EXPECT_EQ(text.find("counters-no-config\nno config image could be made: this chip is refused\n"), 0u)
        << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST_F(Server, WhatIsAskedAtTheEndIsAnsweredBeforeItCloses) {
    ConfigServer server(folder, maker());
    std::vector<std::string> keys;
    for (const char* chip : {"GH100", "GA100", "AD102", "GB202"}) keys.push_back(ask(chip));
    server.close();
    for (const std::string& key : keys) EXPECT_TRUE(fs::exists(folder / (key + ".config"))) << key;
    EXPECT_TRUE(fs::exists(folder / "closed"));
}

TEST_F(Server, AForgedAskIsRefused) {
    ConfigServer server(folder, maker());
    std::ofstream(folder / "GH100-130001-00000000.ask") << "chip GA100\ncupti 130001\nlibrary /l\n";
    ASSERT_TRUE(comes("GH100-130001-00000000.refused"));
    EXPECT_EQ(made, 0);
}

TEST_F(Server, AFloodOfAsksEnds) {
    ConfigServer server(folder, maker());
    for (int i = 0; i < 300; ++i) ask("CHIP" + std::to_string(i));
    server.close();
    EXPECT_LE(made, 64);
    EXPECT_GE(made, 1);
}

TEST_F(Server, ARemovedFolderIsNoHang) {
    ConfigServer server(folder, maker());
    fs::remove_all(folder.parent_path());
    std::this_thread::sleep_for(50ms);
    server.close();
    EXPECT_FALSE(fs::exists(folder));
}

TEST_F(Server, AFolderThatCannotBeMadeIsADiagnostic) {
    fs::create_directories(folder.parent_path());
    std::ofstream(folder) << "a file";
    ConfigServer server(folder, maker());
    server.close();
    ASSERT_EQ(server.diagnostics().size(), 1u);
    EXPECT_EQ(server.diagnostics()[0].code, "counters-disk");
}

TEST_F(Server, SignalsStayWithTheMainThread) {
    // Blocked here, a signal to the process goes to any thread that does not block it: none may be ours.
    sigset_t usr1, before, pending;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    ConfigServer server(folder, maker());
    pthread_sigmask(SIG_BLOCK, &usr1, &before);
    kill(getpid(), SIGUSR1);  // its default action would end the test
    std::this_thread::sleep_for(50ms);
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGUSR1), 1);
    int number = 0;
    sigwait(&usr1, &number);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace attnscope::launch
