#include "collectors/virtual_gpu/core/host_worker.h"

#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "collectors/virtual_gpu/core/thread.h"

namespace attnscope::vgpu {

namespace {
struct Worker {
    std::mutex mutex;
    std::condition_variable queued, finished;
    std::deque<std::function<void()>> queue;
    uint64_t issued = 0;
    std::atomic<uint64_t> done{0};
    bool started = false;

    void run() {
        thread_state().runs_host_function = true;
        std::unique_lock lock(mutex);
        for (;;) {
            queued.wait(lock, [&] { return !queue.empty(); });
            auto function = std::move(queue.front());
            queue.pop_front();
            lock.unlock();
            function();
            function = nullptr;
            lock.lock();
            done.fetch_add(1, std::memory_order_release);
            finished.notify_all();
        }
    }
};

// Never destroyed, its thread detached: a program may leave through exit() while a host function runs.
Worker& worker() {
    static auto* w = new Worker();
    return *w;
}
}  // namespace

uint64_t run_on_host_worker(std::function<void()> function) {
    Worker& w = worker();
    std::lock_guard lock(w.mutex);
    if (!w.started) {
        // The program's signals are for the program's threads.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        std::thread([&w] { w.run(); }).detach();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        w.started = true;
    }
    w.queue.push_back(std::move(function));
    w.queued.notify_one();
    return ++w.issued;
}

bool host_ticket_done(uint64_t ticket) {
    return worker().done.load(std::memory_order_acquire) >= ticket;
}

void wait_for_host_ticket(uint64_t ticket) {
    if (host_ticket_done(ticket) || thread_state().runs_host_function) return;
    Worker& w = worker();
    std::unique_lock lock(w.mutex);
    w.finished.wait(lock, [&] { return w.done.load(std::memory_order_acquire) >= ticket; });
}

void wait_for_host_functions() {
    Worker& w = worker();
    uint64_t last;
    {
        std::lock_guard lock(w.mutex);
        last = w.issued;
    }
    wait_for_host_ticket(last);
}

}  // namespace attnscope::vgpu
