// The helper program seen from the launcher: what it answers with the real CUPTI, and what is said when it
// misbehaves (shell scripts stand in for it).
#include "attnscope/counter_host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "attnscope/error.h"
#include "helper.h"
#include "libraries.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
  protected:
    void SetUp() override {
        folder = fs::temp_directory_path() / ("attnscope-host-" + std::to_string(getpid()));
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    /// A host whose helper program is this shell script.
    CounterHost scripted(const std::string& body) {
        const fs::path tool = folder / "tool";
        std::ofstream(tool) << "#!/bin/sh\n" << body << "\n";
        fs::permissions(tool, fs::perms::owner_all);
        std::ofstream(folder / "libcupti.so.13") << "x";
        return CounterHost(folder / "libcupti.so.13", tool);
    }

    fs::path folder;
};

template <class Action>
std::string error_of(Action action) {
    try {
        action();
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

void says(const std::string& error, const std::string& words) {
    EXPECT_NE(error.find(words), std::string::npos) << error;
}

using Helper = Folder;

TEST_F(Helper, ItsSentenceIsTheError) {
    const CounterHost host = scripted(R"(echo '{"error":"the chip is a potato"}'; exit 2)");
    EXPECT_EQ(error_of([&] { host.version(); }), "the chip is a potato");
}

TEST_F(Helper, CrashesAreNamedWithTheLibrary) {
    const std::string error = error_of([host = scripted("kill -SEGV $$")] { host.plan("GH100", {"a.sum"}); });
    says(error, "crashed on \"plan\" (signal 11)");
    says(error, "libcupti.so.13");
    says(error, "ATTNSCOPE_CUPTI");
}

TEST_F(Helper, NonsenseIsNamed) {
    for (const char* body : {"echo hello", "echo '[]'", "true", "echo '{}'", R"(echo '{"cupti":"x"}')",
                             R"(echo '{"cupti":1}'; exit 3)"})
        says(error_of([host = scripted(body)] { host.version(); }), "is not understood");
}

TEST_F(Helper, GetsItsInputAndItsOutputIsReadWhole) {
    const CounterHost host = scripted(R"(printf '{"unknown":['; n=0
        while read -r line; do [ $n = 0 ] || printf ','; printf '"%s"' "$line"; n=1; done; echo ']}')");
    std::vector<std::string> names;
    for (int i = 0; i < 5'000; ++i) names.push_back("metric__number_" + std::to_string(i) + ".sum");
    EXPECT_EQ(host.unknown("GH100", names), names);
}

TEST_F(Helper, IsEndedAtItsLimitWithItsChildren) {
    const CounterHost host = scripted("sleep 100 & sleep 100");
    const counters::HelperAnswer answer = counters::run_helper({host.tool()}, "", 200);
    EXPECT_TRUE(answer.timed_out);
    EXPECT_EQ(answer.exit_code, 128 + 9);
}

TEST_F(Helper, AnEndlessAnswerIsEnded) {
    const CounterHost host = scripted("exec yes attnscope attnscope attnscope attnscope attnscope attnscope");
    says(error_of([&] { host.version(); }), "endless answer");
}

TEST_F(Helper, IsMissingOrHasNoLibrary) {
    says(error_of([] { CounterHost("/nowhere/libcupti.so.13", "/nowhere/tool"); }),
         "ATTNSCOPE_BUILD_COLLECTORS");
    scripted("true");
    says(error_of([&] { CounterHost("/nowhere/libcupti.so.13", folder / "tool"); }), "no such file");
}

/// The real helper program, for whoever has CUPTI.
class Real : public Folder {
  protected:
    void SetUp() override {
        Folder::SetUp();
        if (cupti_13().empty() || !fs::exists(host_tool()))
            GTEST_SKIP() << "no libcupti, or a build without collectors";
    }
    CounterHost host() { return CounterHost(cupti_13(), host_tool()); }
};

TEST_F(Real, SaysWhatIsNoCupti) {
    const fs::path text = folder / "text.so";
    std::ofstream(text) << "no library";
    says(error_of([&] { CounterHost(text, host_tool()).version(); }), "does not load");
    says(error_of([&] { CounterHost("/proc/self/exe", host_tool()).version(); }), "/proc/self/exe");
    for (const char* libc : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"})
        if (fs::exists(libc)) says(error_of([&] { CounterHost(libc, host_tool()).version(); }), "no CUPTI");
}

TEST_F(Real, KnowsVersionAndChips) {
    EXPECT_GE(host().version(), 24U);
    const std::vector<std::string> chips = host().chips();
    EXPECT_NE(std::find(chips.begin(), chips.end(), "GH100"), chips.end());
}

TEST_F(Real, AnUnknownChipListsTheOthers) {
    const std::string error = error_of([&] { host().unknown("GH900", {"a.sum"}); });
    says(error, "no chip \"GH900\"");
    says(error, "GA100");
    says(error_of([&] { host().metrics("GV11B"); }), "NOT_SUPPORTED");
}

TEST_F(Real, DescribesMetrics) {
    const std::vector<VendorMetric> found = host().metrics("GH100", "dram bytes READ");
    const auto read = std::find_if(found.begin(), found.end(),
                                   [](const VendorMetric& m) { return m.name == "dram__bytes_read"; });
    ASSERT_NE(read, found.end());
    EXPECT_EQ(read->kind, "counter");
    EXPECT_EQ(read->unit, "byte");
    EXPECT_EQ(read->hardware, "dram");
    EXPECT_EQ(read->description, "# of bytes read from DRAM");
    EXPECT_NE(std::find(read->submetrics.begin(), read->submetrics.end(), ".sum"), read->submetrics.end());
    EXPECT_GT(host().metrics("GH100").size(), 3'000U);
}

TEST_F(Real, PlansWhatIsThereAndNamesTheRest) {
    const CounterPlan plan = host().plan("GH100", {"sm__cycles_active.avg", "launch__registers_per_thread",
                                                   "sm__cycles_active.avg", "dram__bytes_read.sum"});
    EXPECT_EQ(plan.metrics, (std::vector<std::string>{"sm__cycles_active.avg", "dram__bytes_read.sum"}));
    EXPECT_EQ(plan.absent, (std::vector<std::string>{"launch__registers_per_thread"}))
        << "Nsight Compute's own";
    EXPECT_EQ(plan.passes, 1U);
    EXPECT_EQ(host().plan("GH100", {"nothing"}).passes, 0U);
    EXPECT_EQ(host().plan("GH100", {}).passes, 0U);
}

TEST_F(Real, DeviceLevelCountersAreSetApart) {
    const CounterPlan plan = host().plan("GH100", {"sm__cycles_active.avg", "pcie__read_bytes.sum",
                                                   "gpu__time_duration.sum", "pcie__write_bytes.sum"});
    EXPECT_EQ(plan.metrics, (std::vector<std::string>{"sm__cycles_active.avg", "gpu__time_duration.sum"}));
    EXPECT_EQ(plan.apart, (std::vector<std::string>{"pcie__read_bytes.sum", "pcie__write_bytes.sum"}));
    EXPECT_EQ(plan.absent, plan.apart) << "who reads absent alone misses nothing";
    EXPECT_EQ(host().plan("GH100", {"pcie__read_bytes.sum", "pcie__write_bytes.sum"}).apart.size(), 0U);
}

TEST_F(Real, ConfigFilesAreMadeWholeOrNotAtAll) {
    const fs::path config = folder / "a.config";
    host().plan("GH100", {"sm__cycles_active.avg"}, {}, config);
    EXPECT_GT(fs::file_size(config), 100U);
    EXPECT_FALSE(fs::exists(folder / "a.config.part"));
    says(error_of([&] { host().plan("GH100", {"sm__cycles_active.avg"}, {}, "/nowhere/a.config"); }),
         "cannot be written");
    host().plan("GH100", {"nothing"}, {}, folder / "b.config");
    EXPECT_FALSE(fs::exists(folder / "b.config"));
}

TEST_F(Real, RequestsMixSetsRolesAndNames) {
    const ResolvedMetrics resolved =
        resolve_metrics(host(), "GB202", " core, ipc ,dram__bytes_op_read.sum,dram__bytes_read.sum");
    const auto has = [&](const char* name) {
        return std::count(resolved.names.begin(), resolved.names.end(), name) == 1;
    };
    EXPECT_TRUE(has("sm__warps_active.avg.pct_of_peak_sustained_active"));
    EXPECT_TRUE(has("sm__inst_executed.avg.per_cycle_active"));
    EXPECT_TRUE(has("dram__bytes_op_read.sum")) << "asked for twice, once by its role";
    ASSERT_EQ(resolved.absent.size(), 1U) << "on other chips, so the rest is collected";
    EXPECT_EQ(resolved.absent[0].first, "dram__bytes_read.sum");
    says(resolved.absent[0].second, "GB202 has no such counter");
}

TEST_F(Real, UnknownNamesAreAnsweredWithTheNearest) {
    const auto offered = [&](const char* request) {
        return error_of([&] { resolve_metrics(host(), "GH100", request); });
    };
    says(offered("dram__bytes_read"), "nearest are dram__bytes_read.sum");
    says(offered("dram__byte_read.sum"), "nearest are dram__bytes_read.sum");
    says(offered("dram__bytes_read.summ"), "nearest are dram__bytes_read.sum");
    says(offered("l1tex__t_sector_hit_rate"), "l1tex__t_sector_hit_rate.pct");
    says(offered("sm__throughput"), "sm__throughput.avg.pct_of_peak_sustained_elapsed");
    says(offered("core,memry"), "nearest are memory");
    says(offered("acheived_occupancy"), "achieved_occupancy");
    says(offered(" , "), "give a set (core, ");
}

TEST_F(Real, WithoutADriverThereAreNoDevices) {
    std::string why;
    EXPECT_TRUE(!host().devices(&why).empty() || !why.empty());
}

}  // namespace
}  // namespace attnscope
