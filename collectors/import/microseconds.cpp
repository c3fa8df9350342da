#include "microseconds.h"

#include <charconv>
#include <cmath>

namespace attnscope::importer {

std::optional<int64_t> microseconds_to_ns(std::string_view text) {
    const char* p = text.data();
    const char* const end = p + text.size();
    int64_t whole = 0;
    bool negative = false;
    if (p != end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    const char* const digits = p;
    for (; p != end && *p >= '0' && *p <= '9'; ++p)
        if (__builtin_mul_overflow(whole, int64_t{10}, &whole) ||
            __builtin_add_overflow(whole, int64_t{*p - '0'}, &whole))
            return std::nullopt;
    int64_t fraction = 0, unit = 100;
    bool any = p != digits;
    if (p != end && *p == '.')
        for (++p; p != end && *p >= '0' && *p <= '9'; ++p, unit /= 10, any = true)
            fraction += (*p - '0') * unit;
    if (!any) return std::nullopt;
    if (p != end) {  // an exponent: rare, and then not of nanosecond precision anyway
        double value = 0;
        const auto read = std::from_chars(text.data(), end, value);
        if (read.ec != std::errc() || read.ptr != end || std::abs(value) > double(kMostNanoseconds) / 1000)
            return std::nullopt;
        return static_cast<int64_t>(std::llround(value * 1000));
    }
    int64_t ns = 0;
    if (__builtin_mul_overflow(whole, int64_t{1000}, &ns) || __builtin_add_overflow(ns, fraction, &ns) ||
        ns > kMostNanoseconds)
        return std::nullopt;
    return negative ? -ns : ns;
}

}  // namespace attnscope::importer
