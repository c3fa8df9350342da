// Who else holds the counters, or the one place where a tool comes in.
#include <algorithm>

#include "checks.h"

namespace attnscope::doctor {
namespace {

struct Running {
    std::string name, id;
};

/// Names are those of /proc/PID/comm: cut after 15 characters by the kernel.
std::vector<Running> running(const Machine& machine, const std::vector<std::string>& names) {
    std::vector<Running> found;
    for (const std::string& id : machine.list("/proc")) {
        if (!starts_with_digit_after("p" + id, "p")) continue;
        std::string name = machine.read("/proc/" + id + "/comm").value_or("");
        name = name.substr(0, name.find('\n'));
        for (const std::string& wanted : names)
            if (name == wanted.substr(0, 15)) found.push_back({wanted, id});
    }
    return found;
}

std::string listed(const std::vector<Running>& processes) {
    std::vector<std::string> texts;
    for (const Running& each : processes) {
        if (texts.size() == 4) {
            texts.emplace_back("...");
            break;
        }
        texts.push_back(each.name + " (process " + each.id + ')');
    }
    return joined(texts);
}

}  // namespace

void check_injection_door(const Examined& e, std::vector<Finding>& out) {
    for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
        const std::string value = e.machine.environment(variable);
        if (value.empty() || value == e.machine.installation().folder + "/libattnscope_injection.so")
            continue;
        out.push_back({"injection", State::ok,
                       std::string(variable) + " is set already, to " + shown(value) +
                           ": another tool (Nsight, a tracer) comes in there, and there is one place only",
                       std::string("unset ") + variable + ", or run without that tool", kEverything});
    }
}

// One CUPTI subscriber a process up to CUDA 13.2 (cupti_result.h, error 39), one holder of the counters a
// device (error 26). DCGM: https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/feature-overview.html,
// NVIDIA/DCGM#56: before Hopper its lock is for the whole machine.
void check_other_profilers(const Examined& e, std::vector<Finding>& out) {
    if (!e.device_present) return;
    const std::string check = "other profilers";
    const size_t before = out.size();
    if (const auto found = running(e.machine, {"nv-hostengine", "dcgm-exporter", "dcgmproftester"});
        !found.empty())
        out.push_back(
            {check,
             State::warn,
             "DCGM is running: " + listed(found) +
                 "; while it samples profiling metrics, counters answer HARDWARE_BUSY",
             "pause its sampling while you collect: dcgmi profile --pause, afterwards dcgmi profile "
             "--resume",
             {}});
    if (const auto found = running(e.machine, {"nsys", "nsys-launcher", "ncu", "nv-nsight-cu-cli"});
        !found.empty())
        out.push_back({check,
                       State::warn,
                       "an NVIDIA profiler is running: " + listed(found) + "; it may hold the counters",
                       "let it end first, and do not start attnscope under it",
                       {}});
    if (const auto found = running(e.machine, {"compute-sanitizer", "cuda-gdb", "cuda-memcheck"});
        !found.empty())
        out.push_back({check,
                       State::warn,
                       "a CUDA debugger is running: " + listed(found) +
                           "; a program under it has no place for another CUPTI subscriber",
                       "do not collect from a program under it",
                       {}});
    const std::string preload = e.machine.environment("LD_PRELOAD");
    if (preload.find("nvbit") != std::string::npos || preload.find("TreeLauncher") != std::string::npos ||
        preload.find("InterceptorInjection") != std::string::npos)
        out.push_back({check,
                       State::warn,
                       "LD_PRELOAD brings in another tool: " + shown(preload),
                       "unset LD_PRELOAD, or run without that tool",
                       {}});
    if (out.size() != before) return;
    if (e.container)
        out.push_back({check,
                       State::unknown,
                       "none in this container; what runs outside of it (DCGM on the host) cannot be seen",
                       "where counters answer HARDWARE_BUSY, run dcgmi profile --pause on the host",
                       {}});
    else
        out.push_back({check, State::ok, "none is running", "", {}});
}

// CUPTI release notes, known issues: no profiling under MPS.
void check_mps(const Examined& e, std::vector<Finding>& out) {
    if (!e.device_present) return;
    const auto found = running(e.machine, {"nvidia-cuda-mps-control", "nvidia-cuda-mps-server"});
    std::string pipes = e.machine.environment("CUDA_MPS_PIPE_DIRECTORY");
    const bool server = !found.empty() || (!pipes.empty() && e.machine.exists(pipes + "/control"));
    if (!server) return;
    out.push_back(
        {"MPS",
         State::ok,
         "the Multi-Process Service is running" +
             (found.empty() ? " (" + shown(pipes) + ')' : std::string()) + ": CUPTI has no counters under it",
         "stop it while you collect: echo quit | nvidia-cuda-mps-control; kernel records work under it",
         {Use::counters}});
}

}  // namespace attnscope::doctor
