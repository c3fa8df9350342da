#pragma once
// Pointer -> Entry*, read without a lock by every launch and written under one by registration.
// Open addressing; a full table is replaced by one of twice the size, and the old one kept, since a reader
// may still be in it (all the old ones together are smaller than the new one).
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace attnscope::vgpu::cudart {

template <class Entry>
class PointerTable {
  public:
    PointerTable() { publish(1024); }

    /// nullptr when there is none.
    Entry* find(const void* key) const {
        const Table& table = *current_.load(std::memory_order_acquire);
        for (size_t i = hash(key) & table.mask;; i = (i + 1) & table.mask) {
            const void* const found = table.slots[i].key.load(std::memory_order_acquire);
            if (found == key) return table.slots[i].entry.load(std::memory_order_acquire);
            if (found == nullptr) return nullptr;
        }
    }

    /// The newest entry for a key wins; nullptr takes it out.
    void set(const void* key, Entry* entry) {
        const std::lock_guard lock(writing_);
        Table* table = tables_.back().get();
        if (2 * (used_ + 1) > table->mask) {
            publish(2 * (table->mask + 1));
            Table* const larger = tables_.back().get();
            used_ = 0;
            for (size_t i = 0; i <= table->mask; ++i) {
                const void* const old_key = table->slots[i].key.load(std::memory_order_relaxed);
                Entry* const old_entry = table->slots[i].entry.load(std::memory_order_relaxed);
                if (old_entry) put(*larger, old_key, old_entry);
            }
            table = larger;
            current_.store(table, std::memory_order_release);
        }
        put(*table, key, entry);
    }

    /// Every entry until `visit` returns true.
    template <class Visit>
    void until(Visit visit) {
        const std::lock_guard lock(writing_);
        const Table& table = *tables_.back();
        for (size_t i = 0; i <= table.mask; ++i) {
            Entry* const entry = table.slots[i].entry.load(std::memory_order_relaxed);
            if (entry && visit(*entry)) return;
        }
    }

  private:
    struct Slot {
        std::atomic<const void*> key{nullptr};
        std::atomic<Entry*> entry{nullptr};
    };
    struct Table {
        explicit Table(size_t size) : mask(size - 1), slots(new Slot[size]) {}
        size_t mask;
        std::unique_ptr<Slot[]> slots;
    };

    static size_t hash(const void* key) {
        const auto bits = reinterpret_cast<uintptr_t>(key);
        return static_cast<size_t>((bits >> 4) * 0x9E3779B97F4A7C15ull >> 20);
    }

    void put(Table& table, const void* key, Entry* entry) {
        size_t i = hash(key) & table.mask;
        while (true) {
            const void* const found = table.slots[i].key.load(std::memory_order_relaxed);
            if (found == nullptr || found == key) {
                table.slots[i].entry.store(entry, std::memory_order_release);
                if (found == nullptr) ++used_;
                table.slots[i].key.store(key, std::memory_order_release);
                return;
            }
            i = (i + 1) & table.mask;
        }
    }

    void publish(size_t size) {
        tables_.push_back(std::make_unique<Table>(size));
        if (tables_.size() == 1) current_.store(tables_.back().get(), std::memory_order_release);
    }

    std::atomic<Table*> current_{nullptr};
    std::mutex writing_;
    std::vector<std::unique_ptr<Table>> tables_;
    size_t used_ = 0;
};

}  // namespace attnscope::vgpu::cudart
