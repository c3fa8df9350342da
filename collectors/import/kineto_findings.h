#pragma once
// What was wrong or peculiar in a Kineto trace, counted while it is read: its diagnostics.
#include "importer.h"

namespace attnscope::importer {

struct KinetoFindings {
    uint64_t host_events = 0, launch_calls = 0, launches = 0, counted_ranges = 0;
    Count negative, no_number, nameless, backslashes, broken_utf8;

    /// `name` is the file's.
    std::vector<Diagnostic> diagnostics(const std::string& name) const;
};

}  // namespace attnscope::importer
