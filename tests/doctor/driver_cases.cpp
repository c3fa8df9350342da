// Devices, drivers and CUPTI. Right values: the minimum drivers of the CUDA release notes and CUPTI's known
// issues, as src/doctor/check_cupti.cpp quotes them.
#include "machine_cases.h"

namespace attnscope::doctor::test {

std::vector<Case> driver_cases() {
    return {
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
        {"LaptopForRecords",
         make_laptop,
         kForRecords,
         kPrediction,
         {{"NVIDIA device", State::fail, "none", ""}}},
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
             m.driver_facts.gpu =
                 unusable("the kernel module and libcuda.so.1 are of different versions (803)",
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
    };
}

}  // namespace attnscope::doctor::test
