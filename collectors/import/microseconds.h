#pragma once
// Times of traces: microseconds, whole or fractional, of any size. A double would lose nanoseconds.
#include <cstdint>
#include <optional>
#include <string_view>

namespace attnscope::importer {

/// Beyond this no time is taken: sums of a start, a duration and a shift then stay in 64 bits. It is the year
/// 2043 as Unix time.
inline constexpr int64_t kMostNanoseconds = int64_t{1} << 61;

/// "1419247333430.849" -> 1419247333430849; also "1e3", "-5", "2.". Digits beyond the nanosecond are dropped.
/// nullopt when it is no number, or is beyond kMostNanoseconds.
std::optional<int64_t> microseconds_to_ns(std::string_view text);

}  // namespace attnscope::importer
