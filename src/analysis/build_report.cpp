#include <algorithm>

#include "attnscope/analysis.h"
#include "attnscope/rules.h"
#include "notices.h"
#include "report_parts.h"
#include "rules/support.h"
#include "words.h"

namespace attnscope {
namespace {

std::string gpu(const Analysis& a) {
    std::string name = a.device_name;
    if (a.devices_used > 1) name += " and " + words::plural(double(a.devices_used - 1), "further device");
    return name;
}

constexpr const char* kFixture = " Counter values come from a fixture file: no GPU measured them.";

std::string measured(const Analysis& a) {
    if (!a.counted())
        return a.timed() ? "MEASURED on " + gpu(a) + ": times are CUPTI's, hardware counters were not read."
                         : "on " + gpu(a) + ": launches were recorded; the run holds no times.";
    const std::string what =
        "MEASURED on " + gpu(a) + ": " +
        (a.counters_range == "kernel" || a.counters_range.empty() ? "hardware counters kernel by kernel"
                                                                  : "hardware counters of whole ranges");
    if (a.timed()) return what + ", times in a second, undisturbed run of the program.";
    return what + "; the program ran under them alone, so its own times are not known.";
}

void banner(Report& r, const Analysis& a) {
    r.predicted = a.predicted();
    const bool fixture = a.counter_ground == Ground::fixture;
    if (!r.predicted) {
        r.banner = a.ground == Ground::real ? measured(a)
                                            : std::string("From ") + to_string(a.ground) + " data of " +
                                                  gpu(a) + ": shown as it was found.";
        if (fixture) r.banner += kFixture;
        return;
    }
    const bool occupancy = missing_limits(a).empty();
    r.banner = "PREDICTED for " + gpu(a) + ", no GPU used: nothing was measured." +
               (fixture ? kFixture : "") +
               (occupancy ? " Launches, their resources and theoretical occupancy are exact."
                          : " Launches and their resources are exact.");
    r.exact = {"every kernel that LibTorch itself launches: name, order, grid, block, dynamic shared memory",
               "registers, static shared and local memory of each, from the cubin that this GPU would run",
               "copies and memsets with their bytes; library calls with operation, shape and types",
               "what LibTorch chooses and refuses, in its own words; its allocator's peak memory"};
    if (occupancy) r.exact.insert(r.exact.begin() + 2, "theoretical occupancy and what limits it");
    r.not_exact = {
        "time, throughput, DRAM and cache traffic, tensor-pipe use: not predicted; a time bound says only "
        "what no run can beat",
        "bytes of the score matrix: a model with its formula, not a measurement",
        "the kernels inside a cuBLAS or cuDNN call, and their workspace: chosen on a real GPU"};
    if (!a.uncomputed_reads.empty())
        r.not_exact.push_back(
            "what follows from values that the program read back: they were never computed");
}

std::vector<Fact> strip(const Analysis& a) {
    std::vector<Fact> out = {{"GPU", gpu(a) + (a.predicted() ? " (virtual)" : "")}};
    const auto add = [&](const char* label, const std::string& value) {
        if (!value.empty()) out.push_back({label, value});
    };
    add("PyTorch", a.workload.torch);
    for (const Fact& fact : a.environment)
        if (fact.label == "CUDA runtime") add("CUDA", fact.value);
    add("shape", a.workload.sentence());
    if (a.has_convention) {
        uint64_t iterations = 0;
        for (const Implementation& i : a.implementations) iterations = std::max(iterations, i.iterations);
        add("iterations", iterations ? std::to_string(iterations) : "");
    }
    add(a.ground == Ground::imported ? "imported" : "recorded", a.started);
    return out;
}

std::vector<Fact> checks(const Analysis& a, const std::vector<Finding>& findings) {
    std::vector<Fact> out;
    const bool loss = std::any_of(a.notices.begin(), a.notices.end(),
                                  [](const Notice& n) { return n.level == NoticeLevel::data_loss; });
    if (!loss && a.processes > 0)
        out.push_back(
            {"No record was lost", words::plural(*a.total_kernels.number, "kernel") + ", " +
                                       words::plural(*a.total_copies.number, "copy") + ", " +
                                       words::plural(*a.total_memsets.number, "memset") + ", " +
                                       words::plural(*a.total_library_calls.number, "library call") +
                                       (a.ground == Ground::imported ? ": as many as the file holds"
                                                                     : ": as many as the collector wrote")});
    double repeated = 0;
    bool equal = true;
    for (const Implementation& i : a.implementations) {
        equal = equal && i.iterations_equal;
        repeated += i.iterations > 1;
    }
    if (a.has_convention && equal && repeated > 0)
        out.push_back({"All iterations launch the same",
                       words::plural(repeated, "implementation") + " with more than one iteration"});
    if (a.predicted() && a.uncomputed_reads.empty() && a.processes > 0)
        out.push_back({"No decision on uncomputed values",
                       "the program read nothing back that the virtual GPU did not compute"});
    for (const Rule& rule : rules()) {
        if (std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.id == rule.id; }))
            continue;
        const bool applies =
            rule.applies == Applies::always || (rule.applies == Applies::predicted) == a.predicted();
        out.push_back({rule.id, std::string(applies         ? "nothing found: "
                                            : a.predicted() ? "not applicable without a real GPU: "
                                                            : "not applicable on a real GPU: ") +
                                    rule.title});
    }
    return out;
}

/// "python train.py --steps 3", without the folders of the program and without the end of a long line.
std::string program(const std::vector<std::string>& command) {
    std::string out = command.front().substr(command.front().rfind('/') + 1);
    for (size_t i = 1; i < command.size() && out.size() < 60; ++i) out += " " + command[i];
    if (out.size() > 80) out = out.substr(0, 77) + "...";
    return out;
}

}  // namespace

Report build_report(const Analysis& a) {
    Report r;
    r.title = a.has_convention || a.workload.has_shape() ? "Attention" : "Launches";
    if (const std::string shape = a.workload.sentence(); !shape.empty()) r.title += ": " + shape;
    if (r.title == "Launches" && !a.command.empty()) r.title += " of " + program(a.command);
    banner(r, a);
    r.strip = strip(a);
    r.answer = parts::answer(a);
    r.implementations = parts::implementations_table(a);
    r.notices = a.notices;
    r.findings = find_all(a);
    r.sections = parts::sections(a);
    r.cannot_tell = parts::cannot_tell(a);
    r.checks_passed = checks(a, r.findings);
    r.methods = parts::methods_table(a);
    r.environment = a.environment;
    if (a.has_convention && a.workload.has_shape())
        r.commands.push_back(rule::attention_command(a, "", "-o again"));
    if (!a.command.empty())
        r.commands.push_back(rule::collect_command(a, a.ground == Ground::real ? "real" : "", "again"));
    r.commands.push_back("attnscope report " + words::shell_word(a.folder) + " --format html -o report.html");
    return r;
}

}  // namespace attnscope
