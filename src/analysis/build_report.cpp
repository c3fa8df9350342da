#include <algorithm>

#include "attnscope/analysis.h"
#include "attnscope/rules.h"
#include "report_parts.h"
#include "words.h"

namespace attnscope {
namespace {

std::string gpu(const Analysis& a) {
    std::string name = a.device_name;
    if (a.devices_used > 1) name += " and " + words::plural(double(a.devices_used - 1), "further device");
    return name;
}

void banner(Report& r, const Analysis& a) {
    r.predicted = a.predicted();
    if (!r.predicted) {
        r.banner =
            a.ground == Ground::real
                ? (a.timed()
                       ? "MEASURED on " + gpu(a) + ": times are CUPTI's, hardware counters were not read."
                       : "RECORDED on " + gpu(a) + ": launches are exact, no times are in the run.")
                : std::string("From ") + to_string(a.ground) + " data of " + gpu(a) +
                      ": shown as it was found.";
        return;
    }
    r.banner = "PREDICTED for " + gpu(a) + ", no GPU used: nothing was measured.";
    r.exact = {"every kernel that LibTorch itself launches: name, order, grid, block, dynamic shared memory",
               "registers, static shared and local memory of each, from the cubin that this GPU would run",
               "theoretical occupancy and what limits it",
               "copies and memsets with their bytes; library calls with operation, shape and types",
               "what LibTorch chooses and refuses, in its own words; its allocator's peak memory"};
    r.not_exact = {"time, throughput, DRAM and cache traffic, tensor-pipe use: not predicted at all",
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
    add("recorded", a.started);
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
                                       ": as many as the collector wrote"});
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
    for (const Rule& rule : rules())
        if (std::none_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.id == rule.id; }))
            out.push_back({std::string("Nothing found: ") + rule.title, rule.id});
    return out;
}

std::string quoted(const std::string& word) {
    if (!word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%") ==
            std::string::npos)
        return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

}  // namespace

Report build_report(const Analysis& a) {
    Report r;
    r.title = a.has_convention ? "Attention" : "Launches";
    if (const std::string shape = a.workload.sentence(); !shape.empty()) r.title += ": " + shape;
    if (!a.has_convention && !a.command.empty()) r.title += " of " + a.command.front();
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
    if (!a.command.empty()) {
        std::string command;
        for (const std::string& word : a.command) command += (command.empty() ? "" : " ") + quoted(word);
        // A run that names a device was made by a launcher; `command` is the program that it started.
        std::string device =
            a.predicted() && a.device && !a.device->id.empty() ? " --device virtual:" + a.device->id : "";
        r.commands.push_back("attnscope collect" + device + " -o again -- " + command);
    }
    r.commands.push_back("attnscope report " + quoted(a.folder) + " --format html -o report.html");
    return r;
}

}  // namespace attnscope
