#pragma once
// What can be known of a config image, which only the real library's host API makes and reads.
#include <cstddef>
#include <cstdint>
#include <string>

namespace attnscope::vgpu::cupti {

/// Empty when it looks like an image for this chip; else what is wrong.
std::string wrong_config_image(const uint8_t* image, size_t size, const std::string& chip);
/// As the real library says; 1, with a diagnostic, where none is installed.
size_t passes_of_config(const uint8_t* image, size_t size);

}  // namespace attnscope::vgpu::cupti
