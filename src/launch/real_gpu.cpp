#include "real_gpu.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "attnscope/gpu.h"

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;

bool nvidia_device_present() {
    std::error_code error;
    if (fs::exists("/proc/driver/nvidia/version", error) || fs::exists("/dev/nvidiactl", error) ||
        fs::exists("/dev/nvidia0", error))
        return true;
    for (fs::directory_iterator at("/sys/bus/pci/devices", error), end; !error && at != end;
         at.increment(error)) {
        std::string vendor, type;
        std::ifstream(at->path() / "vendor") >> vendor;
        std::ifstream(at->path() / "class") >> type;
        if (vendor == "0x10de" && type.compare(0, 4, "0x03") == 0) return true;  // display controller
    }
    return false;
}

/// In the child: one line for each finding. "load", "standin", "init N", "device NAME",
/// and after it "capability 9.0".
void ask_driver(int out) {
    const auto say = [out](const std::string& line) {
        return write(out, (line + "\n").data(), line.size() + 1) > 0;
    };
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) {
        say("load");
        return;
    }
    if (dlsym(driver, "attnscopeVgpuSetObserver") != nullptr) {
        say("standin");
        return;
    }
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto count_of = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
    const auto attribute_of =
        reinterpret_cast<int (*)(int*, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
    const auto name_of = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
    if (init == nullptr || count_of == nullptr || name_of == nullptr) {
        say("load");
        return;
    }
    int result = init(0), count = 0;
    if (result == 0) result = count_of(&count);
    say("init " + std::to_string(result));
    for (int i = 0; result == 0 && i < count; ++i) {
        char name[256] = "";
        if (name_of(name, sizeof name - 1, i) != 0) continue;
        say(std::string("device ") + name);
        constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
        int major = 0, minor = 0;
        if (attribute_of != nullptr && attribute_of(&major, kMajor, i) == 0 &&
            attribute_of(&minor, kMinor, i) == 0)
            say("capability " + std::to_string(major) + '.' + std::to_string(minor));
    }
}

std::string chip_of(const std::string& name) {
    const Gpu* known = find_gpu(name);
    return known != nullptr ? known->chip : std::string();
}

/// The only chip in our table with this compute capability; "" where there are none or several. Good enough
/// for a plan before the program starts: the program's process asks with CUPTI's own word.
std::string chip_of_capability(const std::string& capability) {
    std::string chip;
    for (const Gpu& known : gpus()) {
        if (std::to_string(known.major) + '.' + std::to_string(known.minor) != capability) continue;
        if (!chip.empty() && chip != known.chip) return {};
        chip = known.chip;
    }
    return chip;
}

std::string hear(pid_t child, int in) {
    constexpr int kLimitMs = 60000;
    std::string text;
    for (;;) {
        pollfd wait{in, POLLIN, 0};
        if (poll(&wait, 1, kLimitMs) <= 0) {
            kill(child, SIGKILL);
            text += "timeout\n";
            break;
        }
        char part[512];
        const ssize_t n = read(in, part, sizeof part);
        if (n <= 0) break;
        text.append(part, static_cast<size_t>(n));
    }
    return text;
}

void explain(int error, RealGpu& gpu) {
    const std::string code = "cuInit answered error " + std::to_string(error);
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    gpu.remedy = "run nvidia-smi to see what is wrong with the driver";
    switch (error) {
        case 100:
            gpu.reason = "the driver sees no device (" + code + ")";
            if (visible != nullptr) {
                gpu.reason =
                    std::string("CUDA_VISIBLE_DEVICES=") + visible + " hides every device (" + code + ")";
                gpu.remedy = "unset CUDA_VISIBLE_DEVICES";
            }
            return;
        case 802:
            gpu.reason = "the NVLink fabric is not ready (" + code + ")";
            gpu.remedy = "start nvidia-fabricmanager";
            return;
        case 803:
            gpu.reason = "the kernel module and libcuda.so.1 are of different versions (" + code + ")";
            gpu.remedy = "reboot, or reload the nvidia kernel module after a driver update";
            return;
        case 804:
            gpu.reason = "the driver is too old for the CUDA compatibility package (" + code + ")";
            gpu.remedy = "update the driver, or remove the cuda-compat package";
            return;
        case 999:
            gpu.remedy =
                "check that this user may open /dev/nvidia* and that the container was started with --gpus "
                "all";
            break;
        default:
            break;
    }
    gpu.reason = code;
}

}  // namespace

RealGpu look_for_real_gpu() {
    RealGpu gpu;
    gpu.device_present = nvidia_device_present();
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) return gpu;
    const pid_t child = fork();
    if (child == 0) {
        for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) unsetenv(variable);
        ask_driver(pipe_ends[1]);
        _exit(0);
    }
    close(pipe_ends[1]);
    const std::string answer = child > 0 ? hear(child, pipe_ends[0]) : "load\n";
    close(pipe_ends[0]);
    if (child > 0) waitpid(child, nullptr, 0);

    bool initialised = false;
    gpu.reason = "the driver crashed while it was asked";
    gpu.remedy = "run nvidia-smi to see what is wrong with the driver";
    for (size_t at = 0; at < answer.size();) {
        const size_t end = std::min(answer.find('\n', at), answer.size());
        const std::string line = answer.substr(at, end - at);
        at = end + 1;
        if (line == "load") {
            gpu.reason = "libcuda.so.1 is not there";
            gpu.remedy = "install the NVIDIA driver; in a container, start it with --gpus all";
        } else if (line == "standin") {
            gpu.reason = "the libcuda.so.1 that is found is attnscope's virtual one";
            gpu.remedy = "take attnscope's folder out of LD_LIBRARY_PATH and LD_PRELOAD";
        } else if (line == "timeout") {
            gpu.reason = "the driver did not answer within a minute";
        } else if (line.compare(0, 5, "init ") == 0) {
            const int error = std::atoi(line.c_str() + 5);
            initialised = error == 0;
            if (initialised)
                gpu.reason = "the driver sees no device";
            else
                explain(error, gpu);
        } else if (line.compare(0, 7, "device ") == 0) {
            gpu.names.push_back(line.substr(7));
            gpu.chips.push_back(chip_of(gpu.names.back()));
        } else if (line.compare(0, 11, "capability ") == 0 && !gpu.chips.empty() &&
                   gpu.chips.back().empty()) {
            gpu.chips.back() = chip_of_capability(line.substr(11));
        }
    }
    gpu.usable = initialised && !gpu.names.empty();
    if (gpu.usable) gpu.reason.clear(), gpu.remedy.clear();
    return gpu;
}

}  // namespace attnscope::launch
