// May this user read counters? Tracing needs no such permission on desktops and servers (CUPTI release
// notes).
//   https://developer.nvidia.com/ERR_NVGPUCTRPERM: root or CAP_SYS_ADMIN; CAP_PERFMON from driver R565; or
//   the module option. In NVIDIA's open kernel modules the tests are capable(CAP_SYS_ADMIN) and
//   capable(CAP_PERFMON) (os-interface.c), so the effective set counts, in the first user namespace alone
//   (capabilities(7)).
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "checks.h"

namespace attnscope::doctor {
namespace {

constexpr uint64_t kSysAdmin = uint64_t{1} << 21, kPerfmon = uint64_t{1} << 38;  // linux/capability.h
constexpr int kPerfmonDriver = 565;

/// A line "Name:\tvalue" of /proc's files.
std::optional<std::string> line_of(const std::string& text, const std::string& name) {
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        if (text.compare(at, name.size() + 1, name + ':') == 0) {
            const size_t value = text.find_first_not_of(" \t", at + name.size() + 1);
            return value < end ? text.substr(value, end - value) : std::string();
        }
        at = end + 1;
    }
    return std::nullopt;
}

struct Rights {
    bool known = false, root = false, namespaced = false;
    uint64_t effective = 0, ambient = 0;
};

Rights rights_of(const Machine& machine) {
    Rights rights;
    const std::string status = machine.read("/proc/self/status").value_or("");
    const auto effective = line_of(status, "CapEff"), ambient = line_of(status, "CapAmb");
    const auto users = line_of(status, "Uid");
    rights.known = effective && users;
    rights.effective = std::strtoull(effective.value_or("0").c_str(), nullptr, 16);
    rights.ambient = std::strtoull(ambient.value_or("0").c_str(), nullptr, 16);
    // real, effective, saved, file system
    const std::string ids = users.value_or("1\t1");
    const size_t second = ids.find_first_of(" \t");
    rights.root = second != std::string::npos && std::atoll(ids.c_str() + second) == 0;
    // Only the first user namespace maps all ids onto themselves.
    long long inside = 0, outside = 0, count = 0;
    const std::string map = machine.read("/proc/self/uid_map").value_or("");
    if (std::sscanf(map.c_str(), "%lld %lld %lld", &inside, &outside, &count) == 3)
        rights.namespaced = inside != 0 || outside != 0 || count != 4294967295LL;
    return rights;
}

/// RmProfilingAdminOnly (the option's other spelling: RestrictProfilingToAdminUsers); nullopt: not told.
std::optional<bool> admins_only(const Machine& machine) {
    const std::string parameters = machine.read("/proc/driver/nvidia/params").value_or("");
    for (const char* name : {"RmProfilingAdminOnly", "RestrictProfilingToAdminUsers"})
        if (const auto value = line_of(parameters, name); value && !value->empty())
            return value->front() != '0';
    return std::nullopt;
}

const char* const kOption =
    "let every user: put \"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" into "
    "/etc/modprobe.d/nvidia-profiling.conf, rebuild the initramfs (update-initramfs -u, or dracut -f), "
    "reboot";

std::string remedy_for(const Examined& e, const Rights& rights) {
    if (e.container)
        return std::string(
                   "start the container with --cap-add=SYS_ADMIN and be root inside it (both are needed; not "
                   "a rootless or user-namespaced container)") +
               "; or on the HOST " + kOption + " (the cloud provider may have to do it)";
    if (rights.namespaced)
        return std::string("leave the user namespace and run as root; or on the host ") + kOption;
    return std::string("run as root (sudo), or ") + kOption + " (in a cloud, the provider may have to do it)";
}

}  // namespace

void check_permission(const Examined& e, std::vector<Finding>& out) {
    if (!e.device_present || e.wsl) return;  // on WSL Windows decides: check_wsl
    const std::string check = "permission";
    const std::optional<bool> restricted = admins_only(e.machine);
    const Rights rights = rights_of(e.machine);
    if (restricted && !*restricted)
        return out.push_back(
            {check, State::ok, "every user may read counters (RmProfilingAdminOnly: 0)", "", {}});

    const std::string rule =
        restricted ? "counters are for administrators alone (RmProfilingAdminOnly: 1)"
                   : "the driver does not tell who may read counters (/proc/driver/nvidia/params)";
    const std::string error = "; CUPTI would answer INSUFFICIENT_PRIVILEGES (ERR_NVGPUCTRPERM)";
    const std::vector<Use> blocks = restricted ? std::vector<Use>{Use::counters} : std::vector<Use>{};
    const State otherwise = restricted ? State::ok : State::unknown;
    if (!rights.known)
        return out.push_back({check,
                              State::unknown,
                              rule + ", and /proc does not tell our rights",
                              remedy_for(e, rights),
                              {}});
    const bool admin = (rights.effective & kSysAdmin) != 0;
    const bool monitor = (rights.effective & kPerfmon) != 0;
    if (rights.namespaced)
        return out.push_back(
            {check, otherwise,
             rule + ", and this is a user namespace, whose capabilities the driver does not count" +
                 (restricted ? error : ""),
             remedy_for(e, rights), blocks});
    const bool enough = admin || (monitor && e.driver_branch() >= kPerfmonDriver);
    const uint64_t which = admin ? kSysAdmin : kPerfmon;
    const std::string right = admin ? "CAP_SYS_ADMIN" : "CAP_PERFMON";
    if (enough && !rights.root && (rights.ambient & which) == 0)
        return out.push_back({check,
                              State::ok,
                              rule + ", and " + right + " of ours does not pass to the program",
                              remedy_for(e, rights),
                              {Use::counters}});
    if (enough && !rights.root && e.container)
        return out.push_back({check,
                              State::unknown,
                              rule + ", and this is no root; " + right +
                                  " alone was not enough for others in a "
                                  "container",
                              remedy_for(e, rights),
                              {}});
    if (enough) return out.push_back({check, State::ok, rule + ", and this process has " + right, "", {}});
    if (monitor)
        return out.push_back({check, otherwise,
                              rule + "; CAP_PERFMON counts from driver 565 on, this is " +
                                  (e.driver_version.empty() ? "unknown" : e.driver_version) +
                                  (restricted ? error : ""),
                              "update the driver, or " + remedy_for(e, rights), blocks});
    out.push_back({check, otherwise,
                   rule + ", and this process has neither CAP_SYS_ADMIN nor CAP_PERFMON" +
                       (rights.root ? ", though it is root" : "") + (restricted ? error : ""),
                   remedy_for(e, rights), blocks});
}

}  // namespace attnscope::doctor
