#include "collectors/virtual_gpu/core/uncomputed.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/observer.h"

namespace attnscope::vgpu {

namespace {

// Round to nearest even, as the hardware's conversions do.
uint16_t to_bfloat16(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

uint16_t to_half(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    if (exponent < -25) return static_cast<uint16_t>(sign);
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const int shift = exponent < -14 ? 13 + (-14 - exponent) : 13;
    uint32_t half = exponent < -14
                        ? mantissa >> shift
                        : ((static_cast<uint32_t>(exponent + 15) << 10) | ((mantissa >> 13) & 0x3ffu));
    const uint32_t rest = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);
    if (rest > middle || (rest == middle && (half & 1u) != 0)) half++;
    return static_cast<uint16_t>(sign | half);
}

template <class T>
void store(Filler& filler, T value) {
    std::memcpy(filler.bytes, &value, sizeof value);
    filler.size = sizeof value;
}

bool parse_number(const std::string& type, const std::string& digits, Filler& filler) {
    const char* text = digits.c_str();
    char* end = nullptr;
    errno = 0;
    if (type == "float" || type == "double" || type == "half" || type == "bfloat16") {
        const double value = std::strtod(text, &end);
        if (end == text || *end != '\0') return false;
        if (type == "float") store(filler, static_cast<float>(value));
        if (type == "double") store(filler, value);
        if (type == "half") store(filler, to_half(static_cast<float>(value)));
        if (type == "bfloat16") store(filler, to_bfloat16(static_cast<float>(value)));
        return true;
    }
    const bool is_unsigned = type.rfind("uint", 0) == 0;
    const std::string width = type.substr(is_unsigned ? 4 : type.rfind("int", 0) == 0 ? 3 : type.size());
    const auto value = is_unsigned ? std::strtoull(text, &end, 0)
                                   : static_cast<unsigned long long>(std::strtoll(text, &end, 0));
    if (end == text || *end != '\0' || errno != 0) return false;
    if (width == "8") return store(filler, static_cast<uint8_t>(value)), true;
    if (width == "16") return store(filler, static_cast<uint16_t>(value)), true;
    if (width == "32") return store(filler, static_cast<uint32_t>(value)), true;
    if (width == "64") return store(filler, static_cast<uint64_t>(value)), true;
    return false;
}

}  // namespace

bool parse_filler(const std::string& text, Filler& filler) {
    Filler parsed;
    const size_t colon = text.find(':');
    if (colon != std::string::npos) {
        if (!parse_number(text.substr(0, colon), text.substr(colon + 1), parsed)) return false;
        parsed.name = text.substr(0, colon) + " " + text.substr(colon + 1);
    } else {
        char* end = nullptr;
        const unsigned long value = std::strtoul(text.c_str(), &end, 0);
        if (end == text.c_str() || *end != '\0' || value > 0xff) return false;
        parsed.bytes[0] = static_cast<unsigned char>(value);
        char name[16];
        std::snprintf(name, sizeof name, "bytes 0x%02lx", value);
        parsed.name = value == 0 ? "zeros" : name;
    }
    filler = parsed;
    return true;
}

const Filler& filler() {
    static const Filler chosen = [] {
        Filler f;
        const char* text = std::getenv("ATTNSCOPE_UNCOMPUTED");
        if (text != nullptr && *text != '\0' && !parse_filler(text, f))
            report("warning", "bad-setting",
                   std::string("ATTNSCOPE_UNCOMPUTED=") + text + " is no value; zeros are used",
                   "write 0x01, float:1, int64:3 or the like");
        return f;
    }();
    return chosen;
}

void fill(void* out, size_t bytes) {
    const Filler& f = filler();
    if (f.size == 1) {
        std::memset(out, f.bytes[0], bytes);
        return;
    }
    auto* to = static_cast<unsigned char*>(out);
    for (size_t done = 0; done < bytes; done += f.size)
        std::memcpy(to + done, f.bytes, bytes - done < f.size ? bytes - done : f.size);
}

void report_uncomputed_host_value(void* host, size_t bytes, const char* cause) {
    if (host == nullptr || bytes == 0) return;
    fill(host, bytes);
    report_uncomputed_read(bytes, cause, filler().name.c_str());
}

}  // namespace attnscope::vgpu
