// attnscope's own files, the folder it writes to, the user's program, and the default metrics.
#include <algorithm>

#include "attnscope/gpu.h"
#include "checks.h"

namespace attnscope::doctor {
namespace {

const char* const kBuildAgain = "build or install attnscope again";

/// What the virtual GPU must hold for LibTorch to load: the stand-ins of collectors/virtual_gpu.
constexpr const char* kStandIns[] = {
    "libattnscope_vgpu.so", "libcuda.so.1",       "libcudart.so.13", "libcublas.so.13",
    "libcublasLt.so.13",    "libcudnn.so.9",      "libcupti.so.13",  "libnvrtc.so.13",
    "libcufft.so.12",       "libcufile.so.0",     "libcurand.so.10", "libcusolver.so.12",
    "libcusparse.so.12",    "libcusparseLt.so.0", "libnccl.so.2",    "libnvshmem_host.so.3"};

std::string of_bytes(uint64_t bytes) {
    constexpr uint64_t kMiB = uint64_t{1} << 20;
    return bytes >= 10 * 1024 * kMiB ? std::to_string(bytes / (1024 * kMiB)) + " GiB"
                                     : std::to_string(bytes / kMiB) + " MiB";
}

}  // namespace

void check_installation(const Examined& e, std::vector<Finding>& out) {
    const Installation own = e.machine.installation();
    if (!own.problem.empty())
        out.push_back({"installation", State::ok, shown(own.problem), kBuildAgain, kEverything});
}

void check_virtual_gpu(const Examined& e, std::vector<Finding>& out) {
    const std::string folder = e.machine.installation().folder + "/virtual_gpu";
    std::vector<std::string> missing;
    for (const char* file : kStandIns)
        if (!e.machine.exists(folder + '/' + file)) missing.emplace_back(file);
    if (!missing.empty())
        return out.push_back({"virtual GPU",
                              State::ok,
                              missing.size() == std::size(kStandIns)
                                  ? "not installed: " + shown(folder) + " holds none of its libraries"
                                  : "not whole: " + joined(missing) + " missing in " + shown(folder),
                              kBuildAgain,
                              {Use::prediction}});
    if (folder.find_first_of(" :\t\n") != std::string::npos)
        return out.push_back(
            {"virtual GPU",
             State::ok,
             "it is preloaded, and LD_PRELOAD cannot name a path with a space or a colon: " + shown(folder),
             "install attnscope elsewhere",
             {Use::prediction}});
    out.push_back({"virtual GPU",
                   State::ok,
                   "all of its " + std::to_string(std::size(kStandIns)) + " libraries are there",
                   "",
                   {}});
}

// `attnscope attention` runs it; every other command does without.
void check_workload(const Examined& e, std::vector<Finding>& out) {
    const std::string prefix = e.machine.installation().folder + "/../../";
    if (e.machine.exists(prefix + "bin/attention_workload")) return;
    out.push_back(
        {"attention workload",
         State::warn,
         "bin/attention_workload is not built (it needs LibTorch 2.11)",
         "let examples/demo.sh build it, or use a Python's torch: attnscope attention --python python3",
         {}});
}

void check_proc(const Examined& e, std::vector<Finding>& out) {
    if (e.machine.read("/proc/self/status")) return;
    out.push_back({"/proc", State::ok, "not mounted: attnscope finds neither itself nor its rights",
                   "mount /proc", kEverything});
}

// A launch record takes about 200 bytes, counters of one launch up to a few KiB: a million launches fit into
// 4 GiB.
void check_disk(const Examined& e, std::vector<Finding>& out) {
    constexpr uint64_t kLittle = uint64_t{1} << 30;
    const std::string folder = e.machine.working_folder();
    const auto bytes = e.machine.free_bytes(folder);
    if (!e.machine.writable(folder))
        out.push_back({"disk space",
                       State::warn,
                       "a run cannot be written to " + shown(folder),
                       "name a folder that can be written to: -o DIR",
                       {}});
    else if (!bytes)
        out.push_back(
            {"disk space", State::unknown, shown(folder) + " does not tell its free space", "", {}});
    else if (*bytes < kLittle)
        out.push_back(
            {"disk space",
             State::warn,
             of_bytes(*bytes) + " free in " + shown(folder) + "; a run of many launches can take more",
             "free some space, or name a folder elsewhere: -o DIR",
             {}});
    else
        out.push_back({"disk space", State::ok, of_bytes(*bytes) + " free in " + shown(folder), "", {}});
}

void check_program(const Examined& e, std::vector<Finding>& out) {
    if (e.request.program.empty()) return;
    const std::string name = shown(e.request.program.front());
    const std::string missing = e.machine.program_problem(e.request.program, false);
    if (!missing.empty())
        return out.push_back(
            {"program", State::ok, missing, "name a program that can be started", kEverything});
    const std::string problem = e.machine.program_problem(e.request.program, true);
    if (!problem.empty())
        return out.push_back({"program",
                              State::ok,
                              "no virtual GPU for it: " + problem,
                              "on a real GPU it can be collected from",
                              {Use::prediction}});
    out.push_back({"program", State::ok, name + " can be started, and its CUDA is served", "", {}});
}

void check_plan(const Examined& e, std::vector<Finding>& out) {
    const CuptiFacts* cupti = e.usable_cupti();
    if (cupti == nullptr) return;  // check_cupti says so
    std::vector<std::string> chips =
        e.driver.gpu.usable ? e.machine.chips(cupti->path) : std::vector<std::string>{};
    std::sort(chips.begin(), chips.end());
    chips.erase(std::unique(chips.begin(), chips.end()), chips.end());
    const bool told = !chips.empty();
    for (const std::string& name : told ? std::vector<std::string>{} : e.names()) {
        const Gpu* gpu = find_gpu(name);
        if (gpu != nullptr && std::find(chips.begin(), chips.end(), gpu->chip) == chips.end())
            chips.push_back(gpu->chip);
        else if (gpu == nullptr)
            out.push_back(
                {"default metrics",
                 State::unknown,
                 shown(name) + " is not in attnscope's table, so its chip is not known before a collection",
                 "ask for its chip by name: attnscope metrics --chip NAME --set core",
                 {}});
    }
    const bool imagined = chips.empty() && !e.device_present;
    if (imagined) chips.emplace_back("GH100");
    for (const std::string& chip : chips) {
        const PlanFacts plan = e.machine.plan(cupti->path, chip);
        const std::string of = chip + (imagined ? " (H100; no GPU is here)" : "") + ": ";
        std::vector<std::string> absent;
        for (const auto& [what, why] : plan.absent) absent.push_back(what + " (" + why + ')');
        if (!plan.problem.empty())
            out.push_back({"default metrics", imagined ? State::unknown : State::ok, of + plan.problem,
                           "see that attnscope is installed whole, and that CUPTI is (line CUPTI)",
                           imagined ? std::vector<Use>{} : std::vector<Use>{Use::counters}});
        else if (plan.passes == 0)
            out.push_back({"default metrics",
                           State::ok,
                           of + "none of them is on this chip",
                           "see what it has: attnscope metrics --chip " + chip,
                           {Use::counters}});
        else
            out.push_back(
                {"default metrics",
                 plan.passes == 1 ? State::ok : State::warn,
                 of + counted(plan.metrics.size(), "metric") + " in " + std::to_string(plan.passes) +
                     (plan.passes == 1 ? " pass" : " passes") + ": " + joined(plan.metrics) +
                     (absent.empty() ? "" : "; absent: " + joined(absent)),
                 plan.passes == 1 ? "" : "ask for fewer metrics, or let kernels be replayed: --replay",
                 {}});
    }
}

}  // namespace attnscope::doctor
