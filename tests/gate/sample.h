#pragma once
// Facts for the gate's tests: of the published A100 run (tests/analysis/blog_run.h), and a small one made by
// hand.
#include "attnscope/baseline.h"
#include "blog_run.h"

namespace attnscope::gate::test {

GateFacts blog_facts(const attnscope::test::BlogOptions& options = {});

/// Two implementations with round numbers: "fused" (1 kernel, 128 registers, 25 % occupancy, 1,000,000 DRAM
/// bytes) and "plain" (3 kernels, 1 library call, a copy of 4,096 bytes).
GateFacts small_facts();

Subject& subject(GateFacts& facts, const std::string& name);
Measurement& measurement(GateFacts& facts, const std::string& subject, const std::string& metric);
/// Of the only part of this name.
Measurement& part_measurement(GateFacts& facts, const std::string& subject, const std::string& part,
                              const std::string& metric);

}  // namespace attnscope::gate::test
