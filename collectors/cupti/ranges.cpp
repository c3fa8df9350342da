#include "ranges.h"

#include <algorithm>
#include <cstddef>

namespace attnscope::collector {
namespace {
constexpr uint64_t kOpen = UINT64_MAX;
}

RangeBook::Opened RangeBook::open_process_range(uint64_t start_ns) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= 2 * kKept) forget_old();
    Opened opened{next_id(), 0, start_ns};
    if (!entries_.empty()) opened.start_ns = std::max(opened.start_ns, entries_.back().start_ns);
    const int32_t parent = open_.empty() ? -1 : open_.back();
    if (parent >= 0) opened.parent = entries_[static_cast<size_t>(parent)].id;
    open_.push_back(static_cast<int32_t>(entries_.size()));
    entries_.push_back({opened.start_ns, kOpen, opened.id, parent});
    innermost_.store(opened.id, std::memory_order_release);
    return opened;
}

bool RangeBook::close_process_range(uint32_t id, uint64_t end_ns) {
    const std::lock_guard lock(mutex_);
    for (size_t i = open_.size(); i-- > 0;) {
        Entry& entry = entries_[static_cast<size_t>(open_[i])];
        if (entry.id != id) continue;
        entry.end_ns = end_ns;
        open_.erase(open_.begin() + static_cast<ptrdiff_t>(i));
        innermost_.store(open_.empty() ? 0 : entries_[static_cast<size_t>(open_.back())].id,
                         std::memory_order_release);
        return true;
    }
    return false;
}

uint32_t RangeBook::innermost_at(uint64_t time_ns) const {
    const std::lock_guard lock(mutex_);
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), time_ns,
                                        [](uint64_t t, const Entry& e) { return t < e.start_ns; });
    // Of all that were open at `time_ns`, the latest to start is the last one before it or among that one's
    // ancestors: whatever was open when a range started is its parent or was open when its parent started.
    int32_t i = static_cast<int32_t>(after - entries_.begin()) - 1;
    while (i >= 0 && entries_[static_cast<size_t>(i)].end_ns <= time_ns)
        i = entries_[static_cast<size_t>(i)].parent;
    return i < 0 ? 0 : entries_[static_cast<size_t>(i)].id;
}

void RangeBook::forget_old() {
    std::vector<int32_t> moved(entries_.size(), -1);
    std::vector<Entry> kept;
    for (size_t i = 0; i < entries_.size(); ++i) {
        Entry entry = entries_[i];
        if (entry.end_ns != kOpen && i + kKept < entries_.size()) {
            moved[i] = entry.parent < 0
                           ? -1
                           : moved[static_cast<size_t>(entry.parent)];  // its children go to its parent
            continue;
        }
        entry.parent = entry.parent < 0 ? -1 : moved[static_cast<size_t>(entry.parent)];
        moved[i] = static_cast<int32_t>(kept.size());
        kept.push_back(entry);
    }
    for (int32_t& index : open_) index = moved[static_cast<size_t>(index)];
    entries_ = std::move(kept);
}

}  // namespace attnscope::collector
