#pragma once
// A scenario: something that went wrong in public, run again as the smallest problem that shows it, on the
// virtual GPU with the real LibTorch; what attnscope finds is held to numbers. README.md lists them by row.
#include <string>
#include <vector>

#include "attnscope/rules.h"
#include "end_to_end/harness.h"

namespace attnscope::test {

/// One number of a finding, found by its label: an evidence with this label, within a millionth.
struct ExpectedNumber {
    std::string label;
    double value = 0;
};

/// What a run must lead to; of several findings with this id and subject, one must hold it all.
struct ExpectedFinding {
    std::string id;
    std::string subject;  ///< part of it; empty: any
    std::vector<ExpectedNumber> numbers;
    std::vector<std::string> words;  ///< parts of the claim, of the counter-evidence or of a threshold
};

struct Scenario {
    int row = 0;                         ///< of README.md
    std::string name;                    ///< in words of a test's name: "MaskRefusesFlash"
    std::string device;                  ///< "virtual:H100-SXM5"
    std::vector<std::string> arguments;  ///< of `attnscope attention`
    std::vector<ExpectedFinding> findings;
    std::vector<std::string> silent;  ///< ids that must not be found
    int exit_code = 0;
};
/// For GoogleTest: "row_12_BatchAbove65535".
std::string test_name(const Scenario& scenario);
void PrintTo(const Scenario& scenario, std::ostream* out);

/// `attnscope attention`, the findings beside it. Equal runs of one test program are made once.
struct ScenarioRun {
    AttentionRun run;
    std::vector<Finding> findings;
};
const ScenarioRun& scenario_run(const std::string& device, const std::vector<std::string>& arguments);

/// A Python program of programs/ under `attnscope collect`. The caller skips where python() is empty.
ScenarioRun python_run(const std::string& device, const std::string& program,
                       const std::vector<std::string>& arguments = {});

/// Runs it and asserts all that it expects.
void check(const Scenario& scenario);
void expect_finding(const std::vector<Finding>& findings, const ExpectedFinding& expected);
void expect_silent(const std::vector<Finding>& findings, const std::string& id);

/// The evidence with this label; nullptr.
const Value* number_of(const Finding& finding, const std::string& label);
/// By name; throws when the run has none.
const Implementation& implementation_of(const ScenarioRun& run, const std::string& name);

}  // namespace attnscope::test
