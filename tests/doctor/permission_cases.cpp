// Who may read counters. Right values: https://developer.nvidia.com/ERR_NVGPUCTRPERM and capabilities(7).
#include "machine_cases.h"

namespace attnscope::doctor::test {

std::vector<Case> permission_cases() {
    return {
        {"UserWithoutPermission",
         [](M& m) { make_h100(m), m.file("/proc/self/status", kUserRights); },
         kWithGpu,
         kRecords,
         {{"permission", State::fail, "ERR_NVGPUCTRPERM", "NVreg_RestrictProfilingToAdminUsers=0"},
          {"permission", State::fail, "neither CAP_SYS_ADMIN nor CAP_PERFMON", "run as root"}}},
        {"UserWithoutPermissionForRecords",
         [](M& m) { make_h100(m), m.file("/proc/self/status", kUserRights); },
         kForRecords,
         kRecords,
         {{"permission", State::warn, "ERR_NVGPUCTRPERM", "run as root"}}},
        {"CountersForEveryUser",
         [](M& m) {
             make_h100(m);
             m.file("/proc/self/status", kUserRights)
                 .file("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
         },
         kWithGpu,
         kAll,
         {{"permission", State::ok, "every user", ""}}},
        {"ParametersNotTold",
         [](M& m) {
             make_h100(m), m.without("/proc/driver/nvidia/params").file("/proc/self/status", kUserRights);
         },
         kWithGpu,
         kAll,
         {{"permission", State::unknown, "does not tell who may", "run as root"}}},
        {"OlderSpellingOfTheOption",
         [](M& m) {
             make_h100(m);
             m.file("/proc/self/status", kUserRights)
                 .file("/proc/driver/nvidia/params", "RestrictProfilingToAdminUsers: 1\n");
         },
         kWithGpu,
         kRecords,
         {{"permission", State::fail, "administrators alone", "modprobe.d"}}},
        {"DockerRootWithoutCapability",
         [](M& m) { make_h100(m), m.file("/.dockerenv").file("/proc/self/status", kDockerRights); },
         kWithGpu,
         kRecords,
         {{"permission", State::fail, "though it is root", "--cap-add=SYS_ADMIN"},
          {"permission", State::fail, "", "on the HOST"},
          {"other profilers", State::unknown, "outside of it", "on the host"}}},
        {"DockerUserWithCapability",
         [](M& m) {
             make_h100(m);
             m.file("/.dockerenv")
                 .file("/proc/self/status",
                       "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000200000\nCapAmb:\t"
                       "0000000000200000\n");
         },
         kWithGpu,
         kAll,
         {{"permission", State::unknown, "no root", "be root inside it"}}},
        {"CapabilityThatIsNotInherited",
         [](M& m) {
             make_h100(m);
             m.file("/proc/self/status",
                    "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000200000\nCapAmb:\t0000000000000000\n");
         },
         kWithGpu,
         kRecords,
         {{"permission", State::fail, "does not pass to the program", "run as root"}}},
        {"RootlessContainer",
         [](M& m) {
             make_h100(m),
                 m.file("/run/.containerenv").file("/proc/self/uid_map", "0 1000 1\n1 100000 65536\n");
         },
         kWithGpu,
         kRecords,
         {{"permission", State::fail, "user namespace", "not a rootless"}}},
        {"NamespaceThatMapsPartOfItself",
         [](M& m) { make_h100(m), m.file("/proc/self/uid_map", "0 0 65536\n"); },
         kWithGpu,
         kRecords,
         {{"permission", State::fail, "user namespace", "leave the user namespace"}}},
        {"PerfmonOnR570",
         [](M& m) {
             make_h100(m), add_cupti(m, 26), set_driver(m, "570.26", 12080);
             m.file("/proc/self/status",
                    "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000004000000000\nCapAmb:\t0000004000000000\n");
         },
         kWithGpu,
         kAll,
         {{"permission", State::ok, "CAP_PERFMON", ""}}},
        {"PerfmonOnR560",
         [](M& m) {
             make_h100(m), add_cupti(m, 24), set_driver(m, "560.28.03", 12060);
             m.file("/proc/self/status",
                    "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000004000000000\nCapAmb:\t0000004000000000\n");
         },
         kWithGpu,
         kRecords,
         {{"permission", State::fail, "from driver 565 on, this is 560.28.03", "update the driver"}}},
    };
}

}  // namespace attnscope::doctor::test
