#include "words.h"

#include <cctype>
#include <cmath>
#include <cstdio>

namespace attnscope::words {
namespace {

std::string with_separators(std::string digits) {
    const size_t point = digits.find('.');
    size_t at = point == std::string::npos ? digits.size() : point;
    const size_t first = !digits.empty() && digits[0] == '-' ? 1 : 0;
    while (at > first + 3) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

}  // namespace

std::string number(double value) {
    if (!std::isfinite(value)) return "not a number";
    char text[64];
    if (std::fabs(value) >= 1e18) {
        std::snprintf(text, sizeof text, "%.3g", value);
        return text;
    }
    if (value == std::floor(value)) {
        std::snprintf(text, sizeof text, "%.0f", value);
        return with_separators(text);
    }
    std::snprintf(text, sizeof text,
                  std::fabs(value) < 1    ? "%.2g"
                  : std::fabs(value) < 10 ? "%.2f"
                                          : "%.1f",
                  value);
    std::string out = text;
    if (out.find('e') != std::string::npos) return out;
    if (out.find('.') != std::string::npos) {
        while (out.back() == '0') out.pop_back();
        if (out.back() == '.') out.pop_back();
    }
    return with_separators(out);
}

std::string bytes(double value) {
    static const char* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    std::string out = number(value) + (value == 1 ? " byte" : " bytes");
    double scaled = value;
    const char* unit = nullptr;
    for (const char* next : units) {
        if (scaled < 1024) break;
        scaled /= 1024;
        unit = next;
    }
    if (unit && value >= 10240) out += " (" + number(std::round(scaled * 10) / 10) + " " + unit + ")";
    return out;
}

std::string percent(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    std::string out = text;
    if (out.size() > 2 && out.compare(out.size() - 2, 2, ".0") == 0) out.resize(out.size() - 2);
    return out + "%";
}

std::string milliseconds(double nanoseconds) {
    char text[48];
    const double ms = nanoseconds / 1e6;
    std::snprintf(text, sizeof text, ms < 1 ? "%.4f ms" : ms < 10 ? "%.3f ms" : "%.2f ms", ms);
    return text;
}

std::string plural(double count, std::string_view noun) {
    std::string out = number(count) + " " + std::string(noun);
    if (count == 1) return out;
    if (out.back() == 'y') {
        out.pop_back();
        return out + "ies";
    }
    const bool hissing = out.back() == 'h' || out.back() == 's' || out.back() == 'x';
    return out + (hissing ? "es" : "s");
}

std::string join(const std::vector<std::string>& items, std::string_view last, std::string_view between) {
    std::string out;
    for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += i + 1 == items.size() ? std::string(last) : std::string(between);
        out += items[i];
    }
    return out;
}

std::string times(double ratio) {
    return number(ratio < 10 ? std::round(ratio * 10) / 10 : std::round(ratio)) + " times";
}

std::string shortened(const std::string& text, size_t bytes) {
    if (text.size() <= bytes) return text;
    size_t end = bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // within a character
    return text.substr(0, end) + "…";
}

std::string capital(std::string sentence) {
    if (!sentence.empty())
        sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
    return sentence;
}

std::string shell_word(const std::string& word) {
    if (!word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%") ==
            std::string::npos)
        return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

std::string say(const Value& value) {
    if (!value.number) return "unknown (" + value.absent + ")";
    switch (value.unit) {
        case Unit::bytes:
            return bytes(*value.number);
        case Unit::percent:
            return percent(*value.number);
        case Unit::nanoseconds:
            return milliseconds(*value.number);
        default:
            return number(*value.number);
    }
}

std::string say_with_ground(const Value& value) {
    return say(value) + (value.number && value.provenance.ground == Ground::fixture ? " (fixture)" : "");
}

}  // namespace attnscope::words
