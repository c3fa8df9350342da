#include "notices.h"

#include "json_line.h"

namespace attnscope::collector {

void Notices::diagnostic(std::string_view severity, std::string_view code, std::string_view message,
                         std::string_view remedy, uint64_t count) {
    std::string record;
    JsonLine(record, "diagnostic")
        .text("severity", severity)
        .text("code", code)
        .text("message", message)
        .known("remedy", remedy);
    add(std::move(record), count);
}

void Notices::add(std::string record, uint64_t count) {
    const std::lock_guard lock(mutex_);
    const auto known = counts_.find(record);
    if (known != counts_.end())
        known->second += count;
    else if (counts_.size() < kDistinct)
        counts_.emplace(std::move(record), count);
    else
        beyond_ += count;
}

void Notices::take(std::string& out) {
    const std::lock_guard lock(mutex_);
    for (auto& [record, count] : counts_)
        out.append(record).append(",\"count\":").append(std::to_string(count)).append("}\n");
    counts_.clear();
    if (beyond_ != 0) {
        JsonLine(out, "diagnostic")
            .text("severity", "data_loss")
            .text("code", "too-many-notices")
            .text("message",
                  "more different diagnostics or uncomputed reads within a second than are kept apart")
            .number("count", beyond_)
            .end();
        beyond_ = 0;
    }
}

}  // namespace attnscope::collector
