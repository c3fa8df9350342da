// The table of checks, and the verdict.
#include <algorithm>

#include "checks.h"

namespace attnscope::doctor {
namespace {

// In the order of display among findings that are equally bad.
constexpr Check kChecks[] = {check_proc,
                             check_installation,
                             check_device,
                             check_driver,
                             check_architecture,
                             check_cupti,
                             check_versions,
                             check_permission,
                             check_injection_door,
                             check_other_profilers,
                             check_mps,
                             check_mig,
                             check_virtualization,
                             check_wsl,
                             check_confidential,
                             check_compute_mode,
                             check_nvml,
                             check_plan,
                             check_clocks,
                             check_persistence,
                             check_ecc,
                             check_virtual_gpu,
                             check_workload,
                             check_program,
                             check_disk};

bool holds(const std::vector<Use>& uses, Use use) {
    return std::find(uses.begin(), uses.end(), use) != uses.end();
}

std::string blockers(const Diagnosis& diagnosis, Use use) {
    std::vector<std::string> names;
    for (const Finding& finding : diagnosis.findings)
        if (holds(finding.blocks, use) && std::find(names.begin(), names.end(), finding.check) == names.end())
            names.push_back(finding.check);
    return joined(names);
}

std::string words(Use use) {
    return use == Use::counters ? "counters" : use == Use::records ? "kernel records" : "prediction";
}

std::string verdict_of(const Diagnosis& d, bool asked, bool device) {
    if (!d.usable_as_wanted()) {
        std::string rest;
        for (const Use use : {Use::counters, Use::records, Use::prediction})
            if (holds(d.usable, use)) {
                rest = "; usable for " + words(use) + " only";
                break;
            }
        return "not usable for " + words(d.wanted) + " (" + blockers(d, d.wanted) + ')' +
               (rest.empty() ? "; usable for nothing" : rest);
    }
    if (d.wanted == Use::counters)
        return "usable for counters, as far as can be seen from outside; only a collection proves it: "
               "attnscope "
               "attention --device real --counters core -o out";
    if (d.wanted == Use::records)
        return holds(d.usable, Use::counters)
                   ? "usable for kernel records, and nothing seen stands against counters"
                   : "usable for kernel records only (" + blockers(d, Use::counters) +
                         " stands against counters)";
    if (asked || device) return "usable for prediction";
    return "usable for prediction only: counters and kernel records need an NVIDIA GPU";
}

}  // namespace

bool Diagnosis::usable_as_wanted() const {
    return holds(usable, wanted);
}

Diagnosis diagnose(const Machine& machine, const Request& request) {
    const Examined examined = examine(machine, request);
    Diagnosis d;
    d.wanted = request.wanted.value_or(examined.device_present ? Use::counters : Use::prediction);
    for (const Check check : kChecks) check(examined, d.findings);
    constexpr size_t kLongest = 1200;
    for (Finding& finding : d.findings) {
        finding.seen = shown(finding.seen, kLongest);
        finding.remedy = shown(finding.remedy, kLongest);
    }
    for (const Use use : kEverything)
        if (std::none_of(d.findings.begin(), d.findings.end(),
                         [&](const Finding& finding) { return holds(finding.blocks, use); }))
            d.usable.push_back(use);
    // What stands in the way of something is bad exactly as far as that is wanted.
    for (Finding& finding : d.findings)
        if (!finding.blocks.empty())
            finding.state = holds(finding.blocks, d.wanted) ? State::fail : State::warn;
    std::stable_sort(d.findings.begin(), d.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.state < b.state; });
    d.verdict = verdict_of(d, request.wanted.has_value(), examined.device_present);
    return d;
}

const char* to_string(Use use) {
    return use == Use::counters ? "counters" : use == Use::records ? "records" : "prediction";
}

const char* to_string(State state) {
    switch (state) {
        case State::fail:
            return "fail";
        case State::warn:
            return "warn";
        case State::unknown:
            return "unknown";
        case State::ok:
            break;
    }
    return "ok";
}

}  // namespace attnscope::doctor
