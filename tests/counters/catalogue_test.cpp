// The catalogue, and what our host side says of metrics, against the real CUPTI on every chip that it knows.
// Right values: CUPTI's own answers, and the pass counts that were read from CUPTI 13.0 by hand beforehand.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "attnscope/counter_host.h"
#include "attnscope/error.h"
#include "attnscope/metrics.h"
#include "chip_host.h"
#include "libraries.h"

namespace attnscope {
namespace {

const std::set<std::string> kNoDram = {"GA10B", "GB10B", "GB20B"};

/// 13: CUPTI 13.0; 12: 12.8 from PyPI, which knows fewer chips. Two libcupti in one process would share the
/// first one's libnvperf_host.so, so ctest runs each in a process of its own.
class Catalogue : public testing::TestWithParam<int> {
  protected:
    void SetUp() override {
        const std::string library = newest() ? cupti_13() : cupti_12();
        if (library.empty()) GTEST_SKIP() << "no CUPTI " << GetParam() << " (scripts/setup.sh downloads it)";
        host = std::make_unique<CounterHost>(library, host_tool());
        std::vector<std::string> names;
        for (const MetricRole& role : metric_catalogue())
            for (const std::string& formula : role.formulas)
                for (const std::string& name : vendor_names(formula)) names.push_back(name);
        all = host->unknown_by_chip(names);
    }

    static bool newest() { return GetParam() == 13; }

    std::unique_ptr<CounterHost> host;
    UnknownByChip all;
};

TEST_P(Catalogue, EveryRoleResolvesOrIsMarkedAbsentAndNeverBoth) {
    EXPECT_EQ(all.chips.size(), newest() ? 29U : 24U);
    for (const auto& [chip, unknown] : all.chips)
        for (const MetricRole& role : metric_catalogue()) {
            const std::string* formula = formula_of(role, [&, &lacks = unknown](const std::string& name) {
                return std::find(lacks.begin(), lacks.end(), name) == lacks.end();
            });
            const std::string* absent = role.absent_on(chip);
            EXPECT_NE(formula != nullptr, absent != nullptr)
                << role.role << " on " << chip
                << (formula != nullptr ? " resolves and is" : " neither resolves nor is") << " marked absent";
        }
}

TEST_P(Catalogue, NoAlternativeIsUseless) {
    if (!newest()) GTEST_SKIP() << "alternatives are for chips of the newest CUPTI too";
    for (const MetricRole& role : metric_catalogue())
        for (const std::string& formula : role.formulas) {
            const bool chosen = std::any_of(all.chips.begin(), all.chips.end(), [&](const auto& chip) {
                return formula_of(role, [&](const std::string& name) {
                           return std::find(chip.second.begin(), chip.second.end(), name) ==
                                  chip.second.end();
                       }) == &formula;
            });
            EXPECT_TRUE(chosen) << role.role << ": no chip takes " << formula;
        }
}

TEST_P(Catalogue, ChipsMarkedAbsentAreCuptis) {
    if (!newest()) GTEST_SKIP() << "an older CUPTI knows fewer chips";
    const std::vector<std::string> chips = host->chips();
    for (const MetricRole& role : metric_catalogue())
        for (const auto& [chip, why] : role.absent)
            EXPECT_NE(std::find(chips.begin(), chips.end(), chip), chips.end()) << role.role << " " << chip;
}

TEST_P(Catalogue, OneChipIsRefusedByCuptiItself) {
    ASSERT_EQ(all.refused.size(), 1U);
    EXPECT_EQ(all.refused[0].first, "GV11B");
    EXPECT_NE(all.refused[0].second.find("NOT_SUPPORTED"), std::string::npos) << all.refused[0].second;
}

TEST_P(Catalogue, CoreIsOnePassOnEveryChip) {
    std::vector<std::pair<std::string, std::vector<std::string>>> asked;
    for (const auto& [chip, unknown] : all.chips) {
        const ResolvedMetrics core = resolve_metrics(*host, chip, "core");
        EXPECT_EQ(core.absent.size(), kNoDram.count(chip) != 0 ? 2U : 0U) << chip;
        for (const auto& [role, why] : core.absent) {
            EXPECT_TRUE(role == "dram_read" || role == "dram_write") << role;
            EXPECT_NE(why.find("no DRAM byte counters"), std::string::npos) << why;
        }
        asked.emplace_back(chip, core.names);
    }
    size_t with_dram = 0;
    for (const CounterPlan& plan : host->plans(asked)) {
        EXPECT_EQ(plan.passes, 1U) << plan.chip;
        EXPECT_TRUE(plan.absent.empty()) << plan.chip;
        with_dram += kNoDram.count(plan.chip) == 0 ? 1 : 0;
    }
    EXPECT_EQ(with_dram, newest() ? 26U : 22U);
}

/// Read from CUPTI 13.0 before this program existed; 12.8 differs once.
TEST_P(Catalogue, PassesAreThoseOfTheTable) {
    const std::vector<std::string> chips = {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"};
    const std::string active = ".avg.pct_of_peak_sustained_active",
                      elapsed = ".avg.pct_of_peak_sustained_elapsed";
    const std::string stalled = "smsp__average_warps_issue_stalled_", ratio = "_per_issue_active.ratio";
    const auto names = [&](const std::string& chip, int row) -> std::vector<std::string> {
        const std::string op = chip == "GB202" ? "op_" : "";
        if (row == 3) return {"sm__throughput" + elapsed, "gpu__compute_memory_throughput" + elapsed};
        std::vector<std::string> list = {
            "sm__warps_active" + active,       "dram__bytes_" + op + "read.sum",
            "dram__bytes_" + op + "write.sum", "sm__inst_executed_pipe_tensor" + active,
            "sm__cycles_active.avg",           "gpu__time_duration.sum"};
        if (row == 1)
            list.insert(list.end(),
                        {"sm__pipe_tensor_cycles_active" + active, "lts__t_sectors.sum",
                         "lts__t_sectors_lookup_hit.sum", "sm__cycles_elapsed.avg", "sm__inst_executed.sum"});
        if (row == 2) {
            list.push_back("smsp__issue_active" + active);
            for (const char* reason :
                 {"long_scoreboard", "short_scoreboard", "barrier", "math_pipe_throttle", "wait"})
                list.push_back(stalled + reason + ratio);
        }
        return list;
    };
    const size_t expected[4][7] = {{1, 1, 1, 1, 1, 1, 1},
                                   {2, 2, 2, newest() ? 2U : 1U, 2, 2, 2},
                                   {3, 3, 3, 3, 3, 3, 4},
                                   {7, 8, 7, 7, 9, 8, 8}};
    std::vector<std::pair<std::string, std::vector<std::string>>> asked;
    for (int row = 0; row < 4; ++row)
        for (const std::string& chip : chips) asked.emplace_back(chip, names(chip, row));
    const std::vector<CounterPlan> plans = host->plans(asked);
    for (size_t i = 0; i < plans.size(); ++i)
        EXPECT_EQ(plans[i].passes, expected[i / 7][i % 7]) << plans[i].chip << " row " << i / 7;
    const auto passes = [&](const std::string& chip, const std::vector<std::string>& list) {
        return host->plan(chip, list).passes;
    };
    EXPECT_EQ(passes("GH100", {"lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum"}), 2U);
    EXPECT_EQ(passes("GH100", {"l1tex__t_sector_hit_rate.pct"}), 1U);
    EXPECT_EQ(passes("GH100", {"sm__throughput" + elapsed}), 8U);
    EXPECT_EQ(passes("TU102", {"sm__throughput" + elapsed}), 5U);
}

/// What we call known is exactly what CUPTI collects: each name on an object of its own, because a refusal
/// spoils it.
TEST_P(Catalogue, KnownIsWhatCuptiCollects) {
    const cupti_host::HostApi api(host->libcupti());
    std::mt19937 random(5);
    for (const char* chip : {"GH100", "GB202", "TU102"}) {
        const cupti_host::ChipHost on(api, chip);
        const std::vector<cupti_host::Metric> metrics = on.metrics();
        size_t known = 0, refused = 0;
        for (int i = 0; i < 250; ++i) {
            const cupti_host::Metric& metric = metrics[random() % metrics.size()];
            const cupti_host::Metric& other = metrics[metrics.size() - 1 - random() % 300];
            const auto rollups = on.submetrics(metric), others = on.submetrics(other);
            ASSERT_FALSE(rollups.empty()) << metric.name;
            std::string name = metric.name + rollups[random() % rollups.size()];
            if (i % 5 == 1) name = metric.name;
            if (i % 5 == 2) name = metric.name + others[random() % others.size()];
            if (i % 5 == 3) name[random() % name.size()] = 'x';
            if (i % 5 == 4) name += i % 2 == 0 ? ".sum" : " ";
            const char* pointer = name.c_str();
            ATTNSCOPE_PARAMS(CUpti_Profiler_Host_Initialize_Params, start);
            start.pChipName = chip;
            ASSERT_EQ(api.initialize(&start), CUPTI_SUCCESS);
            ATTNSCOPE_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
            add.pHostObject = start.pHostObject;
            add.ppMetricNames = &pointer;
            add.numMetrics = 1;
            const bool collects = api.add_metrics(&add) == CUPTI_SUCCESS;
            ATTNSCOPE_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, end);
            end.pHostObject = start.pHostObject;
            api.deinitialize(&end);
            EXPECT_EQ(on.knows(name), collects) << name << " on " << chip;
            (collects ? known : refused) += 1;
        }
        EXPECT_GT(known, 50U);
        EXPECT_GT(refused, 50U);
    }
}

TEST_P(Catalogue, NamesWithDotsInTheirBaseAreKnown) {
    EXPECT_TRUE(host->unknown("GH100", {"CTC.TriageCompute.ctc__rx_bytes.sum"}).empty());
    EXPECT_EQ(host->unknown("GH100", {"CTC.TriageCompute.ctc__rx_bytes"}).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Cupti, Catalogue, testing::Values(13, 12));

}  // namespace
}  // namespace attnscope
