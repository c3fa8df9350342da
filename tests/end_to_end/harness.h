#pragma once
// Runs the attention workload under the built attnscope, and reads what it left.
#include <string>
#include <vector>

#include "attnscope/analysis.h"
#include "attnscope/run.h"
#include "support/command.h"

namespace attnscope::test {

/// `attnscope attention --device DEVICE ARGUMENTS`, loaded. The caller asserts on `outcome` first.
struct AttentionRun {
    Outcome outcome;
    Run run;
    Analysis analysis;
};
AttentionRun attention(const std::string& device, const std::vector<std::string>& arguments);

std::string python();  ///< one that imports torch; empty when there is none

/// The counted iterations' kernels of one implementation, in the order of issue, with their mangled names.
struct KernelLaunch {
    std::string name;
    Launch launch;
};
std::vector<KernelLaunch> kernels_of(const Run& run, const std::string& implementation);

}  // namespace attnscope::test
