#include "collectors/virtual_gpu/cupti/buffers.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/activity_switches.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/threads.h"

namespace attnscope::vgpu::cupti {
namespace {

struct Client {
    CUpti_BuffersCallbackRequestFunc request;
    CUpti_BuffersCallbackCompleteFunc complete;
};

struct Buffer {
    uint8_t* bytes = nullptr;
    size_t size = 0;
    size_t used = 0;
    size_t records = 0;
    size_t max_records = 0;
    const Client* owner = nullptr;
};

/// Full buffers on their way to the client. Never destroyed: the worker outlives main.
struct Outbox {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<Buffer> buffers;
    std::mutex delivery;  ///< held while the client's completion callback runs: one at a time, in order
    bool worker_started = false;
};

}  // namespace

struct Slot {
    std::mutex mutex;
    Buffer buffer;
    std::atomic<bool> in_use{false};
    Slot* next = nullptr;
};

namespace {

Outbox& outbox = *new Outbox;
Slot& shared_slot = *new Slot;
std::atomic<Slot*> slots{&shared_slot};
std::atomic<const Client*> client{nullptr};
std::atomic<bool> per_thread{true};
std::atomic<size_t> dropped{0};

/// A slot that a finished thread left behind is taken over with its half-filled buffer.
Slot* take_slot() {
    for (Slot* slot = slots.load(std::memory_order_acquire); slot; slot = slot->next) {
        bool free = false;
        if (slot != &shared_slot && slot->in_use.compare_exchange_strong(free, true)) return slot;
    }
    Slot* slot = new Slot;
    slot->in_use.store(true);
    slot->next = slots.load();
    while (!slots.compare_exchange_weak(slot->next, slot)) {
    }
    return slot;
}

void deliver_outbox() {
    const std::lock_guard delivery(outbox.delivery);
    for (;;) {
        Buffer buffer;
        {
            const std::lock_guard lock(outbox.mutex);
            if (outbox.buffers.empty()) return;
            buffer = outbox.buffers.front();
            outbox.buffers.pop_front();
        }
        const Inside inside(this_thread().in_buffer_callback);
        buffer.owner->complete(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
    }
}

void work() {
    pthread_setname_np(pthread_self(), "cupti");
    for (;;) {
        {
            std::unique_lock lock(outbox.mutex);
            outbox.filled.wait(lock, [] { return !outbox.buffers.empty(); });
        }
        deliver_outbox();
    }
}

/// Without a worker (no threads left) full buffers wait for the next flush.
void start_worker() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are not for this thread
    try {
        std::thread(work).detach();
        outbox.worker_started = true;
    } catch (const std::system_error&) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void post(Buffer& buffer, bool wake) {
    if (buffer.records > 0 && fault_happens(Fault::drop_buffers)) {
        dropped.fetch_add(buffer.records, std::memory_order_relaxed);
        buffer.used = 0;
        buffer.records = 0;
    }
    const std::lock_guard lock(outbox.mutex);
    outbox.buffers.push_back(buffer);
    buffer = {};
    if (!wake) return;
    if (!outbox.worker_started) start_worker();
    outbox.filled.notify_one();
}

void write(Buffer& buffer, const void* record, size_t size) {
    std::memcpy(buffer.bytes + buffer.used, record, size);
    buffer.used += size;
    ++buffer.records;
}

bool has_room(const Buffer& buffer, size_t size) {
    return buffer.used + size <= buffer.size &&
           (buffer.max_records == 0 || buffer.records < buffer.max_records);
}

void write_request_overhead(Buffer& buffer, uint64_t start, const Thread& thread) {
    CUpti_ActivityOverhead3 record{};
    record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST;
    record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    record.objectId.pt.processId = process_id();
    record.objectId.pt.threadId = id_of(thread);
    record.start = start;
    record.end = now_ns();
    if (has_room(buffer, sizeof record)) write(buffer, &record, sizeof record);
}

bool request(Buffer& buffer, size_t size, Thread& thread) {
    const Client* owner = client.load(std::memory_order_acquire);
    if (!owner) return false;
    const bool overhead = kind_enabled(CUPTI_ACTIVITY_KIND_OVERHEAD);
    const uint64_t start = overhead ? now_ns() : 0;
    Buffer fresh;
    {
        const Inside inside(thread.in_buffer_callback);
        owner->request(&fresh.bytes, &fresh.size, &fresh.max_records);
    }
    if (!fresh.bytes) return false;
    fresh.owner = owner;
    const bool aligned = reinterpret_cast<uintptr_t>(fresh.bytes) % ACTIVITY_RECORD_ALIGNMENT == 0;
    if (!aligned)
        report("error", "cupti-buffer-alignment",
               "an activity buffer is not aligned to 8 bytes: its records are dropped",
               "return a pointer aligned to ACTIVITY_RECORD_ALIGNMENT from the buffer request callback");
    if (!aligned || !has_room(fresh, size)) {
        post(fresh, true);  // the client gets its memory back
        return false;
    }
    // The record that the buffer was asked for must still fit behind the overhead's own.
    const size_t both = size + sizeof(CUpti_ActivityOverhead3);
    if (overhead && fresh.size >= both && fresh.max_records != 1)
        write_request_overhead(fresh, start, thread);
    buffer = fresh;
    return true;
}

void drop() {
    dropped.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void append_bytes(const void* record, size_t size) {
    Thread& thread = this_thread();
    if (is_forked_child()) return drop();
    if (thread.in_buffer_callback) {
        report("error", "cupti-call-in-buffer-callback",
               "CUDA was called inside an activity buffer callback: the real library can hang there",
               "do nothing in these callbacks but hand over buffers");
        return drop();
    }
    Slot* slot = &shared_slot;
    if (per_thread.load(std::memory_order_relaxed)) {
        if (!thread.slot) thread.slot = take_slot();
        slot = thread.slot;
    }
    const std::lock_guard lock(slot->mutex);
    Buffer& buffer = slot->buffer;
    if (buffer.bytes && !has_room(buffer, size)) post(buffer, true);
    if (!buffer.bytes && !request(buffer, size, thread)) return drop();
    write(buffer, record, size);
}

void set_buffer_callbacks(CUpti_BuffersCallbackRequestFunc request,
                          CUpti_BuffersCallbackCompleteFunc complete) {
    const Client* now = client.load();
    if (now && now->request == request && now->complete == complete) return;
    // Earlier clients stay: buffers in flight point to them.
    client.store(new Client{request, complete}, std::memory_order_release);
    // Else the threads would go on filling the earlier client's buffers, and the new one would miss its first
    // records.
    if (now) flush_all();
}

bool have_buffer_callbacks() {
    return client.load() != nullptr;
}
void set_per_thread_buffers(bool value) {
    per_thread.store(value);
}

void flush_all() {
    for (Slot* slot = slots.load(std::memory_order_acquire); slot; slot = slot->next) {
        const std::lock_guard lock(slot->mutex);
        if (slot->buffer.bytes) post(slot->buffer, false);
    }
    deliver_outbox();
}

void forget_client() {
    client.store(nullptr);
    for (Slot* slot = slots.load(std::memory_order_acquire); slot; slot = slot->next) {
        const std::lock_guard lock(slot->mutex);
        slot->buffer = {};
    }
    const std::lock_guard lock(outbox.mutex);
    outbox.buffers.clear();
}

size_t take_dropped() {
    return dropped.exchange(0);
}

void release_slot(Slot* slot) {
    if (slot) slot->in_use.store(false);
}

}  // namespace attnscope::vgpu::cupti
