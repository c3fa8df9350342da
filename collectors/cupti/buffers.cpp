#include "buffers.h"

#include <sys/mman.h>

namespace attnscope::collector {

uint8_t* BufferPool::take_free(size_t& size, bool beyond_limit) {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
        uint8_t* data = free_.back();
        free_.pop_back();
        size = sizes_[data];
        return data;
    }
    size = sizes_.size() < kBigCount ? kBigBytes : kSmallBytes;
    if (bytes_ + size > kMaxBytes && !beyond_limit) return nullptr;
    // Mapped, not allocated: the pages that are never written cost nothing, and the program's allocator is
    // not entered.
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return nullptr;
    bytes_ += size;
    sizes_.emplace(static_cast<uint8_t*>(data), size);
    return static_cast<uint8_t*>(data);
}

uint8_t* BufferPool::request(size_t& size, bool may_decline) {
    requests_.fetch_add(1, std::memory_order_relaxed);
    // The limit is for a disk that stands still: as long as buffers come back, another thread was quicker.
    uint64_t progress = monotonic_ms();
    uint32_t before = recycled_.state();
    uint8_t* data = nullptr;
    for (;;) {
        const uint32_t seen = recycled_.state();
        data = take_free(size, false);
        if (data != nullptr || stuck_.load(std::memory_order_relaxed) == uint64_t{seen} + 1) break;
        if (seen != before) {
            before = seen;
            progress = monotonic_ms();
        } else if (monotonic_ms() - progress >= kWaitMs) {
            stuck_.store(uint64_t{seen} + 1, std::memory_order_relaxed);
            break;
        }
        recycled_.wait(seen, 50);
    }
    if (data == nullptr && !may_decline) data = take_free(size, true);
    if (data != nullptr)
        outstanding_.fetch_add(1, std::memory_order_relaxed);
    else
        size = 0;
    return data;
}

void BufferPool::complete(uint8_t* data, size_t valid) {
    {
        const std::lock_guard lock(mutex_);
        const auto known = sizes_.find(data);
        if (known == sizes_.end()) return;  // another client's
        completed_.push_back({data, valid < known->second ? valid : known->second});
    }
    outstanding_.fetch_sub(1, std::memory_order_relaxed);
    arrived_.raise();
}

void BufferPool::take(std::vector<Completed>& completed) {
    completed.clear();
    const std::lock_guard lock(mutex_);
    completed.swap(completed_);
}

void BufferPool::recycle(uint8_t* data) {
    {
        const std::lock_guard lock(mutex_);
        free_.push_back(data);
    }
    recycled_.raise();
}

}  // namespace attnscope::collector
