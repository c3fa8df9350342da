// Changes that teams make, before and after, each run for real on the virtual GPU with the real LibTorch:
// those that cost something must be caught with the right words and exit code, those that do not must pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>

#include "attnscope/gate.h"
#include "attnscope/rules.h"
#include "end_to_end/harness.h"

namespace attnscope::gate {
namespace {

using Arguments = std::vector<std::string>;

/// What is run: the workload's options, or (with --python first) those of programs/module.py.
struct Program {
    std::string device;
    Arguments arguments;
};

GateFacts collect_facts(const Program& p) {
    if (p.arguments.empty() || p.arguments.front() != "--python") {
        const test::AttentionRun run = test::attention("virtual:" + p.device, p.arguments);
        return facts_of(run.run, run.analysis, find_all(run.analysis));
    }
    const test::Scratch scratch;
    const std::string program =
        std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/tests/gate/programs/module.py";
    Arguments command = {"collect",           "--device", "virtual:" + p.device, "-o",
                         scratch.path("run"), "--",       test::python(),        program};
    command.insert(command.end(), p.arguments.begin() + 1, p.arguments.end());
    const test::Outcome outcome = test::attnscope(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const Run run = read_run(scratch.path("run"));
    const Analysis analysis = analyze(run);
    return facts_of(run, analysis, find_all(analysis));
}

/// Equal programs are run once.
const GateFacts& facts(const Program& p) {
    static std::map<std::string, GateFacts> all;
    std::string key = p.device;
    for (const std::string& a : p.arguments) key += ' ' + a;
    const auto it = all.find(key);
    return it != all.end() ? it->second : all.emplace(key, collect_facts(p)).first->second;
}

const Arguments kSmall = {"--batch", "2", "--heads", "8", "--query-length", "128"};

Program workload(const std::string& device, const Arguments& arguments) {
    Program p{device, kSmall};
    p.arguments.insert(p.arguments.end(), arguments.begin(), arguments.end());
    return p;
}

GateResult judged(const Program& before, const Program& after, const std::string& policy = "") {
    const Baseline baseline{"before", facts(before)};
    return judge(facts(after), &baseline, read_policy(policy, "gate.toml"), {"baseline.json", {"run"}});
}

struct Scenario {
    const char* name;
    Program before, after;
    Exit exit;
    const char *rule, *subject;  ///< of a verdict that must be there, worse or not judged
    const char* words;           ///< in its sentence or cause, or in the headline
};
void PrintTo(const Scenario& s, std::ostream* out) {
    *out << s.name;
}

class Caught : public ::testing::TestWithParam<Scenario> {};

TEST_P(Caught, WithTheRightWordsAndCode) {
    const Scenario& s = GetParam();
    if (s.after.arguments.front() == "--python" && test::python().empty())
        GTEST_SKIP() << "no Python with torch";
    const GateResult r = judged(s.before, s.after);
    std::string all = r.headline + '\n';
    for (const std::string& why : r.no_comparison) all += why + '\n';
    bool rule = !*s.rule;
    for (const Verdict& v : r.verdicts) {
        if (v.outcome != Outcome::worse && v.outcome != Outcome::unjudged) continue;
        all += v.rule + ": " + v.sentence + " | " + v.cause + '\n';
        rule = rule || (v.rule == s.rule && v.subject == s.subject);
    }
    EXPECT_EQ(r.exit, s.exit) << all;
    EXPECT_TRUE(rule) << s.rule << " of " << s.subject << " is not among\n" << all;
    EXPECT_NE(all.find(s.words), std::string::npos) << s.words << " is not in\n" << all;
}

INSTANTIATE_TEST_SUITE_P(
    Gate, Caught,
    ::testing::Values(
        Scenario{"MaskOutOfPlace",
                 {"A100-SXM4-80GB", {"--python", "--by-hand"}},
                 {"A100-SXM4-80GB", {"--python", "--by-hand", "--out-of-place"}},
                 Exit::regression,
                 "matching/copy",
                 "attention",
                 "copy `DtoD` in aten::masked_fill: new"},
        Scenario{"HeadDimension65IsPadded", workload("A100-SXM4-80GB", {"--only", "sdpa_flash"}),
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash", "--head-dim", "65"}), Exit::regression,
                 "exact/launches", "sdpa_flash", "new"},
        Scenario{"AnAddedMaskTurnsFlashOff", workload("A100-SXM4-80GB", {"--only", "sdpa_flash,sdpa_auto"}),
                 workload("A100-SXM4-80GB",
                          {"--only", "sdpa_flash,sdpa_auto", "--mask", "additive", "--no-causal"}),
                 Exit::regression, "exact/status", "sdpa_flash", "attn_mask"},
        Scenario{"KAndVRepeatedByHand",
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash", "--kv-heads", "2"}),
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash", "--kv-heads", "2", "--repeat-kv"}),
                 Exit::regression, "exact/launches", "sdpa_flash", "new"},
        Scenario{"DeterministicRefusesCudnn",
                 workload("H100-SXM5", {"--only", "sdpa_cudnn,sdpa_auto", "--backward"}),
                 workload("H100-SXM5", {"--only", "sdpa_cudnn,sdpa_auto", "--backward", "--deterministic"}),
                 Exit::regression, "exact/status", "sdpa_cudnn", "deterministic"},
        Scenario{"GradientsAtHeadDimension224OnRtx4090",
                 workload("RTX-4090", {"--only", "sdpa_flash,sdpa_auto", "--head-dim", "224"}),
                 workload("RTX-4090", {"--only", "sdpa_flash,sdpa_auto", "--head-dim", "224", "--backward"}),
                 Exit::regression, "exact/status", "sdpa_flash", "refused"},
        Scenario{"BatchAbove65535",
                 {"A100-SXM4-80GB",
                  {"--batch", "65535", "--heads", "1", "--query-length", "16", "--only", "sdpa_flash"}},
                 {"A100-SXM4-80GB",
                  {"--batch", "65536", "--heads", "1", "--query-length", "16", "--only", "sdpa_flash"}},
                 Exit::cannot_judge,
                 "",
                 "",
                 "No comparison was made"},
        Scenario{"CudnnDisabled",
                 {"H100-SXM5", {"--python"}},
                 {"H100-SXM5", {"--python", "--no-cudnn"}},
                 Exit::regression,
                 "matching/kernel",
                 "attention",
                 "new"},
        Scenario{"DtypeToFp32", workload("A100-SXM4-80GB", {"--only", "sdpa_efficient"}),
                 workload("A100-SXM4-80GB", {"--only", "sdpa_efficient", "--dtype", "fp32"}),
                 Exit::regression, "exact/least_bytes", "sdpa_efficient", "new"},
        Scenario{"AnotherGpu", workload("A100-SXM4-80GB", {"--only", "sdpa_flash"}),
                 workload("H100-SXM5", {"--only", "sdpa_flash"}), Exit::cannot_judge, "", "", "another GPU"},
        Scenario{"OneContiguous",
                 {"A100-SXM4-80GB", {"--python"}},
                 {"A100-SXM4-80GB", {"--python", "--contiguous"}},
                 Exit::regression,
                 "matching/kernel",
                 "attention",
                 "new"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Gate, AnotherLibTorchIsItselfAVerdict) {
    const Program p = workload("A100-SXM4-80GB", {"--only", "sdpa_flash"});
    GateFacts other = facts(p);
    bool changed = false;
    for (Fact& f : other.environment)
        if (f.label == "torch") {
            f.value = "2.12.0";
            changed = true;
        }
    ASSERT_TRUE(changed);
    const Baseline baseline{"", facts(p)};
    const auto with = [&](const char* policy) {
        return judge(other, &baseline, read_policy(policy, "gate.toml"), {}).exit;
    };
    EXPECT_EQ(with(""), Exit::success);
    EXPECT_EQ(with("environment = \"fail\""), Exit::regression);
    EXPECT_EQ(with("environment = \"cannot-judge\""), Exit::cannot_judge);
}

TEST(Gate, AnotherDtypeIsNamedFirst) {
    const GateResult r = judged(workload("A100-SXM4-80GB", {"--only", "sdpa_efficient"}),
                                workload("A100-SXM4-80GB", {"--only", "sdpa_efficient", "--dtype", "fp32"}));
    ASSERT_FALSE(r.inputs.empty());
    EXPECT_EQ(r.inputs.front().label, "dtype");
    EXPECT_EQ(r.inputs.front().after, "fp32");
}

struct Harmless {
    const char* name;
    Program before, after;
    bool better;  ///< something must be better, not only the same
};
void PrintTo(const Harmless& s, std::ostream* out) {
    *out << s.name;
}

class Passes : public ::testing::TestWithParam<Harmless> {};

TEST_P(Passes, WithNothingWorse) {
    const Harmless& s = GetParam();
    if (s.after.arguments.front() == "--python" && test::python().empty())
        GTEST_SKIP() << "no Python with torch";
    const GateResult r = judged(s.before, s.after);
    EXPECT_EQ(r.exit, Exit::success) << r.headline << '\n'
                                     << (r.verdicts.empty() ? "" : r.verdicts.front().sentence);
    EXPECT_EQ(r.count(Outcome::better) > 0, s.better) << r.headline;
}

INSTANTIATE_TEST_SUITE_P(
    Gate, Passes,
    ::testing::Values(
        Harmless{"AnotherSeed", workload("A100-SXM4-80GB", {"--only", "sdpa_flash"}),
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash", "--seed", "7"}), false},
        Harmless{"HalfTheBatch",
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash"}),
                 {"A100-SXM4-80GB",
                  {"--batch", "1", "--heads", "8", "--query-length", "128", "--only", "sdpa_flash"}},
                 true},
        Harmless{"MoreWarmUp", workload("A100-SXM4-80GB", {"--only", "sdpa_flash"}),
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash", "--warmup", "3"}), false},
        Harmless{"TheSameProgramAgain",
                 {"A100-SXM4-80GB", {"--python"}},
                 {"A100-SXM4-80GB", {"--python", "--no-cudnn"}},
                 false},
        Harmless{"HalfTheHeads",
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash"}),
                 {"A100-SXM4-80GB",
                  {"--batch", "2", "--heads", "4", "--query-length", "128", "--only", "sdpa_flash"}},
                 true},
        Harmless{"HeadDimension64InsteadOf65",
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash", "--head-dim", "65"}),
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash"}), true},
        Harmless{"EnableGqaInsteadOfRepeating",
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash", "--kv-heads", "2", "--repeat-kv"}),
                 workload("A100-SXM4-80GB", {"--only", "sdpa_flash", "--kv-heads", "2"}), true},
        Harmless{"MaskedInPlace",
                 {"A100-SXM4-80GB", {"--python", "--by-hand", "--out-of-place"}},
                 {"A100-SXM4-80GB", {"--python", "--by-hand"}},
                 true},
        Harmless{"ContiguousRemoved",
                 {"A100-SXM4-80GB", {"--python", "--contiguous"}},
                 {"A100-SXM4-80GB", {"--python"}},
                 true},
        Harmless{"ScaledDotProductInsteadOfByHand",
                 {"A100-SXM4-80GB", {"--python", "--by-hand"}},
                 {"A100-SXM4-80GB", {"--python"}},
                 true}),
    [](const auto& one) { return std::string(one.param.name); });

// attnscope gate --before CMD --after CMD: the runs are made by the gate itself.

/// A command for the shell that says in `order` which side ran, and then runs the workload.
std::string side_command(const std::string& order, const std::string& side, const std::string& options) {
    return "echo " + side + " >> '" + order + "'; echo printed by the program; '" +
           test::binary("attention_workload") +
           "' --batch 2 --heads 8 --query-length 128 --only sdpa_flash " + options;
}

test::Outcome in_turns(const test::Scratch& scratch, const std::string& before, const std::string& after,
                       const Arguments& more = {}) {
    Arguments command = {
        "gate",    "--device", "virtual:A100-SXM4-80GB", "-o", scratch.path("runs"), "--before", before,
        "--after", after};
    command.insert(command.end(), more.begin(), more.end());
    return test::attnscope(command);
}

std::string text_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(GateInTurns, RunsBothSidesInTheirOrderAndSaysItsOwnAlone) {
    const test::Scratch scratch;
    const std::string order = scratch.path("order");
    const test::Outcome o = in_turns(scratch, side_command(order, "b", ""), side_command(order, "a", ""),
                                     {"--repeat", "3", "--format", "json"});
    ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
    EXPECT_EQ(text_of(order), "b\na\na\nb\nb\na\n");
    EXPECT_EQ(o.out.front(), '{') << "what the programs print is not the verdict";
    EXPECT_EQ(o.out.find("\nprinted by the program"), std::string::npos);
    EXPECT_NE(o.err.find("printed by the program"), std::string::npos);
    for (const char* side : {"before", "after"})
        for (const char* number : {"1", "2", "3"})
            EXPECT_EQ(read_run(scratch.path(std::string("runs/") + side + "/" + number)).processes.size(),
                      1u);
}

TEST(GateInTurns, OneRunASideIsEnoughWhereThereAreNoTimes) {
    const test::Scratch scratch;
    const std::string order = scratch.path("order");
    const test::Outcome o = in_turns(
        scratch, "HF_TOKEN=hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345 " + side_command(order, "b", "--head-dim 64"),
        side_command(order, "a", "--head-dim 65"));
    EXPECT_EQ(o.exit_code, 1) << o.out << o.err;
    EXPECT_EQ(text_of(order), "b\na\n");
    EXPECT_NE(o.out.find("input changed: head dimension: 64 -> 65"), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("✗ worse"), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("head: echo a >> "), std::string::npos) << "which command is which: " << o.out;
    EXPECT_EQ(o.out.find("hf_aBc"), std::string::npos) << "secrets of a command are not shown";
    EXPECT_NE(o.out.find("Next: attnscope report " + scratch.path("runs/after/1")), std::string::npos)
        << o.out;
}

TEST(GateInTurns, AFailureOfEitherSideIsNoComparison) {
    const test::Scratch scratch;
    const std::string order = scratch.path("order"), works = side_command(order, "x", "");
    for (const auto& [before, after, words] :
         {std::tuple<std::string, std::string, std::string>{
              "exit 7", works, "before, run 1: the program ended with exit code 7"},
          {works, "kill -9 $$", "after, run 1: the program was ended by signal 9"},
          {works, "true", "after, run 1: no process of it used CUDA"}}) {
        test::Outcome o = in_turns(scratch, before, after, {"--repeat", "2"});
        EXPECT_EQ(o.exit_code, 3) << o.out << o.err;
        std::replace(o.out.begin(), o.out.end(), '\n', ' ');  // the lines are as wide as a terminal
        EXPECT_EQ(o.out.rfind("CANNOT JUDGE: No comparison was made: " + words, 0), 0u) << o.out;
    }
}

}  // namespace
}  // namespace attnscope::gate
