#include "collectors/virtual_gpu/cupti/config_image.h"

#include <cupti_profiler_host.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/host_api.h"

namespace attnscope::vgpu::cupti {

std::string wrong_config_image(const uint8_t* image, size_t size, const std::string& chip) {
    // A FlatBuffer: its root's offset, then a file identifier, seen in every image that the real library
    // made.
    constexpr std::string_view identifier = "LOPC";
    constexpr size_t chip_within = 128;  // the chip's name stands at 0x2c to 0x30 of those
    uint32_t root = 0;
    if (!image || size < chip_within) return "the config image is missing or too short";
    std::memcpy(&root, image, sizeof root);
    const std::string_view text(reinterpret_cast<const char*>(image), size);
    if (root >= size || text.substr(4, identifier.size()) != identifier)
        return "this is no config image of CUPTI's host API";
    if (text.substr(0, chip_within).find(std::string_view(chip.c_str(), chip.size() + 1)) ==
        std::string_view::npos)
        return "the config image is for another chip";
    return "";
}

size_t passes_of_config(const uint8_t* image, size_t size) {
    std::vector<uint8_t> copy(image, image + size);
    CUpti_Profiler_Host_GetNumOfPasses_Params params{};
    params.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
    params.configImageSize = size;
    params.pConfigImage = copy.data();
    if (ask_host("cuptiProfilerHostGetNumOfPasses", &params) == CUPTI_SUCCESS && params.numOfPasses > 0)
        return params.numOfPasses;
    report("warning", "cupti-passes-unknown",
           "how many passes a config image needs is not known without NVIDIA's libcupti: one is assumed",
           "pip install nvidia-cuda-cupti");
    return 1;
}

}  // namespace attnscope::vgpu::cupti
