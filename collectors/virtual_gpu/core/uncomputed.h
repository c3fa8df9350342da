#pragma once
// What a host that reads uncomputed memory is given: zeros, or the value that ATTNSCOPE_UNCOMPUTED names.
#include <cstddef>
#include <string>

namespace attnscope::vgpu {

/// The value's bytes are repeated. Forms: "0x01" (a byte), "float:1", "double:", "half:", "bfloat16:",
/// "int8:" .. "int64:", "uint8:" ..
struct Filler {
    unsigned char bytes[8] = {0};
    size_t size = 1;
    std::string name = "zeros";  ///< for people
};
/// False when the text has none of the forms.
bool parse_filler(const std::string& text, Filler& filler);

/// ATTNSCOPE_UNCOMPUTED, read once; zeros, and a diagnostic, when it cannot be read.
const Filler& filler();
void fill(void* out, size_t bytes);

}  // namespace attnscope::vgpu
