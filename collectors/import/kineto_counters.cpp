#include "kineto_counters.h"

#include <algorithm>
#include <unordered_set>

namespace attnscope::importer {

void CountedRanges::take(const Event& event, std::string name) {
    Counted range{std::move(name), {}};
    std::unordered_set<uint32_t> seen;
    for (const JsonField& f : event.fields) {
        if (!f.nested || f.key.find("__") == std::string_view::npos) continue;
        CounterValue value;
        value.metric = metrics_.add(valid_utf8(std::string(f.key)));
        if (!seen.insert(value.metric).second) continue;
        value.value = json_number(f);
        if (value.value && *value.value < 0) value.value.reset();
        if (!value.value) value.absent = "the file holds no possible value";
        range.values.push_back(std::move(value));
    }
    ranges_.push_back(std::move(range));
}

void CountedRanges::add_to(Process& process, int64_t at) {
    if (ranges_.empty()) return;
    process.metrics = metrics_.take();
    process.counter_ground = Ground::imported;
    for (Counted& counted : ranges_) {
        Range range;
        range.id = process.ranges.size() + 1;
        range.process_wide = true;
        range.ended = true;
        range.name = std::move(counted.name);
        range.start_ns = static_cast<uint64_t>(std::max<int64_t>(at, 0));
        range.end_ns = range.start_ns;
        if (!counted.values.empty()) {
            range.counters = static_cast<uint32_t>(process.counters.size());
            process.counters.push_back(std::move(counted.values));
        }
        process.ranges.push_back(std::move(range));
    }
}

}  // namespace attnscope::importer
