// The program's own profiler gets CUPTI's one subscription because ours is given up in time. Each scenario is
// a process of its own (programs/watch_program.cpp) over the virtual GPU's libcupti, which refuses a second
// subscriber as CUPTI 13.0's header says (CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39). Right values:
// that rule, and dlsym's manual.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

std::string build() {
    return std::getenv("ATTNSCOPE_BINARY_DIR");
}
std::string folder() {
    return build() + "/tests/collector/watch";
}
std::string cupti() {
    return build() + "/lib/attnscope/virtual_gpu/libcupti.so.13";
}
std::string client(const std::string& kind) {
    return folder() + "/libwatch_client_" + kind + ".so";
}

/// What the program printed; "exit N" when it failed.
std::string run(const std::string& scenario, const std::string& library, const std::string& more = "",
                const std::string& environment = "") {
    const std::string command = "ATTNSCOPE_VIRTUAL_DEVICES=H100-SXM5 " + environment + ' ' + build() +
                                "/tests/collector/attnscope_watch_program " + scenario + ' ' + cupti() + ' ' +
                                library + ' ' + more;
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> part;
    while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    const int status = pipe != nullptr ? pclose(pipe) : -1;
    return status == 0 ? text : text + "exit " + std::to_string(status);
}

struct SubscriberWatch : testing::TestWithParam<const char*> {};

TEST_P(SubscriberWatch, AClientThatWasBoundBefore) {
    // "closed": the pages that were read-only are so again.
    EXPECT_EQ(run("bound-before", client(GetParam())),
              "ours 0\nwatching 1\nclosed 1\nresult 0 told 1 cuptiSubscribe\n");
}
TEST_P(SubscriberWatch, AClientThatIsLoadedLater) {
    EXPECT_EQ(run("loaded-later", client(GetParam())),
              "ours 0\nwatching 1\nresult 0 told 1 cuptiSubscribe\nresult 39 told 1 cuptiSubscribe\n");
}
TEST_P(SubscriberWatch, TheNewerFunctionWithItsFourthArgument) {
    EXPECT_EQ(run("second-version", client(GetParam())),
              "ours 0\nwatching 1\nresult 0 told 1 cuptiSubscribe_v2\nholder CUPTI for watched\n");
}
TEST_P(SubscriberWatch, AClientOfActivityRecordsAlone) {
    EXPECT_EQ(run("activity", client(GetParam())),
              "ours 0\nwatching 1\nresult 0 told 1 cuptiActivityEnable\n");
}
TEST_P(SubscriberWatch, AClientThatLooksUpByName) {
    EXPECT_EQ(
        run("by-name", client(GetParam())),
        "ours 0\nwatching 1\nresult -1 told 0 \nresult 0 told 1 cuptiSubscribe\nunwatched 1\nabsent 1\n");
}
TEST_P(SubscriberWatch, AClientThatLookedUpBefore) {
    EXPECT_EQ(run("kept-address", client(GetParam())),
              "ours 0\nwatching 1\nresult 0 told 1 cuptiSubscribe\n");
}
TEST_P(SubscriberWatch, ALookUpStillStartsAtItsCaller) {
    // The client says 1, the library loaded behind it 2.
    EXPECT_EQ(run("next", client(GetParam()), "",
                  "LD_PRELOAD=" + client(GetParam()) + ':' + folder() + "/libwatch_behind.so"),
              "ours 0\nwatching 1\nwhere 2\n");
}
TEST_P(SubscriberWatch, AllThreadsWaitUntilWeHaveSteppedAside) {
    EXPECT_EQ(run("many-threads", client(GetParam())),
              "ours 0\nwatching 1\nearly 0 served 1 refused 7 told 1\n");
}
TEST_P(SubscriberWatch, OnceStoppedItOnlyPassesThrough) {
    EXPECT_EQ(run("stopped", client(GetParam())), "ours 0\nwatching 1\nresult 39 told 0 \n");
}
TEST_P(SubscriberWatch, ObjectsMayComeAndGo) {
    EXPECT_EQ(run("churn", client(GetParam())),
              "ours 0\nwatching 1\nresult 0 told 1 cuptiSubscribe\nscans 1\n");
}
INSTANTIATE_TEST_SUITE_P(Binding, SubscriberWatch, testing::Values("lazy", "now"),
                         [](const auto& binding) { return std::string(binding.param); });

/// Triton's Proton loads a libcupti of its own and asks that one with dlsym.
TEST(SubscriberWatchOfACopy, IsSeen) {
    const fs::path copy = fs::path(folder()) / ("copy-" + std::to_string(getpid())) / "libcupti.so.12";
    fs::create_directories(copy.parent_path());
    fs::copy_file(fs::canonical(cupti()), copy, fs::copy_options::overwrite_existing);
    const std::string said = "ours 0\nwatching 1\ncopy 1\nresult ";
    for (const char* scenario : {"own-copy", "own-copy-rescanned"}) {
        const std::string output = run(scenario, client("lazy"), copy.string(),
                                       "LD_LIBRARY_PATH=" + fs::path(cupti()).parent_path().string());
        EXPECT_EQ(output.substr(0, said.size()), said) << scenario;
        EXPECT_NE(output.find(" told 1 cuptiSubscribe\n"), std::string::npos) << scenario << '\n' << output;
    }
    fs::remove_all(copy.parent_path());
}

/// Kineto inside libtorch_cpu.so calls two of the watched functions (its relocations: readelf -rW).
TEST(SubscriberWatchOfTorch, ItsSlotsAreFound) {
    const std::string torch = std::string(std::getenv("ATTNSCOPE_TORCH_LIB")) + "/libtorch_cpu.so";
    if (!fs::exists(torch)) GTEST_SKIP() << "no LibTorch: set ATTNSCOPE_TORCH_ROOT at configuration";
    const std::string output =
        run("torch", torch, "", std::string("LD_BIND_NOW=1 LD_PRELOAD=") + std::getenv("ATTNSCOPE_STANDINS"));
    EXPECT_EQ(output, "ours 0\nwatching 1\ncupti 2 other 0\n");
}

}  // namespace
}  // namespace attnscope
