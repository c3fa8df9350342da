// The default metrics, planned by the helper program.
#include <nlohmann/json.hpp>

#include "../launch/spawn.h"
#include "attnscope/counter_host.h"
#include "attnscope/error.h"
#include "host_machine.h"

namespace attnscope::doctor {

std::vector<std::string> HostMachine::chips(const std::string& libcupti) const {
    constexpr int kLimitMs = 60000;
    std::vector<std::string> found;
    const std::string answer = launch::output_of(
        {installation().folder + "/attnscope_cupti_host", "--cupti", libcupti, "devices"}, kLimitMs);
    const auto json = nlohmann::json::parse(answer, nullptr, false);
    if (!json.is_object() || !json.contains("devices") || !json["devices"].is_array()) return found;
    for (const auto& device : json["devices"]) {
        if (!device.is_object() || !device.contains("chip") || !device["chip"].is_string()) continue;
        const std::string chip = device["chip"];
        if (!chip.empty()) found.push_back(chip);
    }
    return found;
}

PlanFacts HostMachine::plan(const std::string& libcupti, const std::string& chip) const {
    PlanFacts facts;
    try {
        const CounterHost host(libcupti);
        const ResolvedMetrics core = resolve_metrics(host, chip, "core");
        const CounterPlan plan = host.plan(chip, core.names);
        facts.metrics = plan.metrics;
        facts.absent = core.absent;
        for (const std::string& name : plan.absent) facts.absent.emplace_back(name, "not on this chip");
        facts.passes = plan.passes;
    } catch (const Error& e) {
        facts.problem = e.what();
    }
    return facts;
}

}  // namespace attnscope::doctor
