#include "counter_setup.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "attnscope/counter_host.h"
#include "one_pass.h"

namespace attnscope::launch {
namespace {

std::string number_of(size_t n, const char* thing, const char* plural) {
    return std::to_string(n) + ' ' + (n == 1 ? thing : plural);
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

void check_words(const CollectRequest& request, const std::string& counters) {
    if (request.range != "kernel" && request.range != "implementation" && request.range != "nvtx")
        throw Error("--range " + request.range + " is neither kernel, implementation nor nvtx");
    if (request.timing != "same" && request.timing != "separate")
        throw Error("--timing " + request.timing + " is neither same nor separate");
    if (request.replay && request.range != "kernel")
        throw Error("--replay kernel needs --range kernel: CUPTI replays single kernels, not ranges");
    if (counters.empty()) return;
    const std::vector<std::string> parts = comma_parts(counters);
    for (const std::string& part : parts) {
        if (part.empty())
            throw Error("--counters " + counters + ": there is an empty name between the commas");
        if (part == "none" && parts.size() > 1)
            throw Error("--counters " + counters + ": none stands alone, or is left out");
    }
}

/// The chips of the chosen devices, each once; "" where the chip of a device is not known. On a real GPU by
/// CUPTI's own word where it has one.
std::vector<std::string> chips_of(const GroundChoice& ground, const CounterHost& host) {
    std::vector<std::string> all = ground.chips;
    if (!ground.is_virtual) {
        try {
            std::vector<std::string> said;
            for (const HostDevice& device : host.devices())
                if (!device.chip.empty()) said.push_back(device.chip);
            if (!said.empty()) all = said;
        } catch (const Error&) {  // then the table has to do
        }
    }
    std::vector<std::string> chips;
    for (const std::string& chip : all)
        if (std::find(chips.begin(), chips.end(), chip) == chips.end()) chips.push_back(chip);
    return chips;
}

void tell_absent(CounterSetup& setup, const std::string& chip, const std::string& name,
                 const std::string& reason) {
    add_diagnostic(setup.diagnostics,
                   {DiagnosticLevel::warning, "counters-metric-absent",
                    name + " is not collected: not on " + chip + (reason.empty() ? "" : " (" + reason + ")"),
                    "attnscope metrics --chip " + chip + " lists what can be collected there", 1});
    setup.lines.push_back(name + " is not on " + chip + (reason.empty() ? "" : ": " + reason) +
                          "; the rest is collected");
}

void plan_chip(CounterSetup& setup, const CounterHost& host, const std::string& chip) {
    const ResolvedMetrics resolved = resolve_metrics(host, chip, setup.request);
    const CounterPlan plan = host.plan(chip, resolved.names);
    for (const auto& [name, reason] : resolved.absent) tell_absent(setup, chip, name, reason);
    for (const std::string& name : plan.absent) tell_absent(setup, chip, name, "");
    setup.chips.push_back({chip, plan.metrics, plan.passes});
}

void refuse_passes(const CounterSetup& setup, const CounterHost& host) {
    std::string needs;
    for (const ChipPlan& plan : setup.chips)
        needs += (needs.empty() ? "" : ", ") + number_of(plan.passes, "pass", "passes") + " on " + plan.chip;
    const std::vector<std::string> fits = fits_in_one_pass(setup, host);
    std::string sentence =
        "--counters " + setup.request + " needs " + needs + ", and a program runs in one: ";
    if (setup.range == "kernel") sentence += "add --replay kernel to run each kernel as often, or ";
    sentence +=
        fits.empty() ? "ask for fewer metrics" : "ask for what fits in one pass: --counters " + fits.front();
    for (size_t i = 1; i < fits.size(); ++i) sentence += ',' + fits[i];
    throw Error(sentence);
}

void tell_plan(CounterSetup& setup, bool is_virtual) {
    std::string plans;
    for (const ChipPlan& plan : setup.chips) {
        plans += (plans.empty() ? "" : "; ") + plan.chip + ": " +
                 number_of(plan.names.size(), "metric", "metrics") + " in " +
                 number_of(plan.passes, "pass", "passes");
        if (plan.passes > 1) plans += ", so each kernel runs " + std::to_string(plan.passes) + " times";
    }
    if (plans.empty()) plans = "planned when the program asks";
    std::string line = "counters " + setup.request + " (" + plans + ")";
    if (is_virtual && !setup.fixture) line += ": not measured: virtual GPU";
    if (setup.fixture) line += ": values from the fixture in ATTNSCOPE_VGPU_COUNTERS, not measured";
    setup.lines.insert(setup.lines.begin(), line);
}

void check_fixture(CounterSetup& setup, const CollectRequest& request) {
    const char* inherited = std::getenv("ATTNSCOPE_VGPU_COUNTERS");
    std::string file = inherited != nullptr ? inherited : "";
    for (const auto& [name, value] : request.environment)
        if (name == "ATTNSCOPE_VGPU_COUNTERS") file = value;
    if (file.empty()) return;
    if (access(file.c_str(), R_OK) != 0)
        throw Error("ATTNSCOPE_VGPU_COUNTERS=" + file + " cannot be read: name a fixture file, or unset it");
    setup.fixture = true;
}

void switch_off(CounterSetup& setup, bool is_virtual, const std::string& why) {
    setup.on = false;
    if (is_virtual && !setup.fixture)
        add_diagnostic(setup.diagnostics, {DiagnosticLevel::info, "counters-virtual",
                                           "counters " + setup.request + ": not measured: virtual GPU",
                                           "run it on a real GPU with --device real", 1});
    else
        add_diagnostic(
            setup.diagnostics,
            {DiagnosticLevel::warning, "counters-no-cupti", "no counters were collected: " + why,
             "install CUPTI 12.6 or newer, as the CUDA toolkit or PyPI's nvidia-cuda-cupti brings it; "
             "attnscope doctor says what is found",
             1});
    setup.lines.push_back(
        "counters " + setup.request +
        (is_virtual && !setup.fixture ? ": not measured: virtual GPU (and " : " are off (") + why + ")");
}

}  // namespace

std::vector<std::string> CounterSetup::metrics() const {
    std::vector<std::string> all;
    for (const ChipPlan& plan : chips)
        for (const std::string& name : plan.names)
            if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    return all;
}

std::vector<std::pair<std::string, std::string>> CounterSetup::environment() const {
    std::vector<std::pair<std::string, std::string>> variables;
    if (!on) return variables;
    variables.emplace_back("ATTNSCOPE_COUNTERS", range == "kernel" ? range : "range-" + range);
    if (replay) variables.emplace_back("ATTNSCOPE_COUNTERS_REPLAY", "1");
    return variables;
}

void add_diagnostic(std::vector<Diagnostic>& all, Diagnostic diagnostic) {
    for (Diagnostic& known : all)
        if (known.code == diagnostic.code && known.message == diagnostic.message) {
            known.count += diagnostic.count;
            return;
        }
    all.push_back(std::move(diagnostic));
}

std::string named_libcupti() {
    const char* list = std::getenv("ATTNSCOPE_CUPTI");
    std::string files = list != nullptr ? list : "";
    if (files.find(':') == std::string::npos || access(files.c_str(), R_OK) == 0) return {};
    for (size_t at = 0; at <= files.size();) {
        const size_t end = std::min(files.find(':', at), files.size());
        std::string file = files.substr(at, end - at);
        if (!file.empty() && access(file.c_str(), R_OK) == 0) return file;
        at = end + 1;
    }
    return {};
}

std::string helper_program(const std::string& libraries) {
    return libraries.empty() ? std::string() : libraries + "/attnscope_cupti_host";
}

CounterSetup set_up_counters(const CollectRequest& request, const GroundChoice& ground) {
    CounterSetup setup;
    setup.request = request.counters;
    if (setup.request == "auto") setup.request = ground.is_virtual ? "none" : "core";
    check_words(request, setup.request);
    setup.asked = !setup.request.empty() && setup.request != "none";
    if (!setup.asked) return setup;
    setup.on = true;
    setup.range = request.range;
    setup.replay = request.replay;
    if (ground.is_virtual) check_fixture(setup, request);

    std::optional<CounterHost> host;
    std::vector<std::string> known;
    try {
        host.emplace(named_libcupti(), helper_program(request.libraries));
        known = host->chips();
    } catch (const Error& e) {
        switch_off(setup, ground.is_virtual, e.what());
        return setup;
    }
    const std::vector<std::string> chips = chips_of(ground, *host);
    for (const std::string& chip : chips) {
        if (std::find(known.begin(), known.end(), chip) != known.end())
            plan_chip(setup, *host, chip);
        else
            setup.lines.push_back(
                "the counters of " + (chip.empty() ? "a GPU that is not in our table" : chip) +
                " are planned when the program asks: " + host->libcupti() + " knows " + listed(known));
    }
    if (setup.chips.empty()) {
        resolve_metrics(*host, known.front(), setup.request);  // refuses a name that no chip has
    } else if (setup.metrics().empty() && setup.chips.size() == chips.size()) {
        setup.on = false;
        setup.lines.push_back("nothing of --counters " + setup.request +
                              " is there: no counters are collected");
        return setup;
    }
    if (!setup.replay && std::any_of(setup.chips.begin(), setup.chips.end(),
                                     [](const ChipPlan& plan) { return plan.passes > 1; }))
        refuse_passes(setup, *host);
    tell_plan(setup, ground.is_virtual);
    return setup;
}

}  // namespace attnscope::launch
