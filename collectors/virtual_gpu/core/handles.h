#pragma once
// Opaque handles that can be checked: a handle is the address of a slot in a reserved table, so any value
// that a program passes, NULL and rubbish included, is told from a live one by a range check and one load.
// Tables never shrink.
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>

namespace attnscope::vgpu {

template <class T>
class HandleTable {
  public:
    explicit HandleTable(size_t capacity = size_t{1} << 22) : capacity_(capacity) {
        void* memory = mmap(nullptr, capacity_ * sizeof(Slot), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        slots_ = static_cast<Slot*>(memory);
    }
    HandleTable(const HandleTable&) = delete;
    HandleTable& operator=(const HandleTable&) = delete;

    /// The handle of `object`. Slots are reused oldest first, which keeps stale handles recognisable for
    /// long.
    void* add(T* object) {
        std::lock_guard lock(mutex_);
        size_t index;
        if (used_ < capacity_ && free_.size() < 1024) {
            index = used_++;
        } else if (!free_.empty()) {
            index = free_.front();
            free_.pop_front();
        } else {
            throw std::bad_alloc();
        }
        slots_[index].object.store(object, std::memory_order_release);
        return &slots_[index];
    }

    /// nullptr for whatever is no live handle of this kind.
    T* get(const void* handle) const {
        const auto offset = reinterpret_cast<uintptr_t>(handle) - reinterpret_cast<uintptr_t>(slots_);
        if (offset >= capacity_ * sizeof(Slot) || offset % sizeof(Slot) != 0) return nullptr;
        return slots_[offset / sizeof(Slot)].object.load(std::memory_order_acquire);
    }

    /// Takes the object out; nullptr when another thread was faster.
    T* remove(const void* handle) {
        if (get(handle) == nullptr) return nullptr;
        Slot* slot = static_cast<Slot*>(const_cast<void*>(handle));
        T* object = slot->object.exchange(nullptr, std::memory_order_acq_rel);
        if (object != nullptr) {
            std::lock_guard lock(mutex_);
            free_.push_back(static_cast<size_t>(slot - slots_));
        }
        return object;
    }

  private:
    struct Slot {
        std::atomic<T*> object;
        void* pad;  // a handle is 16-byte aligned, as pointers from an allocator are
    };
    size_t capacity_;
    Slot* slots_ = nullptr;
    std::mutex mutex_;
    size_t used_ = 0;
    std::deque<size_t> free_;
};

/// The one table of its kind, never destroyed: handles must stay checkable while the process exits.
template <class T>
HandleTable<T>& handles() {
    static auto* table = new HandleTable<T>();
    return *table;
}

}  // namespace attnscope::vgpu
