#include "collectors/virtual_gpu/cupti/threads.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "collectors/virtual_gpu/cupti/buffers.h"

namespace attnscope::vgpu::cupti {
namespace {

std::atomic<CUpti_TimestampCallbackFunc> client_clock{nullptr};
std::atomic<CUpti_ActivityThreadIdType> id_type{CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT};
std::atomic<bool> forked{false};
std::atomic<uint32_t> pid{0};
std::atomic<uint32_t> threads_seen{0};

thread_local Thread* current = nullptr;

void read_ids(Thread& thread) {
    // CUPTI cuts pthread_self to 32 bits.
    thread.ids = {static_cast<uint32_t>(pthread_self()), static_cast<uint32_t>(syscall(SYS_gettid))};
}

struct Farewell {
    bool armed = true;
    ~Farewell() {
        if (current) {
            release_slot(current->slot);
            delete current;
            current = nullptr;
        }
    }
};
thread_local Farewell farewell;

void after_fork() {
    // A child of a process that had no client starts afresh: CUDA can be used there.
    if (have_buffer_callbacks()) forked.store(true);
    pid.store(static_cast<uint32_t>(getpid()));
    if (current) read_ids(*current);
}

struct Process {
    Process() {
        pid.store(static_cast<uint32_t>(getpid()));
        pthread_atfork(nullptr, nullptr, after_fork);
    }
};
const Process process;

}  // namespace

Thread& this_thread() {
    if (current) return *current;
    current = new Thread;
    read_ids(*current);
    current->number = threads_seen.fetch_add(1) + 1;
    // Naming it constructs it: its destructor runs at the thread's end. After that a late caller gets a
    // Thread that stays.
    farewell.armed = true;
    return *current;
}

uint32_t process_id() {
    return pid.load(std::memory_order_relaxed);
}
bool is_forked_child() {
    return forked.load(std::memory_order_relaxed);
}

CUpti_ActivityThreadIdType thread_id_type() {
    return id_type.load();
}
void set_thread_id_type(CUpti_ActivityThreadIdType type) {
    id_type.store(type);
}
uint32_t id_of(const Thread& thread) {
    return thread.ids[id_type.load(std::memory_order_relaxed)];
}

uint64_t now_ns() {
    if (CUpti_TimestampCallbackFunc clock = client_clock.load(std::memory_order_relaxed)) return clock();
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}
void set_clock(CUpti_TimestampCallbackFunc clock) {
    client_clock.store(clock);
}

}  // namespace attnscope::vgpu::cupti
