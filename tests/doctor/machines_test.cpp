// Machines as they are met (the *_cases.cpp beside this), each with what doctor must say of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "machine_cases.h"

namespace attnscope::doctor::test {
namespace {

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (const auto& part : {permission_cases(), driver_cases(), sharing_cases(), own_cases()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

class Machines : public testing::TestWithParam<Case> {};

TEST_P(Machines, AreDiagnosed) {
    const Case& one = GetParam();
    FakeMachine machine;
    one.make(machine);
    Request request;
    request.wanted = one.wanted.asked;
    request.program = one.program;
    const Diagnosis d = diagnose(machine, request);
    const std::string text = render_text(d);
    EXPECT_EQ(d.usable, one.usable) << text;
    EXPECT_EQ(d.wanted, one.wanted.found);
    EXPECT_EQ(d.usable_as_wanted(),
              std::find(one.usable.begin(), one.usable.end(), one.wanted.found) != one.usable.end());
    for (const Expected& expected : one.expected)
        EXPECT_TRUE(std::any_of(d.findings.begin(), d.findings.end(),
                                [&](const Finding& f) {
                                    return f.check == expected.check && f.state == expected.state &&
                                           f.seen.find(expected.seen) != std::string::npos &&
                                           f.remedy.find(expected.remedy) != std::string::npos;
                                }))
            << expected.check << ' ' << to_string(expected.state) << ": " << expected.seen << '\n'
            << text;
    // What must hold of every machine.
    for (size_t i = 0; i < d.findings.size(); ++i) {
        const Finding& f = d.findings[i];
        EXPECT_FALSE(f.seen.empty()) << f.check;
        EXPECT_EQ(f.state == State::fail,
                  std::find(f.blocks.begin(), f.blocks.end(), d.wanted) != f.blocks.end())
            << f.check;
        const bool bad = f.state == State::fail || f.state == State::warn;
        EXPECT_TRUE(!bad || !f.remedy.empty()) << f.check << f.seen;
        EXPECT_TRUE(f.state != State::ok || f.remedy.empty()) << f.check;
        EXPECT_LE(d.findings[i > 0 ? i - 1 : 0].state, f.state) << "the worst first\n" << text;
    }
    const bool failed = std::any_of(d.findings.begin(), d.findings.end(),
                                    [](const Finding& f) { return f.state == State::fail; });
    EXPECT_EQ(failed, !d.usable_as_wanted());
}

INSTANTIATE_TEST_SUITE_P(All, Machines, testing::ValuesIn(all_cases()),
                         [](const testing::TestParamInfo<Case>& one) { return std::string(one.param.name); });

std::vector<std::string> checks_in_state(const Diagnosis& d, State state) {
    std::vector<std::string> names;
    for (const Finding& f : d.findings)
        if (f.state == state) names.push_back(f.check);
    return names;
}

TEST(Machine, HealthyHasNothingToMend) {
    FakeMachine m;
    make_h100(m);
    const Diagnosis d = diagnose(m, {});
    EXPECT_TRUE(checks_in_state(d, State::fail).empty());
    EXPECT_TRUE(checks_in_state(d, State::warn).empty()) << render_text(d);
    EXPECT_EQ(checks_in_state(d, State::unknown), std::vector<std::string>{"clocks"});
    EXPECT_EQ(d.verdict.find("usable for counters, as far as can be seen from outside"), 0u) << d.verdict;
}

TEST(Machine, VerdictsNameWhatStandsInTheWay) {
    FakeMachine user;
    make_h100(user);
    user.file("/proc/self/status", kUserRights);
    EXPECT_EQ(diagnose(user, {}).verdict,
              "not usable for counters (permission); usable for kernel records only");
    EXPECT_EQ(diagnose(user, {Use::records, {}}).verdict,
              "usable for kernel records only (permission stands against counters)");
    FakeMachine laptop;
    make_laptop(laptop);
    EXPECT_EQ(diagnose(laptop, {}).verdict,
              "usable for prediction only: counters and kernel records need an NVIDIA GPU");
    EXPECT_EQ(diagnose(laptop, {Use::counters, {}}).verdict,
              "not usable for counters (NVIDIA device); usable for prediction only");
    laptop.without("/opt");
    EXPECT_EQ(diagnose(laptop, {}).verdict, "not usable for prediction (virtual GPU); usable for nothing");
}

TEST(Machine, SeveralGpusAreToldApart) {
    FakeMachine m;
    make_h100(m);
    m.nvml_facts.devices.push_back(m.nvml_facts.devices[0]);
    m.nvml_facts.devices.push_back(m.nvml_facts.devices[0]);
    m.driver_facts.gpu.names.assign(3, "NVIDIA H100 80GB HBM3");
    m.nvml_facts.devices[1].throttle_reasons = 0x4;
    m.nvml_facts.devices[1].persistence = false;
    const std::string text = render_text(diagnose(m, {}), 1000);
    EXPECT_NE(text.find("device 1: SM clock 1980 MHz of at most 1980 MHz, held down by the power limit"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("devices 0, 2: SM clock 1980 MHz of at most 1980 MHz; NVML does not tell"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("3 devices: 3 x NVIDIA H100 80GB HBM3"), std::string::npos) << text;
    EXPECT_NE(text.find("nvidia-smi -i 0,2 -lgc"), std::string::npos) << text;
    EXPECT_NE(text.find("nvidia-smi -i 1 -lgc"), std::string::npos) << text;
    EXPECT_NE(text.find("off for device 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace attnscope::doctor::test
