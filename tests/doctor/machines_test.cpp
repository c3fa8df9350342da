// Machines as they are met, each with what doctor must say of it. Right values: the permission table and
// minimum drivers that src/doctor/check_*.cpp name with their sources; shapes of /proc and /sys as quoted
// there.
#include <gtest/gtest.h>

#include <algorithm>

#include "fake_machine.h"

namespace attnscope::doctor::test {
namespace {

struct Expected {
    std::string check;
    State state;
    std::string seen, remedy;  ///< words
};

struct Wanted {
    std::optional<Use> asked;
    Use found;  ///< what doctor takes it to be
};

struct Case {
    const char* name;
    void (*make)(FakeMachine&);
    Wanted wanted;
    std::vector<Use> usable;  ///< in the order prediction, records, counters
    std::vector<Expected> expected;
    std::vector<std::string> program = {};
};

std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << one.name;
}

const std::vector<Use> kNothing, kPrediction = {Use::prediction}, kRecords = {Use::prediction, Use::records},
                                 kAll = {Use::prediction, Use::records, Use::counters};
constexpr Wanted kWithGpu = {std::nullopt, Use::counters}, kWithout = {std::nullopt, Use::prediction};
constexpr Wanted kForCounters = {Use::counters, Use::counters}, kForRecords = {Use::records, Use::records},
                 kForPrediction = {Use::prediction, Use::prediction};
using M = FakeMachine;

const Case kCases[] = {
    {"Laptop",
     make_laptop,
     kWithout,
     kPrediction,
     {{"NVIDIA device", State::warn, "none", "with an NVIDIA GPU"}}},
    {"LaptopForCounters",
     make_laptop,
     kForCounters,
     kPrediction,
     {{"NVIDIA device", State::fail, "none", "--device virtual:H100-SXM5"}}},
    {"LaptopForRecords", make_laptop, kForRecords, kPrediction, {{"NVIDIA device", State::fail, "none", ""}}},
    {"HealthyH100",
     make_h100,
     kWithGpu,
     kAll,
     {{"NVIDIA device", State::ok, "1 device: NVIDIA H100 80GB HBM3", ""},
      {"driver", State::ok, "580.65.06, serves CUDA up to 13.0", ""},
      {"driver and CUPTI", State::ok, "CUPTI 13.0 Update 1 on driver 580.65.06 fit", ""},
      {"permission", State::ok, "CAP_SYS_ADMIN", ""},
      {"default metrics", State::ok, "GH100: 2 metrics in 1 pass: sm__warps_active", ""},
      {"clocks", State::unknown, "1980 MHz of at most 1980 MHz", "-lgc"},
      {"ECC", State::ok, "on", ""}}},

    // Permission
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
         make_h100(m), m.file("/run/.containerenv").file("/proc/self/uid_map", "0 1000 1\n1 100000 65536\n");
     },
     kWithGpu,
     kRecords,
     {{"permission", State::fail, "user namespace", "not a rootless"}}},
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

    // Device and driver
    {"Nouveau",
     [](M& m) {
         make_laptop(m);
         m.file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")
             .file("/sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n")
             .link("/sys/bus/pci/devices/0000:01:00.0/driver", "../../../bus/pci/drivers/nouveau");
     },
     kWithGpu,
     kPrediction,
     {{"NVIDIA device", State::fail, "nouveau", "blacklist nouveau"},
      {"driver", State::fail, "libcuda.so.1 is not there", "install the NVIDIA driver"}}},
    {"GivenToAVirtualMachine",
     [](M& m) {
         make_laptop(m);
         m.file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")
             .file("/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n")
             .link("/sys/bus/pci/devices/0000:01:00.0/driver", "../../../bus/pci/drivers/vfio-pci");
     },
     kWithGpu,
     kPrediction,
     {{"NVIDIA device", State::fail, "vfio-pci", "inside that virtual machine"}}},
    {"AudioFunctionIsNoGpu",
     [](M& m) {
         make_laptop(m);
         m.file("/sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n")
             .file("/sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n");
     },
     kWithout,
     kPrediction,
     {{"NVIDIA device", State::warn, "none", ""}}},
    {"ContainerWithoutDevices",
     [](M& m) {
         make_laptop(m);
         m.file("/.dockerenv")
             .file("/proc/driver/nvidia/version",
                   "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19\n");
     },
     kWithGpu,
     kPrediction,
     {{"NVIDIA device", State::fail, "no /dev/nvidia0", "--gpus all"}}},
    {"ModuleAndLibraryDiffer",
     [](M& m) {
         make_h100(m);
         m.driver_facts.gpu = unusable("the kernel module and libcuda.so.1 are of different versions (803)",
                                       "reboot, or reload the nvidia kernel module after a driver update");
         m.driver_facts.library = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05";
     },
     kWithGpu,
     kPrediction,
     {{"driver", State::fail, "different versions", "reboot"},
      {"driver library", State::fail, "libcuda is 580.95.05, the kernel module 580.65.06", "reboot"}}},
    {"NoAccessToTheDevice",
     [](M& m) {
         make_h100(m);
         m.unwritable = {"/dev/nvidiactl"};
         m.driver_facts.gpu = unusable("cuInit answered error 999", "");
     },
     kWithGpu,
     kPrediction,
     {{"driver", State::fail, "may not open /dev/nvidiactl", "group"}}},
    {"DevicesHidden",
     [](M& m) {
         make_h100(m);
         m.driver_facts.gpu =
             unusable("CUDA_VISIBLE_DEVICES=-1 hides every device", "unset CUDA_VISIBLE_DEVICES");
     },
     kWithGpu,
     kPrediction,
     {{"driver", State::fail, "hides every device", "unset CUDA_VISIBLE_DEVICES"}}},
    {"OldDriverForCuda13",
     [](M& m) { make_h100(m), set_driver(m, "535.129.03", 12020); },
     kWithGpu,
     kPrediction,
     {{"driver and CUPTI", State::fail, "it needs 580 or later", "update the driver to 580"}}},
    {"OldModuleWithCompatibilityPackage",
     [](M& m) {
         make_h100(m), set_driver(m, "535.129.03", 13000);
         m.driver_facts.library = "/usr/local/cuda/compat/libcuda.so.580.65.06";
     },
     kWithGpu,
     kAll,
     {{"driver and CUPTI", State::warn, "may be refused", "update the driver"},
      {"driver library", State::warn, "forward compatibility", ""}}},
    {"Cuda126OnItsDriver",
     [](M& m) { make_h100(m), add_cupti(m, 24), set_driver(m, "560.28.03", 12060); },
     kWithGpu,
     kAll,
     {{"driver and CUPTI", State::ok, "CUPTI 12.6 on driver 560.28.03 fit", ""}}},
    {"Cuda126OnAnOlderDriver",
     [](M& m) { make_h100(m), add_cupti(m, 24), set_driver(m, "535.129.03", 12020); },
     kWithGpu,
     kAll,
     {{"driver and CUPTI", State::warn, "made for 560 or later", "560"}}},
    {"TooOldForCounters",
     [](M& m) {
         make_h100(m);
         m.driver_facts.gpu.names = {"Tesla V100-SXM2-16GB"};
         m.nvml_facts.devices[0].name = "Tesla V100-SXM2-16GB";
         m.nvml_facts.devices[0].capability = 70;
     },
     kWithGpu,
     kRecords,
     {{"architecture", State::fail, "V100-SXM2-16GB (7.0)", "7.5 or later"}}},
    {"OldGpuBesideANewOne",
     [](M& m) {
         make_h100(m);
         m.nvml_facts.devices.push_back(m.nvml_facts.devices[0]);
         m.nvml_facts.devices[1].name = "Quadro P620";
         m.nvml_facts.devices[1].capability = 61;
     },
     kWithGpu,
     kAll,
     {{"architecture", State::warn, "Quadro P620 (6.1)", "CUDA_VISIBLE_DEVICES"}}},
    {"MiningBoard",
     [](M& m) { make_h100(m), m.nvml_facts.devices[0].name = "NVIDIA CMP 170HX"; },
     kWithGpu,
     kRecords,
     {{"architecture", State::fail, "CMP 170HX", "another GPU"}}},

    // CUPTI
    {"NoCupti",
     [](M& m) { make_h100(m), m.cupti_found.clear(); },
     kWithGpu,
     kPrediction,
     {{"CUPTI", State::fail, "no libcupti", "pip install nvidia-cuda-cupti"}}},
    {"NoCuptiOnALaptopIsNoFailure",
     make_laptop,
     kForPrediction,
     kPrediction,
     {{"CUPTI", State::warn, "metrics cannot be listed", "pip install nvidia-cuda-cupti"}}},
    {"Cupti125",
     [](M& m) { make_h100(m), add_cupti(m, 23); },
     kWithGpu,
     kPrediction,
     {{"CUPTI", State::fail, "older than 12.6 (version 23)", "12.6 or later"}}},
    {"Cupti1300",
     [](M& m) { make_h100(m), add_cupti(m, 130000); },
     kWithGpu,
     kAll,
     {{"CUPTI", State::warn, "before Update 1", ">=13.0.85"}}},
    {"ProfilerLibraryMissing",
     [](M& m) { make_h100(m), m.without("/usr/local/cuda/lib64/libnvperf_target.so"); },
     kWithGpu,
     kRecords,
     {{"CUPTI profiler", State::fail, "libnvperf_target.so missing", "force-reinstall"}}},
    {"SeveralCuptis",
     [](M& m) {
         make_h100(m);
         m.file("/data/cupti/libnvperf_host.so").file("/data/cupti/libnvperf_target.so");
         m.cupti_found.insert(m.cupti_found.begin(), {"/data/cupti/libcupti.so.12", "", 28});
     },
     kWithGpu,
     kAll,
     {{"CUPTI", State::ok, "CUDA 12.9 Update 1, /data/cupti/libcupti.so.12; also /usr/local", ""}}},
    {"CuptiThatDoesNotLoad",
     [](M& m) {
         make_h100(m);
         m.cupti_found[0].problem = "file too short", m.cupti_found[0].version.reset();
     },
     kWithGpu,
     kPrediction,
     {{"CUPTI", State::fail, "file too short", "pip install"}}},

    // Others
    {"DcgmRuns",
     [](M& m) { make_h100(m), m.process(812, "nv-hostengine"); },
     kWithGpu,
     kAll,
     {{"other profilers", State::warn, "nv-hostengine (process 812)", "dcgmi profile --pause"}}},
    {"DcgmExporterInKubernetes",
     [](M& m) {
         make_h100(m), m.process(7, "dcgm-exporter");
         m.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
     },
     kWithGpu,
     kAll,
     {{"other profilers", State::warn, "HARDWARE_BUSY", "dcgmi profile --pause"}}},
    {"NsightRuns",
     [](M& m) { make_h100(m), m.process(99, "ncu"); },
     kWithGpu,
     kAll,
     {{"other profilers", State::warn, "ncu (process 99)", "let it end"}}},
    {"SanitizerRuns",
     [](M& m) { make_h100(m), m.process(99, "compute-sanitizer"); },
     kWithGpu,
     kAll,
     {{"other profilers", State::warn, "compute-sanitizer (process 99)", "do not collect"}}},
    {"AnotherToolIsInjected",
     [](M& m) { make_h100(m), m.variables["CUDA_INJECTION64_PATH"] = "/opt/nsys/libToolsInjection64.so"; },
     kWithGpu,
     kNothing,
     {{"injection", State::fail, "/opt/nsys/libToolsInjection64.so", "unset CUDA_INJECTION64_PATH"}}},
    {"NvtxToolOnALaptop",
     [](M& m) { make_laptop(m), m.variables["NVTX_INJECTION64_PATH"] = "none"; },
     kWithout,
     kNothing,
     {{"injection", State::fail, "NVTX_INJECTION64_PATH is set", "unset NVTX_INJECTION64_PATH"}}},
    {"OurOwnInjectionIsNoOther",
     [](M& m) {
         make_h100(m);
         m.variables["CUDA_INJECTION64_PATH"] = "/opt/attnscope/lib/attnscope/libattnscope_injection.so";
     },
     kWithGpu,
     kAll,
     {}},
    {"MpsRuns",
     [](M& m) { make_h100(m), m.process(55, "nvidia-cuda-mps-control"); },
     kWithGpu,
     kRecords,
     {{"MPS", State::fail, "no counters under it", "echo quit | nvidia-cuda-mps-control"}}},
    {"MpsByItsPipe",
     [](M& m) {
         make_h100(m), m.file("/run/mps/control");
         m.variables["CUDA_MPS_PIPE_DIRECTORY"] = "/run/mps";
     },
     kWithGpu,
     kRecords,
     {{"MPS", State::fail, "/run/mps", "stop it"}}},

    // Sharing and fencing
    {"Mig",
     [](M& m) { make_h100(m), m.nvml_facts.devices[0].mig = true; },
     kWithGpu,
     kAll,
     {{"MIG", State::warn, "MIG is on: device 0 (NVIDIA H100", "nvidia-smi -mig 0"}}},
    {"Vgpu",
     [](M& m) { make_h100(m), m.nvml_facts.devices[0].virtualization = 2; },
     kWithGpu,
     kAll,
     {{"vGPU", State::unknown, "licence", "enable_profiling=1"}}},
    {"VgpuHost",
     [](M& m) { make_h100(m), m.nvml_facts.devices[0].virtualization = 3; },
     kWithGpu,
     kPrediction,
     {{"vGPU", State::fail, "shares its GPU out", "inside the virtual machine"}}},
    {"Wsl",
     [](M& m) {
         make_laptop(m), add_cupti(m, 130001);
         m.file("/proc/version", "Linux version 5.15.167.4-microsoft-standard-WSL2\n").file("/dev/dxg");
         m.file("/usr/lib/wsl/lib/libcuda.so.1");
         m.driver_facts.gpu = usable({"NVIDIA GeForce RTX 4090"});
         m.driver_facts.cuda = 13000;
         m.nvml_facts = {"", "581.15", {}, {}, {}};
         m.plans["AD102"] = m.plans["GH100"];
     },
     kWithGpu,
     kAll,
     {{"WSL", State::unknown, "Windows decides", "Manage GPU Performance Counters"},
      {"NVIDIA device", State::ok, "RTX 4090", ""},
      {"default metrics", State::ok, "AD102", ""}}},
    {"ConfidentialComputing",
     [](M& m) { make_h100(m), m.nvml_facts.confidential = true; },
     kWithGpu,
     kPrediction,
     {{"confidential computing", State::fail, "neither counters", "devtools"}}},
    {"ConfidentialComputingForDevelopers",
     [](M& m) { make_h100(m), m.nvml_facts.confidential = m.nvml_facts.confidential_devtools = true; },
     kWithGpu,
     kRecords,
     {{"confidential computing", State::fail, "kernel records alone", "off"}}},
    {"ProhibitedComputeMode",
     [](M& m) { make_h100(m), m.nvml_facts.devices[0].compute_mode = 2; },
     kWithGpu,
     kPrediction,
     {{"compute mode", State::fail, "prohibited", "nvidia-smi -c 0"}}},
    {"OneProcessAtATime",
     [](M& m) { make_h100(m), m.nvml_facts.devices[0].compute_mode = 3; },
     kWithGpu,
     kAll,
     {{"compute mode", State::warn, "one process", "nvidia-smi"}}},

    // Clocks and the like
    {"HeldDownByHeat",
     [](M& m) {
         make_h100(m);
         m.nvml_facts.devices[0].throttle_reasons = 0x40;
         m.nvml_facts.devices[0].sm_mhz = 900;
     },
     kWithGpu,
     kAll,
     {{"clocks", State::warn, "SM clock 900 MHz of at most 1980 MHz, held down by heat", "-lgc"}}},
    {"AutoBoost",
     [](M& m) { make_h100(m), m.nvml_facts.devices[0].auto_boost = true; },
     kWithGpu,
     kAll,
     {{"clocks", State::warn, "auto boost is on", "never does it"}}},
    {"ApplicationsClocks",
     [](M& m) { make_h100(m), m.nvml_facts.devices[0].applications_mhz = 1410; },
     kWithGpu,
     kAll,
     {{"clocks", State::ok, "applications clocks (1410 MHz)", ""}}},
    {"NoPersistence",
     [](M& m) { make_h100(m), m.nvml_facts.devices[0].persistence = false; },
     kWithGpu,
     kAll,
     {{"persistence mode", State::warn, "off for every device", "nvidia-smi -pm 1"}}},
    {"NoNvml",
     [](M& m) {
         make_h100(m), m.nvml_facts = {"libnvidia-ml.so.1 is not there", "", {}, {}, {}};
     },
     kWithGpu,
     kAll,
     {{"NVML", State::unknown, "clocks, MIG, vGPU", "compute,utility"}}},

    // attnscope itself
    {"DiskNearlyFull",
     [](M& m) { make_laptop(m), m.space = uint64_t{100} << 20; },
     kWithout,
     kPrediction,
     {{"disk space", State::warn, "100 MiB free in /home/user", "-o DIR"}}},
    {"FolderNotWritable",
     [](M& m) { make_laptop(m), m.unwritable = {"/home/user"}; },
     kWithout,
     kPrediction,
     {{"disk space", State::warn, "cannot be written to /home/user", "-o DIR"}}},
    {"NoProc",
     [](M& m) { make_laptop(m), m.without("/proc"); },
     kWithout,
     kNothing,
     {{"/proc", State::fail, "not mounted", "mount /proc"}}},
    {"NoVirtualGpu",
     [](M& m) { make_laptop(m), m.without("/opt"); },
     kWithout,
     kNothing,
     {{"virtual GPU", State::fail, "not installed", "install attnscope again"}}},
    {"VirtualGpuNotWhole",
     [](M& m) { make_h100(m), m.without("/opt/attnscope/lib/attnscope/virtual_gpu/libcudnn.so.9"); },
     kWithGpu,
     {Use::records, Use::counters},
     {{"virtual GPU", State::warn, "libcudnn.so.9 missing", "install attnscope again"}}},
    {"NoWorkload",
     [](M& m) { make_laptop(m), m.without("/opt/attnscope/bin/attention_workload"); },
     kWithout,
     kPrediction,
     {{"attention workload", State::warn, "not built", "--python python3"}}},
    {"BrokenInstallation",
     [](M& m) { make_h100(m), m.installation_problem = "it does not load"; },
     kWithGpu,
     kNothing,
     {{"installation", State::fail, "does not load", "install attnscope again"}}},
    {"ProgramForCuda12",
     [](M& m) { make_laptop(m), m.not_virtual = "the PyTorch in /x is built for another CUDA"; },
     kWithout,
     kNothing,
     {{"program", State::fail, "built for another CUDA", "real GPU"}},
     {"python3", "train.py"}},
    {"ProgramForCuda12OnAGpu",
     [](M& m) { make_h100(m), m.not_virtual = "the PyTorch in /x is built for another CUDA"; },
     kWithGpu,
     {Use::records, Use::counters},
     {{"program", State::warn, "built for another CUDA", "real GPU"}},
     {"python3", "train.py"}},
    {"ProgramNotFound",
     [](M& m) { make_laptop(m), m.cannot_start = "program not found: x is not in PATH"; },
     kWithout,
     kNothing,
     {{"program", State::fail, "program not found: x", "can be started"}},
     {"x"}},
    {"PlanForTheDefaultChip",
     [](M& m) { make_laptop(m), add_cupti(m, 130001); },
     kWithout,
     kPrediction,
     {{"default metrics", State::ok, "GH100 (H100; no GPU is here): 2 metrics in 1 pass", ""}}},
    {"PlanNeedsReplay",
     [](M& m) { make_h100(m), m.plans["GH100"].passes = 3; },
     kWithGpu,
     kAll,
     {{"default metrics", State::warn, "in 3 passes", "--replay"}}},
    {"PlanFails",
     [](M& m) { make_h100(m), m.plans.clear(); },
     kWithGpu,
     kRecords,
     {{"default metrics", State::fail, "no plan for GH100", "installed whole"}}},
    {"ChipsTellWhatTheTableDoesNot",
     [](M& m) {
         make_h100(m);
         m.driver_facts.gpu.names = {"NVIDIA Unheard-Of", "NVIDIA Unheard-Of"};
         m.chip_names = {"GB202", "GB202"};
         m.plans["GB202"] = {"", {"a", "b", "c"}, {{"dram_read", "has another name here"}}, 1};
     },
     kWithGpu,
     kAll,
     {{"default metrics", State::ok, "GB202: 3 metrics in 1 pass: a, b, c; absent: dram_read (has another",
       ""}}},
    {"ChipNotKnown",
     [](M& m) { make_h100(m), m.driver_facts.gpu.names = {"NVIDIA Unheard-Of"}; },
     kWithGpu,
     kAll,
     {{"default metrics", State::unknown, "not in attnscope's table", "--chip"}}},
};

class Machines : public testing::TestWithParam<Case> {};

TEST_P(Machines, AreDiagnosed) {
    const Case& one = GetParam();
    FakeMachine machine;
    one.make(machine);
    Request request;
    request.wanted = one.wanted.asked;
    request.program = one.program;
    const Diagnosis d = diagnose(machine, request);
    const std::string text = render_text(d);
    EXPECT_EQ(d.usable, one.usable) << text;
    EXPECT_EQ(d.wanted, one.wanted.found);
    EXPECT_EQ(d.usable_as_wanted(),
              std::find(one.usable.begin(), one.usable.end(), one.wanted.found) != one.usable.end());
    for (const Expected& expected : one.expected)
        EXPECT_TRUE(std::any_of(d.findings.begin(), d.findings.end(),
                                [&](const Finding& f) {
                                    return f.check == expected.check && f.state == expected.state &&
                                           f.seen.find(expected.seen) != std::string::npos &&
                                           f.remedy.find(expected.remedy) != std::string::npos;
                                }))
            << expected.check << ' ' << to_string(expected.state) << ": " << expected.seen << '\n'
            << text;
    // What must hold of every machine.
    for (size_t i = 0; i < d.findings.size(); ++i) {
        const Finding& f = d.findings[i];
        EXPECT_FALSE(f.seen.empty()) << f.check;
        EXPECT_EQ(f.state == State::fail,
                  std::find(f.blocks.begin(), f.blocks.end(), d.wanted) != f.blocks.end())
            << f.check;
        const bool bad = f.state == State::fail || f.state == State::warn;
        EXPECT_TRUE(!bad || !f.remedy.empty()) << f.check << f.seen;
        EXPECT_TRUE(f.state != State::ok || f.remedy.empty()) << f.check;
        EXPECT_LE(d.findings[i > 0 ? i - 1 : 0].state, f.state) << "the worst first\n" << text;
    }
    const bool failed = std::any_of(d.findings.begin(), d.findings.end(),
                                    [](const Finding& f) { return f.state == State::fail; });
    EXPECT_EQ(failed, !d.usable_as_wanted());
}

INSTANTIATE_TEST_SUITE_P(All, Machines, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& one) { return std::string(one.param.name); });

std::vector<std::string> checks_in_state(const Diagnosis& d, State state) {
    std::vector<std::string> names;
    for (const Finding& f : d.findings)
        if (f.state == state) names.push_back(f.check);
    return names;
}

TEST(Machine, HealthyHasNothingToMend) {
    FakeMachine m;
    make_h100(m);
    const Diagnosis d = diagnose(m, {});
    EXPECT_TRUE(checks_in_state(d, State::fail).empty());
    EXPECT_TRUE(checks_in_state(d, State::warn).empty()) << render_text(d);
    EXPECT_EQ(checks_in_state(d, State::unknown), std::vector<std::string>{"clocks"});
    EXPECT_EQ(d.verdict.find("usable for counters, as far as can be seen from outside"), 0u) << d.verdict;
}

TEST(Machine, VerdictsNameWhatStandsInTheWay) {
    FakeMachine user;
    make_h100(user);
    user.file("/proc/self/status", kUserRights);
    EXPECT_EQ(diagnose(user, {}).verdict,
              "not usable for counters (permission); usable for kernel records only");
    EXPECT_EQ(diagnose(user, {Use::records, {}}).verdict,
              "usable for kernel records only (permission stands against counters)");
    FakeMachine laptop;
    make_laptop(laptop);
    EXPECT_EQ(diagnose(laptop, {}).verdict,
              "usable for prediction only: counters and kernel records need an NVIDIA GPU");
    EXPECT_EQ(diagnose(laptop, {Use::counters, {}}).verdict,
              "not usable for counters (NVIDIA device); usable for prediction only");
    laptop.without("/opt");
    EXPECT_EQ(diagnose(laptop, {}).verdict, "not usable for prediction (virtual GPU); usable for nothing");
}

TEST(Machine, SeveralGpusAreToldApart) {
    FakeMachine m;
    make_h100(m);
    m.nvml_facts.devices.push_back(m.nvml_facts.devices[0]);
    m.nvml_facts.devices.push_back(m.nvml_facts.devices[0]);
    m.driver_facts.gpu.names.assign(3, "NVIDIA H100 80GB HBM3");
    m.nvml_facts.devices[1].throttle_reasons = 0x4;
    m.nvml_facts.devices[1].persistence = false;
    const std::string text = render_text(diagnose(m, {}), 1000);
    EXPECT_NE(text.find("device 1: SM clock 1980 MHz of at most 1980 MHz, held down by the power limit"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("devices 0, 2: SM clock 1980 MHz of at most 1980 MHz; NVML does not tell"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("3 devices: 3 x NVIDIA H100 80GB HBM3"), std::string::npos) << text;
    EXPECT_NE(text.find("nvidia-smi -i 0,2 -lgc"), std::string::npos) << text;
    EXPECT_NE(text.find("nvidia-smi -i 1 -lgc"), std::string::npos) << text;
    EXPECT_NE(text.find("off for device 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace attnscope::doctor::test
