#pragma once
// The frame of a Kineto trace: what stands beside the events, and the events one by one, through damage.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bytes.h"
#include "importer.h"
#include "json_scan.h"

namespace attnscope::importer {

struct TraceFrame {
    /// Values beside `traceEvents` that are worth keeping, as text with 64 bytes of padding behind it.
    std::vector<std::pair<std::string, std::string>> metadata;
    uint64_t events = 0;
    bool has_events_array = false;
    std::vector<Diagnostic> diagnostics;  ///< damage: place and amount

    /// nullptr when the trace does not have it.
    const std::string* find(std::string_view key) const;
};

/// Calls `take` for each event with its fields, those of `args` nested; they are valid during the call.
TraceFrame read_trace(const std::string& name, ByteWindow& bytes,
                      const std::function<void(const std::vector<JsonField>&)>& take);

}  // namespace attnscope::importer
