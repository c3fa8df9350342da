// The policy file: what it says is what is judged, and each mistake is named with its place.
#include <gtest/gtest.h>

#include <random>

#include "attnscope/error.h"
#include "attnscope/policy.h"

namespace attnscope::gate {
namespace {

std::string error_of(const std::string& toml) {
    try {
        read_policy(toml, "gate.toml");
    } catch (const Error& e) {
        EXPECT_EQ(e.exit(), Exit::bad_input);
        return e.what();
    }
    return "";
}

struct Mistake {
    const char *toml, *place, *words;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamedWithTheirPlace) {
    const std::string what = error_of(GetParam().toml);
    EXPECT_EQ(what.rfind(std::string("gate.toml:") + GetParam().place, 0), 0u) << what;
    EXPECT_NE(what.find(GetParam().words), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << "one sentence";
}

INSTANTIATE_TEST_SUITE_P(
    Policy, Mistakes,
    ::testing::Values(
        Mistake{"version = 1\nenviroment = \"fail\"", "2:1", "did you mean 'environment'?"},
        Mistake{"version = 2", "1:", "version 1"},
        Mistake{"[[limit]]\nmetric = \"registerz\"\nat_most = 1", "2:", "did you mean 'registers'?"},
        Mistake{"[[limit]]\nmetric = \"dram__bytes_read.sum\"\nat_most = 1", "2:", "there is no metric"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nat_mots = 1", "3:1", "did you mean 'at_most'?"},
        Mistake{"[[limit]]\nmetric = \"launches\"", "1:", "sets no bound"},
        Mistake{"[[limit]]\nat_most = 1", "1:", "no metric"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nat_most = \"1\"", "3:", "number"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nat_most = -1", "3:", "from 0 up"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nat_most = nan", "3:", "from 0 up"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nmay_worsen = \"5\"", "3:", "5%"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nmay_worsen = \"-5%\"", "3:", "5%"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nat_most = 1\nat_least = 2",
                "1:", "nothing can satisfy both"},
        Mistake{
            "[[limit]]\nmetric = \"launches\"\nat_most = 1\n[[limit]]\nmetric = \"launches\"\nat_least = 2",
            "4:", "contradicts that of line 1"},
        Mistake{"[[limit]]\nmetric = \"backend\"\nis = \"flash\"\nnot = \"flash\"",
                "1:", "nothing can satisfy both"},
        Mistake{
            "[[limit]]\nmetric = \"backend\"\nis = \"flash\"\n[[limit]]\nmetric = \"backend\"\nis = \"math\"",
            "4:", "contradicts"},
        Mistake{"[[limit]]\nmetric = \"backend\"\nat_most = 1", "2:", "is words"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nis = \"one\"", "2:", "is a number"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nnoise = \"1%\"", "2:", "only counters"},
        Mistake{"[[limit]]\nmetric = \"dram_read\"\nnoise = 1", "3:", "3%"},
        Mistake{"[[limit]]\nmetric = \"dram_read\"\nignore = true\nnoise = \"1%\"", "1:", "it can do one"},
        Mistake{"[[limit]]\nkernel = \"*\"\nmetric = \"peak_memory\"\nat_most = 1", "3:", "a kernel has no"},
        Mistake{"[[limit]]\nmetric = \"launches\"\nignore = true\nat_most = 1", "1:", "it can do one"},
        Mistake{"[classes]\nexact = false\ncounters = false\ntime = false", "1:", "nothing would be judged"},
        Mistake{"[classes]\nexact = 1", "2:", "true or false"}, Mistake{"[time]\nmatters = 3", "2:", "3%"},
        Mistake{"[time]\nmatters = \"200%\"", "2:", "between 0% and 100%"},
        Mistake{"cannot_judge = \"maybe\"", "1:", "\"exit-3\", \"pass\", \"fail\""},
        Mistake{"limit = 1", "1:", "[[limit]]"}, Mistake{"= 1", "1:", "not TOML"},
        Mistake{"[[limit]]\nmetric = \"a", "2:", "not TOML"}));

TEST(Policy, SaysWhatTheFileSays) {
    const Policy p = read_policy(R"(
version = 1
cannot_judge = "fail"
environment = "cannot-judge"
data_loss = "allow"
new = "report"
[classes]
time = false
[time]
matters = "4%"
false_alarms = "0.5%"
[[limit]]
implementation = "sdpa_*"
kernel = "*flash_fwd*"
metric = "registers"
may_worsen = "5%"
at_most = 168
[[limit]]
metric = "backend"
not = "math"
)",
                                 "gate.toml");
    EXPECT_EQ(p.cannot_judge, CannotJudge::fail);
    EXPECT_EQ(p.environment, OnDifference::cannot_judge);
    EXPECT_EQ(p.unknown, OnDifference::report);
    EXPECT_TRUE(p.allow_data_loss);
    EXPECT_TRUE(p.exact && p.counters && !p.time);
    EXPECT_DOUBLE_EQ(p.time_matters, 0.04);
    EXPECT_DOUBLE_EQ(p.false_alarms, 0.005);
    ASSERT_EQ(p.limits.size(), 2u);
    EXPECT_EQ(p.limits[0].line, 12);
    EXPECT_TRUE(p.limits[0].may_worsen->relative);
    EXPECT_DOUBLE_EQ(p.limits[0].may_worsen->of(200), 10);
    EXPECT_EQ(p.limits[0].text(), "registers of *flash_fwd* in sdpa_*: at most 168, may worsen by 5%");
    EXPECT_EQ(p.limits[0].cell(), "≤ 168, ± 5 %");
    EXPECT_EQ(p.limits[1].is_not, "math");
}

TEST(Policy, AnEmptyFileIsTheBuiltInPolicy) {
    const Policy p = read_policy("", "gate.toml");
    EXPECT_TRUE(p.exact && p.counters && p.time && !p.allow_data_loss && p.limits.empty());
    EXPECT_THROW(load_policy("/nonexistent.toml"), Error);
    EXPECT_THROW(load_policy("/"), Error);
}

TEST(Policy, DamagedFilesAreReadOrRefusedNeverMore) {
    const std::string whole =
        "version = 1\n[time]\nmatters = \"4%\"\n[[limit]]\nmetric = \"launches\"\nat_most = 1\n";
    std::mt19937 random(3);
    for (int i = 0; i < 3000; ++i) {
        std::string damaged = whole;
        for (int k = 0; k < 2; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
        error_of(damaged);
    }
}

TEST(Patterns, StarAndQuestionMark) {
    EXPECT_TRUE(matches("*", "") && matches("*", "abc") && matches("a*c", "abbc") && matches("?b*", "abc"));
    EXPECT_TRUE(matches("*flash*", "pytorch_flash::flash_fwd"));
    EXPECT_FALSE(matches("a?", "a") || matches("", "a") || matches("a*d", "abc") || matches("[ab]", "a"));
    // Linear, not exponential, in the stars.
    EXPECT_FALSE(matches(std::string(200, '*') + "b", std::string(100000, 'a')));
}

}  // namespace
}  // namespace attnscope::gate
