#include "collectors/virtual_gpu/cupti/range_config.h"

#include <cupti_profiler_target.h>

#include <cstdlib>

#include "collectors/virtual_gpu/cupti/config_image.h"
#include "collectors/virtual_gpu/cupti/memory.h"

namespace attnscope::vgpu::cupti {
namespace {

CUptiResult read_modes(Call& call, const CUpti_RangeProfiler_SetConfig_Params& params, RangeConfig& config) {
    config.user_range = params.range == CUPTI_UserRange;
    config.kernel_replay = params.replayMode == CUPTI_KernelReplay;
    if (params.range != CUPTI_AutoRange && params.range != CUPTI_UserRange)
        return call.wrong_value("there is no range mode " + std::to_string(params.range),
                                "CUPTI_AutoRange or CUPTI_UserRange");
    if (params.replayMode == CUPTI_ApplicationReplay)
        return call.refused(CUPTI_ERROR_NOT_SUPPORTED, "application replay is not emulated",
                            "kernel or user replay");
    if (params.replayMode != CUPTI_KernelReplay && params.replayMode != CUPTI_UserReplay)
        return call.wrong_value("there is no replay mode " + std::to_string(params.replayMode),
                                "CUPTI_KernelReplay or CUPTI_UserReplay");
    if (config.user_range && config.kernel_replay)
        return call.wrong_order("user range with kernel replay: kernel replay exists only with auto range",
                                "user replay with user range");
    config.levels = params.numNestingLevels;
    config.first_level = params.minNestingLevel;
    if (config.levels < 1 || config.first_level < 1 ||
        (!config.user_range && (config.levels != 1 || config.first_level != 1)))
        return call.wrong_value("numNestingLevels and minNestingLevel count from 1, and are 1 in auto range",
                                "set both to 1");
    if (params.passIndex != 0 ||
        (params.targetNestingLevel != 0 && params.targetNestingLevel != params.minNestingLevel))
        return call.wrong_value(
            "passIndex and targetNestingLevel go on from an earlier run of the program, "
            "which is application replay",
            "0, and minNestingLevel or 0");
    return CUPTI_SUCCESS;
}

CUptiResult read_image(Call& call, const CUpti_RangeProfiler_SetConfig_Params& params, RangeConfig& config) {
    const size_t most = number_of("ATTNSCOPE_VGPU_MAX_RANGES", 2000);
    if (params.maxRangesPerPass == 0) return call.wrong_value("maxRangesPerPass is 0", "at least one range");
    if (params.maxRangesPerPass > most)
        return call.wrong_order(
            "maxRangesPerPass is " + std::to_string(params.maxRangesPerPass) + "; more than " +
                std::to_string(most) + " were refused by real libraries",
            "fewer ranges, decoded more often (ATTNSCOPE_VGPU_MAX_RANGES changes the limit)");
    config.ranges_per_pass = params.maxRangesPerPass;

    CounterImage image;
    if (!readable(params.pCounterDataImage, params.counterDataImageSize) ||
        image.read(params.pCounterDataImage, params.counterDataImageSize) != ImageState::good)
        return call.wrong_value("the counter data image is not initialised",
                                "cuptiRangeProfilerCounterDataImageInitialize first");
    if (image.max_ranges() > most)
        return call.wrong_order("the counter data image is for more than " + std::to_string(most) + " ranges",
                                "fewer ranges, decoded more often");
    config.image = params.pCounterDataImage;
    config.image_size = params.counterDataImageSize;

    return CUPTI_SUCCESS;
}

}  // namespace

size_t number_of(const char* variable, size_t otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

CUptiResult read_config(Call& call, const CUpti_RangeProfiler_SetConfig_Params& params,
                        const std::string& chip, RangeConfig& config) {
    if (const CUptiResult error = read_modes(call, params, config)) return error;
    if (const CUptiResult error = read_image(call, params, config)) return error;
    const std::string wrong = readable(params.pConfig, params.configSize)
                                  ? wrong_config_image(params.pConfig, params.configSize, chip)
                                  : "the config image is not there";
    if (!wrong.empty())
        return call.wrong_value(wrong, "an image of cuptiProfilerHostGetConfigImage for chip " + chip);
    // Under kernel replay each launch runs all passes by itself.
    config.passes = config.kernel_replay ? 1 : passes_of_config(params.pConfig, params.configSize);
    config.set = true;
    return CUPTI_SUCCESS;
}

}  // namespace attnscope::vgpu::cupti
