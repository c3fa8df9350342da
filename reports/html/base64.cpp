#include "base64.h"

#include <cstdint>

namespace attnscope::reports {

std::string base64(std::string_view bytes) {
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    uint32_t bits = 0;
    int held = 0;
    for (const char c : bytes) {
        bits = bits << 8 | static_cast<unsigned char>(c);
        for (held += 8; held >= 6; held -= 6) out += alphabet[bits >> (held - 6) & 63];
    }
    if (held > 0) out += alphabet[bits << (6 - held) & 63];
    while (out.size() % 4 != 0) out += '=';
    return out;
}

}  // namespace attnscope::reports
