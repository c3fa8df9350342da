#include "harness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <stdexcept>

namespace attnscope::test {
namespace {

std::string described(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& f : findings) {
        text += "  " + f.id + " [" + f.subject + "]: " + f.claim + "\n";
        for (const Evidence& e : f.evidence)
            text += "      " + e.label + " = " +
                    (e.value ? std::to_string(*e.value.number) : "absent (" + e.value.absent + ")") + "\n";
    }
    return text;
}

bool says(const Finding& f, const std::string& words) {
    if (f.claim.find(words) != std::string::npos) return true;
    for (const std::string& sentence : f.counter_evidence)
        if (sentence.find(words) != std::string::npos) return true;
    for (const Evidence& e : f.evidence)
        if (e.compared_with.find(words) != std::string::npos) return true;
    return false;
}

bool holds(const Finding& f, const ExpectedNumber& expected) {
    for (const Evidence& e : f.evidence)
        if (e.label == expected.label && e.value &&
            std::abs(*e.value.number - expected.value) <= 1e-6 * std::abs(expected.value))
            return true;
    return false;
}

bool meets(const Finding& f, const ExpectedFinding& expected) {
    if (f.id != expected.id || f.subject.find(expected.subject) == std::string::npos) return false;
    for (const ExpectedNumber& number : expected.numbers)
        if (!holds(f, number)) return false;
    for (const std::string& words : expected.words)
        if (!says(f, words)) return false;
    return true;
}

std::string wanted(const ExpectedFinding& expected) {
    std::string text = expected.id + " [" + expected.subject + "]";
    for (const ExpectedNumber& number : expected.numbers)
        text += ", " + number.label + " = " + std::to_string(number.value);
    for (const std::string& words : expected.words) text += ", \"" + words + "\"";
    return text;
}

}  // namespace

std::string test_name(const Scenario& scenario) {
    return "row_" + std::to_string(scenario.row) + "_" + scenario.name;
}

void PrintTo(const Scenario& scenario, std::ostream* out) {
    *out << "attnscope attention --device " << scenario.device;
    for (const std::string& word : scenario.arguments) *out << ' ' << word;
}

const ScenarioRun& scenario_run(const std::string& device, const std::vector<std::string>& arguments) {
    static std::map<std::pair<std::string, std::vector<std::string>>, ScenarioRun> made;
    const auto [place, is_new] = made.try_emplace({device, arguments});
    if (is_new) {
        place->second.run = attention(device, arguments);
        place->second.findings = find_all(place->second.run.analysis);
    }
    return place->second;
}

ScenarioRun python_run(const std::string& device, const std::string& program,
                       const std::vector<std::string>& arguments) {
    Scratch scratch;
    const char* source = std::getenv("ATTNSCOPE_SOURCE_DIR");
    std::vector<std::string> command{
        "collect",
        "--device",
        device,
        "-o",
        scratch.path("run"),
        "--",
        python(),
        std::string(source ? source : ".") + "/tests/scenarios/programs/" + program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    ScenarioRun result;
    result.run.outcome = attnscope(command);
    if (std::filesystem::exists(scratch.path("run/run.json"))) {
        result.run.run = read_run(scratch.path("run"));
        result.run.analysis = analyze(result.run.run);
        result.findings = find_all(result.run.analysis);
    }
    return result;
}

void expect_finding(const std::vector<Finding>& findings, const ExpectedFinding& expected) {
    for (const Finding& f : findings)
        if (meets(f, expected)) return;
    ADD_FAILURE() << "not found: " << wanted(expected) << "\nfound:\n" << described(findings);
}

void expect_silent(const std::vector<Finding>& findings, const std::string& id) {
    for (const Finding& f : findings) EXPECT_NE(f.id, id) << f.subject << ": " << f.claim;
}

void check(const Scenario& scenario) {
    const ScenarioRun& run = scenario_run(scenario.device, scenario.arguments);
    ASSERT_EQ(run.run.outcome.exit_code, scenario.exit_code) << run.run.outcome.out << run.run.outcome.err;
    for (const ExpectedFinding& expected : scenario.findings) expect_finding(run.findings, expected);
    for (const std::string& id : scenario.silent) expect_silent(run.findings, id);
}

const Value* number_of(const Finding& finding, const std::string& label) {
    for (const Evidence& e : finding.evidence)
        if (e.label == label) return &e.value;
    return nullptr;
}

const Implementation& implementation_of(const ScenarioRun& run, const std::string& name) {
    for (const Implementation& i : run.run.analysis.implementations)
        if (i.name == name) return i;
    throw std::runtime_error("no implementation " + name + " in the run:\n" + run.run.outcome.err);
}

}  // namespace attnscope::test
