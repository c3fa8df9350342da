// The metric catalogue: its text form, formulas, nearest names. Right values: arithmetic done by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "attnscope/error.h"
#include "attnscope/metrics.h"
#include "formula.h"
#include "metric_table.h"

namespace attnscope {
namespace {

MetricLookup values(std::map<std::string, double, std::less<>> known) {
    return [known = std::move(known)](std::string_view name) -> std::optional<double> {
        const auto found = known.find(name);
        return found == known.end() ? std::nullopt : std::optional<double>(found->second);
    };
}

TEST(Formula, IsEvaluatedWithItsValuesInItsText) {
    const auto result =
        metrics::evaluate_formula("100 * lts__t_sectors_lookup_hit.sum / lts__t_sectors.sum",
                                  values({{"lts__t_sectors_lookup_hit.sum", 5}, {"lts__t_sectors.sum", 20}}));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->value, 25);
    EXPECT_EQ(result->text, "100 x lts__t_sectors_lookup_hit.sum 5 / lts__t_sectors.sum 20");
}

TEST(Formula, ObeysPrecedenceAndParentheses) {
    const MetricLookup v = values({{"a", 7}, {"b", 2}});
    EXPECT_EQ(metrics::evaluate_formula("a - b - 1", v)->value, 4);
    EXPECT_EQ(metrics::evaluate_formula("a + b * 3", v)->value, 13);
    EXPECT_EQ(metrics::evaluate_formula("(a + b) * 3", v)->value, 27);
    EXPECT_EQ(metrics::evaluate_formula("a / b / 7", v)->value, 0.5);
    EXPECT_EQ(metrics::evaluate_formula("0.5*a", v)->value, 3.5);
}

TEST(Formula, WithoutAValueOrWithoutAFiniteResultIsNone) {
    const MetricLookup v = values({{"a", 7}, {"zero", 0}, {"inf", std::numeric_limits<double>::infinity()}});
    EXPECT_FALSE(metrics::evaluate_formula("a + missing", v));
    EXPECT_FALSE(metrics::evaluate_formula("a / zero", v));
    EXPECT_FALSE(metrics::evaluate_formula("zero / zero", v));
    EXPECT_FALSE(metrics::evaluate_formula("inf", v));
}

TEST(Formula, DamagedTextIsAnError) {
    for (const char* text : {"", "a +", "(a", "a)", "a b", "* a", "a ** b", "a,b", "1e", "()", "a | b"})
        EXPECT_THROW(metrics::check_formula(text), Error) << text;
    EXPECT_THROW(metrics::check_formula(std::string(100'000, '(')), Error) << "and the stack holds";
}

TEST(Formula, VendorNamesAreEachOnceInOrder) {
    EXPECT_EQ(vendor_names("b.sum + 2 * a__x.avg.pct / b.sum"),
              (std::vector<std::string>{"b.sum", "a__x.avg.pct"}));
    EXPECT_TRUE(vendor_names("1 / 0").empty());
}

TEST(Role, FirstAlternativeWithValuesCounts) {
    const MetricRole role{"r", "r", {"core"}, Unit::bytes, {"new.sum", "old.sum"}, "m", {}};
    EXPECT_EQ(evaluate(role, values({{"old.sum", 1}, {"new.sum", 2}}))->value, 2);
    EXPECT_EQ(evaluate(role, values({{"old.sum", 1}}))->text, "old.sum 1");
    EXPECT_FALSE(evaluate(role, values({})));
    EXPECT_EQ(*formula_of(role, [](const std::string& name) { return name == "old.sum"; }), "old.sum");
    EXPECT_EQ(formula_of(role, [](const std::string&) { return false; }), nullptr);
}

TEST(Catalogue, HoldsTheMissionsRoles) {
    for (const char* role : {"achieved_occupancy", "dram_read", "dram_write", "tensor_pipe",
                             "sm_active_cycles", "kernel_time"}) {
        const MetricRole* found = find_metric_role(role);
        ASSERT_NE(found, nullptr) << role;
        EXPECT_EQ(found->sets.front(), "core") << role;
    }
    EXPECT_EQ(find_metric_role("nothing"), nullptr);
    EXPECT_EQ(metric_sets().front(), "core");
    for (const char* set : {"tensor", "memory", "stalls"}) {
        const std::vector<std::string> sets = metric_sets();
        EXPECT_NE(std::find(sets.begin(), sets.end(), set), sets.end()) << set;
    }
}

TEST(Catalogue, EveryRowIsFitToBeShown) {
    for (const MetricRole& role : metric_catalogue()) {
        EXPECT_EQ(role.meaning.back(), '.') << role.role;
        EXPECT_EQ(role.title.find('.'), std::string::npos) << role.role;
        std::set<std::string> chips;
        for (const auto& [chip, why] : role.absent)
            EXPECT_TRUE(chips.insert(chip).second) << role.role << chip;
        for (const std::string& formula : role.formulas)
            EXPECT_FALSE(vendor_names(formula).empty()) << formula;
        // A share of a peak says of which cycles: the two differ.
        for (const std::string& formula : role.formulas)
            if (role.role.starts_with("tensor_pipe")) {
                EXPECT_EQ(formula.find("elapsed") != std::string::npos,
                          role.title.find("elapsed") != std::string::npos)
                    << role.role;
            }
    }
    EXPECT_EQ(*find_metric_role("dram_read")->absent_on("GB20B"),
              "its memory is the system's, and CUPTI has no DRAM byte counters for it");
    EXPECT_EQ(find_metric_role("dram_read")->absent_on("GH100"), nullptr);
}

constexpr const char* kRow =
    "r\ttitle\tcore, tensor\tbytes\ta.sum | 2 * b.sum\tMeaning.\tGA10B GB10B: none; TU102: old\n";

TEST(Table, IsRead) {
    const auto table =
        metrics::parse_metric_table(std::string("# head\n\n") + kRow + "s\tt\tmemory\t%\tc.pct\tM.", "t");
    ASSERT_EQ(table.size(), 2U);
    EXPECT_EQ(table[0].sets, (std::vector<std::string>{"core", "tensor"}));
    EXPECT_EQ(table[0].unit, Unit::bytes);
    EXPECT_EQ(table[0].formulas, (std::vector<std::string>{"a.sum", "2 * b.sum"}));
    ASSERT_EQ(table[0].absent.size(), 3U);
    EXPECT_EQ(*table[0].absent_on("GB10B"), "none");
    EXPECT_EQ(*table[0].absent_on("TU102"), "old");
    EXPECT_TRUE(table[1].absent.empty());
}

TEST(Table, MistakesAreNamedWithTheirLine) {
    const auto says = [](const std::string& text, const std::string& words) {
        try {
            metrics::parse_metric_table(text, "mine.tsv");
            ADD_FAILURE() << text << " was taken";
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
        }
    };
    says("", "mine.tsv: no metric in it");
    says("# x\nr\ttitle\n", "mine.tsv, line 2: expected role");
    says(std::string(kRow) + kRow, "line 2: \"r\" is given twice");
    says("r\tt\tcore\tparsecs\ta.sum\tM.\n", "unknown unit \"parsecs\"");
    says("r\tt\tcore\tbytes\ta.sum +\tM.\n", "formula \"a.sum +\"");
    says("r\tt\tcore\tbytes\ta.sum\tM.\tGA10B\n", "absent chips look like");
    says("r\tt\t\tbytes\ta.sum\tM.\n", "an empty cell");
}

TEST(Table, DamageNeverCrashes) {
    std::mt19937 random(7);
    for (int round = 0; round < 20'000; ++round) {
        std::string text = kRow;
        for (int change = 0; change < 3; ++change)
            text[random() % text.size()] = "\t\n |()+*:;,.#a1%"[random() % 17];
        try {
            for (const MetricRole& role : metrics::parse_metric_table(text, "t"))
                evaluate(role, values({{"a.sum", 1}}));
        } catch (const Error&) {
        }
    }
}

TEST(Nearest, TypingErrorsAndSwappedWords) {
    const std::vector<std::string> known = {"dram__bytes_read.sum", "dram__bytes_write.sum",
                                            "dram__sectors_read.sum", "sm__warps_active.avg.per_cycle_active",
                                            "lts__t_sectors.sum"};
    EXPECT_EQ(nearest_names("dram__byte_read.sum", known).front(), "dram__bytes_read.sum");
    EXPECT_EQ(nearest_names("dram__read_bytes.sum", known).front(), "dram__bytes_read.sum");
    EXPECT_EQ(nearest_names("sm__active_warps.avg", known).front(), "sm__warps_active.avg.per_cycle_active");
    EXPECT_EQ(nearest_names("x", known, 2).size(), 2U);
    EXPECT_TRUE(nearest_names("x", {}).empty());
    EXPECT_EQ(nearest_names(std::string(1'000'000, 'x'), known).size(), 3U) << "and soon";
}

TEST(Nsight, SectionsAreRead) {
    ASSERT_GE(nsight_sections().size(), 5U);
    EXPECT_EQ(nsight_sections()[0].section, "SpeedOfLight");
    EXPECT_EQ(nsight_sections()[0].sets, (std::vector<std::string>{"basic", "detailed", "full"}));
    for (const ProfilerSection& section : nsight_sections())
        for (const std::string& name : section.metrics) EXPECT_NE(name.find("__"), std::string::npos) << name;
}

}  // namespace
}  // namespace attnscope
