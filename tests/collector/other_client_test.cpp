// Who holds CUPTI, asked of the virtual GPU's libcupti. Right values: CUPTI 13.0's header (cuptiSubscribe_v2:
// one subscriber, error 39, the holder's name as "CUPTI for NAME"), and what the test subscribed itself.
#include "other_client.h"

#include <cupti.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lines.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using collector::name_of_other_client;
using nlohmann::json;

std::string build() {
    return std::getenv("ATTNSCOPE_BINARY_DIR");
}

void nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

struct OtherClient : testing::Test {
    void* library = dlopen((build() + "/lib/attnscope/virtual_gpu/libcupti.so.13").c_str(), RTLD_NOW);
    template <class Function>
    Function* find(const char* name) {
        return reinterpret_cast<Function*>(dlsym(library, name));
    }
    CUpti_SubscriberHandle subscriber = nullptr;
    void SetUp() override { ASSERT_NE(library, nullptr) << dlerror(); }
    void TearDown() override { find<CUptiResult(CUpti_SubscriberHandle)>("cuptiUnsubscribe")(subscriber); }
};

TEST_F(OtherClient, NobodyIsThereAndTheSubscriptionIsGivenBack) {
    EXPECT_EQ(name_of_other_client(library), std::nullopt);
    EXPECT_EQ(name_of_other_client(library), std::nullopt);
    EXPECT_EQ((find<CUptiResult(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*)>("cuptiSubscribe")(
                  &subscriber, nothing, nullptr)),
              CUPTI_SUCCESS);
}

TEST_F(OtherClient, TheHoldersName) {
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "somebody";
    ASSERT_EQ((find<CUptiResult(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, CUpti_SubscriberParams*)>(
                  "cuptiSubscribe_v2")(&subscriber, nothing, nullptr, &params)),
              CUPTI_SUCCESS);
    EXPECT_EQ(name_of_other_client(library), "CUPTI for somebody");
    // It still holds it.
    CUpti_SubscriberHandle second = nullptr;
    EXPECT_EQ((find<CUptiResult(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*)>("cuptiSubscribe")(
                  &second, nothing, nullptr)),
              CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

TEST_F(OtherClient, ALibraryWithoutSubscriptions) {
    EXPECT_EQ(name_of_other_client(dlopen("libc.so.6", RTLD_NOW)), std::nullopt);
}

/// The injection library in a program that profiles itself.
struct EarlyClient : testing::Test {
    fs::path folder = fs::temp_directory_path() / ("attnscope-early-" + std::to_string(getpid()));
    void SetUp() override { fs::create_directories(folder); }
    void TearDown() override { fs::remove_all(folder); }
    std::string output;
    std::vector<json> collect(const std::string& argument) {
        const int status = std::system(
            ("ATTNSCOPE_VIRTUAL_DEVICES=H100-SXM5 ATTNSCOPE_RUN_DIR=" + folder.string() +
             " CUDA_INJECTION64_PATH=" + build() + "/lib/attnscope/libattnscope_injection.so exec " +
             build() + "/tests/collector/attnscope_early_client " + argument + " >" +
             (folder / "stdout").string() + " 2>" + (folder / "stderr").string())
                .c_str());
        EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 23) << test::read_file(folder / "stderr");
        output = test::read_file(folder / "stdout");
        const auto files = test::process_files(folder);
        EXPECT_EQ(files.size(), 1u);
        return files.empty() ? std::vector<json>() : test::parse_lines(test::read_file(files[0]));
    }
    static const json* diagnostic(const std::vector<json>& lines, const std::string& code) {
        for (const json& line : lines)
            if (line.at("type") == "diagnostic" && line.at("code") == code) return &line;
        return nullptr;
    }
};

TEST_F(EarlyClient, KeepsItsRecordsAndWeStepAside) {
    const auto lines = collect("");
    // Without our library: the same line. Callbacks at entry and exit of one launch; one kernel.
    EXPECT_EQ(output, "subscribed 0 launched 0 callbacks 2 kernels 1\n");
    const json* said = diagnostic(lines, "another-cupti-client");
    ASSERT_NE(said, nullptr);
    EXPECT_EQ(said->at("severity"), "error");
    EXPECT_NE(said->at("message").get<std::string>().find("CUPTI for itself"), std::string::npos) << *said;
    for (const json& line : lines) EXPECT_NE(line.at("type"), "kernel");
}

TEST_F(EarlyClient, OneThatStartsLaterSubscribesAsBefore) {
    const auto lines = collect("later");
    EXPECT_EQ(output.substr(0, 36), "subscribed 0 launched 0 callbacks 2 ") << output;
    EXPECT_EQ(diagnostic(lines, "another-cupti-client"), nullptr);
}

}  // namespace
}  // namespace attnscope
