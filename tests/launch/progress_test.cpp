// What is shown while a program runs, and how it is counted.
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

#include "progress.h"

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;

class Folder : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(::testing::TempDir()) / ("progress-" + std::to_string(getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    void append(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name, std::ios::app | std::ios::binary) << text;
    }
    fs::path folder_;
};

TEST(Progress, Words) {
    EXPECT_EQ(progress_words(12, 31, 1, 6.0), "kernel 12 of 31, pass 1 of 1, about 10 s left");
    EXPECT_EQ(progress_words(12, std::nullopt, 1, 6.0), "kernel 12, pass 1 of 1, 6 s");
    EXPECT_EQ(progress_words(12, 31, 0, 6.0), "kernel 12 of 31, about 10 s left");
    EXPECT_EQ(progress_words(12, 31, 3, 6.0), "kernel 12 of 31, 3 passes each, about 10 s left");
    EXPECT_EQ(progress_words(40, 31, 0, 6.0), "kernel 40 of 31, 6 s")
        << "more than before: nothing is foretold";
}

TEST_F(Folder, KernelsAreCountedAsTheyAreWritten) {
    append("a-1-1.jsonl", "{\"type\":\"kernel\",\"correlation\":1}\n");
    KernelCount count(folder_);
    EXPECT_EQ(count.update(), 0U) << "what was there before is another run's";
    append("a-2-2.jsonl", "{\"type\":\"process\"}\n{\"type\":\"kernel\",\"correlation\":1}\n{\"type\":\"ker");
    append("a-2-2.counters.jsonl", "{\"type\":\"kernel\"}\n");
    append("clocks.jsonl", "{\"type\":\"kernel\"}\n");
    EXPECT_EQ(count.update(), 1U);
    append("a-2-2.jsonl", "nel\",\"correlation\":2}\n");
    EXPECT_EQ(count.update(), 2U) << "a record that was written in two pieces";
    EXPECT_EQ(count.update(), 2U);
    std::string many;
    for (int i = 0; i < 10000; ++i) many += "{\"type\":\"kernel\",\"correlation\":3}\n";
    append("a-3-3.jsonl", many);
    EXPECT_EQ(count.update(), 10002U);
    fs::remove_all(folder_);
    EXPECT_EQ(count.update(), 10002U);
}

}  // namespace
}  // namespace attnscope::launch
