// Real or virtual: never a virtual run that the user did not ask for on a machine that has a GPU.
#include "attnscope/gpu.h"
#include "attnscope/launch.h"
#include "real_gpu.h"

namespace attnscope {
namespace {

GroundChoice virtual_ground(std::string_view devices) {
    GroundChoice choice;
    choice.is_virtual = true;
    choice.virtual_devices = devices;
    for (const Gpu& gpu : parse_virtual_devices(devices)) {
        choice.device_names.push_back(gpu.id);
        choice.chips.push_back(gpu.chip);
    }
    return choice;
}

GroundChoice real_ground(const launch::RealGpu& gpu) {
    GroundChoice choice;
    choice.device_names = gpu.names;
    choice.chips = gpu.chips;
    return choice;
}

}  // namespace

GroundChoice choose_ground(const std::string& device) {
    constexpr std::string_view prefix = "virtual:";
    if (device == "virtual") return virtual_ground(kDefaultVirtualDevice);
    if (device.compare(0, prefix.size(), prefix) == 0)
        return virtual_ground(std::string_view(device).substr(prefix.size()));
    if (device != "real" && device != "auto")
        throw Error("--device " + device + " is neither auto, real nor virtual:NAME; virtual GPUs are " +
                    known_gpus());
    const launch::RealGpu gpu = launch::look_for_real_gpu();
    if (gpu.usable) return real_ground(gpu);
    if (device == "real")
        throw Error("--device real: no GPU is usable, because " + gpu.reason + "; " + gpu.remedy +
                    ", or predict with --device virtual:" + kDefaultVirtualDevice);
    if (gpu.device_present)
        throw Error("an NVIDIA device is present but not usable, because " + gpu.reason + "; " + gpu.remedy +
                    ", or ask for a prediction with --device virtual:" + kDefaultVirtualDevice);
    return virtual_ground(kDefaultVirtualDevice);
}

}  // namespace attnscope
