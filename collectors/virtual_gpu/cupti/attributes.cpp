// cuptiActivityGetAttribute and SetAttribute.
#include <cupti.h>

#include <atomic>
#include <cstring>
#include <iterator>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/buffers.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/result.h"

using namespace attnscope::vgpu::cupti;

namespace {

/// Settings that only a GPU's own memory and buffers feel: kept and read back. Defaults are the header's.
struct Setting {
    size_t width;
    std::atomic<uint64_t> value;
};
Setting settings[] = {
    {8, {3'200'000}}, {8, {8'388'608}}, {8, {250}}, {8, {25'000}}, {8, {250}},        {1, {0}},
    {8, {3}},         {8, {3}},         {1, {0}},   {1, {1}},      {8, {16'777'216}},
};

Setting* setting_of(CUpti_ActivityAttribute attribute) {
    const auto index = static_cast<size_t>(attribute);
    return index < std::size(settings) ? &settings[index] : nullptr;
}

}  // namespace

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t* size, void* value) {
    ATTNSCOPE_FAULT_POINT;
    Setting* setting = setting_of(attr);
    if (!size || !value || !setting) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    if (*size < setting->width) return answer(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
    const uint64_t word = setting->value.load();
    std::memcpy(value, &word, setting->width);  // little endian, as every host of CUDA
    *size = setting->width;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t* size, void* value) {
    ATTNSCOPE_FAULT_POINT;
    Setting* setting = setting_of(attr);
    if (!size || !value || !setting) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    if (*size < setting->width) return answer(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
    uint64_t word = 0;
    std::memcpy(&word, value, setting->width);
    if (attr == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER) {
        if (have_buffer_callbacks() && word != setting->value.load())
            attnscope::vgpu::report(
                "warning", "cupti-per-thread-buffer-late",
                "PER_THREAD_ACTIVITY_BUFFER was changed after the buffer callbacks were registered: "
                "undefined in the real library",
                "set it before cuptiActivityRegisterCallbacks");
        set_per_thread_buffers(word != 0);
    }
    setting->value.store(word);
    return CUPTI_SUCCESS;
}
