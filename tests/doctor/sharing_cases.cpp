// Others on the GPU, and ways of sharing and fencing it. Right values: CUPTI's release notes (known issues)
// and the error codes of cupti_result.h.
#include "machine_cases.h"

namespace attnscope::doctor::test {

std::vector<Case> sharing_cases() {
    return {
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
         [](M& m) {
             make_h100(m), m.variables["CUDA_INJECTION64_PATH"] = "/opt/nsys/libToolsInjection64.so";
         },
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
    };
}

}  // namespace attnscope::doctor::test
