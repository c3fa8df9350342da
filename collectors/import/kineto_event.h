#pragma once
// One event of a Kineto trace: the fields that importing needs.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "finish.h"
#include "json_scan.h"

namespace attnscope::importer {

/// Views into the window that the event was read from.
struct Event {
    enum class Category : uint8_t { other, kernel, memcpy, memset, operation, call, annotation, counters };

    explicit Event(const std::vector<JsonField>& all);

    Category category = Category::other;  ///< other: also what is no complete event (phase "X")
    std::string_view name;                ///< still escaped
    const JsonField *pid = nullptr, *tid = nullptr, *ts = nullptr, *dur = nullptr;
    const std::vector<JsonField>& fields;

    const JsonField* arg(std::string_view key) const;
    std::optional<uint64_t> number(std::string_view key) const;
    /// The argument's text where it is an array, else empty.
    std::string_view array(std::string_view key) const;
    /// Traces before 2022 write it in lower case.
    std::optional<uint64_t> external_id() const;
    /// Tells threads of all processes apart.
    uint64_t thread() const;
};

/// When an event was, in nanoseconds; `end` only where it does not lie before the start.
struct EventTime {
    std::optional<int64_t> start, end;
    bool negative = false;   ///< the duration is
    bool no_number = false;  ///< start or duration are there and none (NaN, inf, text)
};
EventTime time_of(const Event& event);

/// A kernel, copy or memset with all that the event says but for its name.
TimedLaunch launch_of(const Event& event);

}  // namespace attnscope::importer
