// Holds CUPTI's subscription, watches, and lets a client library subscribe: one scenario a process, since the
// watch is the process's. Arguments: scenario, libcupti, client library, one more file. Prints what happened.
#include <cupti.h>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "loaded_object.h"
#include "other_client.h"
#include "subscriber_watch.h"

namespace {

using namespace attnscope::collector;

void* g_cupti;
CUpti_SubscriberHandle g_ours;
std::atomic<int> g_told{0};
std::atomic<bool> g_stepped_aside{false};
std::string g_function;
decltype(&cuptiSubscribe) g_subscribe;
decltype(&cuptiUnsubscribe) g_unsubscribe;

void callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

void* open_file(const char* file, int mode = RTLD_LAZY) {
    void* library = dlopen(file, mode);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(90);
    }
    return library;
}

template <class Function>
Function* find(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

void step_aside(const char* function) {
    ++g_told;
    g_function = function;
    usleep(20000);  // whoever does not wait is seen
    g_unsubscribe(g_ours);
    g_stepped_aside = true;
}

void hold_and_watch() {
    g_subscribe =
        find<CUptiResult(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*)>(g_cupti, "cuptiSubscribe");
    g_unsubscribe = find<CUptiResult(CUpti_SubscriberHandle)>(g_cupti, "cuptiUnsubscribe");
    std::printf("ours %d\n", g_subscribe(&g_ours, callback, nullptr));
    std::printf("watching %d\n", start_subscriber_watch(step_aside));
}

void report(int result) {
    std::printf("result %d told %d %s\n", result, g_told.load(), g_function.c_str());
}

int subscribe(void* client, CUpti_SubscriberHandle* subscriber) {
    return find<int(CUpti_SubscriberHandle*, void*)>(client, "watch_client_subscribe")(subscriber, nullptr);
}

/// Pages of a file that are readable and not writable, as the kernel sees them: RELRO's and the tables'.
size_t read_only_bytes(const std::string& file) {
    std::ifstream maps("/proc/self/maps");
    size_t bytes = 0;
    for (std::string line; std::getline(maps, line);) {
        unsigned long start = 0, end = 0;
        char flags[5] = {};
        if (line.find(file) == std::string::npos ||
            std::sscanf(line.c_str(), "%lx-%lx %4s", &start, &end, flags) != 3)
            continue;
        if (flags[0] == 'r' && flags[1] == '-') bytes += end - start;
    }
    return bytes;
}

void bound_before(const char* client_file) {
    void* client = open_file(client_file);
    CUpti_SubscriberHandle theirs = nullptr;
    // A lazy slot is bound by its first call.
    if (subscribe(client, &theirs) == 0)
        find<int(CUpti_SubscriberHandle)>(client, "watch_client_unsubscribe")(theirs);
    const size_t closed = read_only_bytes(client_file) + read_only_bytes("libcupti.so.13");
    hold_and_watch();
    std::printf("closed %d\n", read_only_bytes(client_file) + read_only_bytes("libcupti.so.13") == closed);
    report(subscribe(client, &theirs));
}

void loaded_later(const char* client_file) {
    hold_and_watch();
    CUpti_SubscriberHandle theirs = nullptr;
    void* client = open_file(client_file);
    report(subscribe(client, &theirs));
    report(subscribe(client, &theirs));  // a second time: CUPTI's own answer, nobody is told again
}

void second_version(const char* client_file) {
    hold_and_watch();
    void* client = open_file(client_file);
    CUpti_SubscriberHandle theirs = nullptr;
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "watched";
    report(find<int(CUpti_SubscriberHandle*, CUpti_SubscriberParams*)>(client, "watch_client_subscribe_v2")(
        &theirs, &params));
    // The fourth argument went through: the holder has the name that the client gave.
    std::printf("holder %s\n", name_of_other_client(g_cupti).value_or("nobody").c_str());
}

void activity(const char* client_file) {
    hold_and_watch();
    report(find<int(CUpti_ActivityKind)>(
        open_file(client_file), "watch_client_enable_activity")(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

void by_name(const char* client_file) {
    hold_and_watch();
    auto* look_up = find<void*(void*, const char*)>(open_file(client_file), "watch_client_look_up");
    void* found = look_up(g_cupti, "cuptiSubscribe");
    report(-1);  // looking up is not yet calling
    CUpti_SubscriberHandle theirs = nullptr;
    report(reinterpret_cast<decltype(&cuptiSubscribe)>(found)(&theirs, callback, nullptr));
    std::printf("unwatched %d\n", unwatched(found) == reinterpret_cast<void*>(g_subscribe));
    std::printf("absent %d\n", look_up(g_cupti, "cuptiSubscribe_v99") == nullptr && dlerror() != nullptr);
}

/// A program that asked for the address before we came, and kept it: cupti-python's way.
void kept_address(const char* client_file) {
    void* client = open_file(client_file);
    find<void(void*)>(client, "watch_client_keep")(g_cupti);
    hold_and_watch();
    CUpti_SubscriberHandle theirs = nullptr;
    report(find<int(CUpti_SubscriberHandle*)>(client, "watch_client_subscribe_kept")(&theirs));
}

/// A program that brings its own libcupti after us: another file, loaded by its path.
void own_copy(const char* client_file, const char* copy_file, bool rescan) {
    hold_and_watch();
    void* copy = open_file(copy_file, RTLD_LAZY | RTLD_LOCAL);
    if (rescan) rescan_subscriber_watch();
    auto* look_up = find<void*(void*, const char*)>(open_file(client_file), "watch_client_look_up");
    void* found = rescan ? dlsym(copy, "cuptiSubscribe") : look_up(copy, "cuptiSubscribe");
    std::printf("copy %d\n",
                unwatched(found) != found && unwatched(found) != reinterpret_cast<void*>(g_subscribe));
    CUpti_SubscriberHandle theirs = nullptr;
    report(reinterpret_cast<decltype(&cuptiSubscribe)>(found)(&theirs, callback, nullptr));
}

/// dlsym with RTLD_NEXT means "after the library that asks", through our entry too. Both are preloaded.
void next(const char* client_file) {
    void* client = open_file(client_file);
    hold_and_watch();
    auto* where = reinterpret_cast<int (*)()>(
        find<void*(const char*)>(client, "watch_client_next")("watch_client_where"));
    std::printf("where %d\n", where != nullptr ? where() : -1);
}

void many_threads(const char* client_file) {
    hold_and_watch();
    void* client = open_file(client_file);
    std::atomic<int> ready{0}, early{0}, served{0}, refused{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            ++ready;
            while (ready != 8) {
            }
            CUpti_SubscriberHandle theirs = nullptr;
            const int result = subscribe(client, &theirs);
            early += !g_stepped_aside;
            served += result == 0;
            refused += result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
        });
    for (std::thread& thread : threads) thread.join();
    std::printf("early %d served %d refused %d told %d\n", early.load(), served.load(), refused.load(),
                g_told.load());
}

void stopped(const char* client_file) {
    hold_and_watch();
    stop_subscriber_watch();
    CUpti_SubscriberHandle theirs = nullptr;
    report(subscribe(open_file(client_file), &theirs));
}

/// Objects come and go while we look.
void churn(const char* client_file) {
    hold_and_watch();
    std::atomic<bool> done{false};
    std::thread loader([&] {
        for (int i = 0; i < 3000; ++i) dlclose(open_file(client_file));
        done = true;
    });
    long scans = 0;
    while (!done) {
        rescan_subscriber_watch();
        ++scans;
    }
    loader.join();
    CUpti_SubscriberHandle theirs = nullptr;
    report(subscribe(open_file(client_file), &theirs));
    std::printf("scans %d\n", scans > 100);
}

/// The real libtorch_cpu.so, all bound: what its slots lead to.
void torch(const char* library) {
    open_file(library, RTLD_NOW | RTLD_GLOBAL);
    hold_and_watch();
    std::map<std::string, int> slots;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            const LoadedObject object(*info);
            if (object.soname() != "libtorch_cpu.so") return 0;
            object.for_each_word([data](uintptr_t&, uintptr_t word) {
                void* value = reinterpret_cast<void*>(word);
                if (unwatched(value) == value) return;
                Dl_info found{};
                dladdr(unwatched(value), &found);
                const bool cupti =
                    found.dli_fname != nullptr && std::strstr(found.dli_fname, "libcupti") != nullptr;
                ++(*static_cast<std::map<std::string, int>*>(data))[cupti ? "cupti" : "other"];
            });
            return 0;
        },
        &slots);
    std::printf("cupti %d other %d\n", slots["cupti"], slots["other"]);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 91;
    const std::string scenario = argv[1];
    const char* client = argv[3];
    const char* more = argc > 4 ? argv[4] : nullptr;
    g_cupti = open_file(argv[2]);
    const std::map<std::string, std::function<void()>> scenarios = {
        {"bound-before", [&] { bound_before(client); }},
        {"loaded-later", [&] { loaded_later(client); }},
        {"second-version", [&] { second_version(client); }},
        {"activity", [&] { activity(client); }},
        {"by-name", [&] { by_name(client); }},
        {"kept-address", [&] { kept_address(client); }},
        {"own-copy", [&] { own_copy(client, more, false); }},
        {"own-copy-rescanned", [&] { own_copy(client, more, true); }},
        {"next", [&] { next(client); }},
        {"many-threads", [&] { many_threads(client); }},
        {"stopped", [&] { stopped(client); }},
        {"churn", [&] { churn(client); }},
        {"torch", [&] { torch(client); }},
    };
    const auto found = scenarios.find(scenario);
    if (found == scenarios.end()) return 92;
    found->second();
    return 0;
}
