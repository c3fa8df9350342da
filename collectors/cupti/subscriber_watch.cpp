#include "subscriber_watch.h"

#include <cupti_result.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "dlsym_entry.h"
#include "loaded_object.h"

namespace attnscope::collector {
namespace {

constexpr const char* kFunctions[] = {"cuptiSubscribe", "cuptiSubscribe_v2", "cuptiActivityEnable",
                                      "cuptiActivityEnableContext"};

/// All of them take up to four words and return a result: their arguments pass through registers as they are.
using Function = CUptiResult(void*, void*, void*, void*);

/// One function of one copy of libcupti: a program may bring another copy than the one that we hold. Entries
/// are only added.
struct Watched {
    std::atomic<uintptr_t> function{0};
    const char* name = nullptr;
};
constexpr size_t kMaxWatched = 32;
std::array<Watched, kMaxWatched> watched;

enum class State { off, watching, telling };
std::atomic<State> state{State::off};
AboutToProfile about_to_profile = nullptr;
std::recursive_mutex telling;  ///< recursive: what is called while we step aside may be watched itself

void tell(const char* function) noexcept {
    if (state.load(std::memory_order_acquire) == State::off) return;
    const std::lock_guard lock(telling);  // whoever comes second goes on when we have stepped aside
    State expected = State::watching;
    if (!state.compare_exchange_strong(expected, State::telling)) return;
    about_to_profile(function);
    state.store(State::off, std::memory_order_release);
}

template <size_t index>
CUptiResult wrapper(void* a, void* b, void* c, void* d) noexcept {
    tell(watched[index].name);
    return reinterpret_cast<Function*>(watched[index].function.load(std::memory_order_acquire))(a, b, c, d);
}

template <size_t... index>
constexpr std::array<CUptiResult (*)(void*, void*, void*, void*) noexcept, kMaxWatched> make_wrappers(
    std::index_sequence<index...>) {
    return {wrapper<index>...};
}
constexpr auto wrappers = make_wrappers(std::make_index_sequence<kMaxWatched>());

uintptr_t address_of_wrapper(size_t index) {
    return reinterpret_cast<uintptr_t>(wrappers[index]);
}
bool is_wrapper(uintptr_t address) {
    for (size_t i = 0; i < kMaxWatched; ++i)
        if (address_of_wrapper(i) == address) return true;
    return false;
}

std::mutex scanning;  ///< guards the growth of `watched`
unsigned long long seen_adds = 0;

/// The wrapper of a function; 0 when there are too many. With `scanning` held.
uintptr_t wrapper_for(uintptr_t function, const char* name, bool* is_new = nullptr) {
    for (size_t i = 0; i < kMaxWatched; ++i) {
        const uintptr_t known = watched[i].function.load(std::memory_order_relaxed);
        if (known == function) return address_of_wrapper(i);
        if (known != 0) continue;
        watched[i].name = name;
        watched[i].function.store(function, std::memory_order_release);
        if (is_new != nullptr) *is_new = true;
        return address_of_wrapper(i);
    }
    return 0;
}

/// What stands for a word's value; 0: it stays.
uintptr_t replacement(uintptr_t value) {
    if (value == 0) return 0;
    if (value == reinterpret_cast<uintptr_t>(attnscope_real_dlsym))
        return reinterpret_cast<uintptr_t>(attnscope_dlsym_entry);
    for (size_t i = 0; i < kMaxWatched; ++i) {
        const uintptr_t known = watched[i].function.load(std::memory_order_relaxed);
        if (known == 0) break;
        if (known == value) return address_of_wrapper(i);
    }
    return 0;
}

bool is_cupti(const LoadedObject& object) {
    return object.soname().substr(0, 11) == "libcupti.so";
}
bool has_dlsym(const LoadedObject& object) {
    return object.soname() == "libc.so.6" || object.soname() == "libdl.so.2";  // the latter before glibc 2.34
}
bool is_ours(const LoadedObject& object) {
    return object.contains(reinterpret_cast<uintptr_t>(&watched));
}

struct Scan {
    bool first;           ///< the loader's dlsym too
    bool added = false;   ///< a copy of libcupti that was not watched before
    bool failed = false;  ///< a table could not be written
};

void watch_definitions(const LoadedObject& object, Scan& scan) {
    for (const char* name : kFunctions)
        object.for_each_definition(name, [&](ElfW(Sym) & symbol) {
            const uintptr_t function = object.address_of(symbol);
            if (is_wrapper(function)) return;
            const uintptr_t replaced = wrapper_for(function, name, &scan.added);
            if (replaced == 0 ||
                !write_protected(symbol.st_value, symbol.st_value, object.value_for(replaced)))
                scan.failed = true;
        });
}

void watch_dlsym(const LoadedObject& object) {
    object.for_each_definition("dlsym", [&](ElfW(Sym) & symbol) {
        const uintptr_t function = object.address_of(symbol);
        if (attnscope_real_dlsym == nullptr)
            attnscope_real_dlsym = reinterpret_cast<void* (*)(void*, const char*)>(function);
        if (function != reinterpret_cast<uintptr_t>(attnscope_real_dlsym)) return;
        write_protected(symbol.st_value, symbol.st_value,
                        object.value_for(reinterpret_cast<uintptr_t>(attnscope_dlsym_entry)));
    });
}

bool nothing_new(const dl_phdr_info& info, size_t size) {
    if (size < offsetof(dl_phdr_info, dlpi_adds) + sizeof info.dlpi_adds) return false;
    if (info.dlpi_adds == seen_adds) return true;
    seen_adds = info.dlpi_adds;
    return false;
}

/// Symbols first, so that whatever is bound meanwhile finds the wrapper; then the slots bound before, and the
/// variables of those who asked dlsym before (cupti-python asks for all functions at once).
void scan_objects(Scan& scan) {
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            auto& wanted = *static_cast<Scan*>(data);
            const LoadedObject object(*info);
            if (is_cupti(object)) watch_definitions(object, wanted);
            if (wanted.first && has_dlsym(object)) watch_dlsym(object);
            return 0;
        },
        &scan);
    if (!scan.added) return;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            const LoadedObject object(*info);
            if (is_cupti(object) || is_ours(object) || has_dlsym(object)) return 0;
            const bool read = object.for_each_word([](uintptr_t& word, uintptr_t value) {
                const uintptr_t replaced = replacement(value);
                if (replaced != 0) write_protected(word, value, replaced);
            });
            if (!read) static_cast<Scan*>(data)->failed = true;
            return 0;
        },
        &scan);
}

}  // namespace

bool start_subscriber_watch(AboutToProfile about) {
    Scan scan{true};
    const std::lock_guard lock(scanning);
    about_to_profile = about;
    state.store(State::watching, std::memory_order_release);
    scan_objects(scan);
    return watched[0].function.load(std::memory_order_relaxed) != 0 && !scan.failed;
}

void rescan_subscriber_watch() {
    if (state.load(std::memory_order_relaxed) != State::watching) return;
    const std::unique_lock lock(scanning, std::try_to_lock);
    if (!lock.owns_lock()) return;
    const bool same = dl_iterate_phdr([](dl_phdr_info* info, size_t size,
                                         void*) { return nothing_new(*info, size) ? 1 : 2; },
                                      nullptr) == 1;
    Scan scan{false};
    if (!same) scan_objects(scan);
}

void stop_subscriber_watch() {
    State expected = State::watching;
    state.compare_exchange_strong(expected, State::off);
}

void* unwatched(void* function) {
    for (size_t i = 0; i < kMaxWatched; ++i)
        if (reinterpret_cast<uintptr_t>(function) == address_of_wrapper(i))
            return reinterpret_cast<void*>(watched[i].function.load(std::memory_order_acquire));
    return function;
}

}  // namespace attnscope::collector

using namespace attnscope::collector;

/// The copies that are known answer with a wrapper by themselves; this is for one that was loaded since.
int attnscope_dlsym_is_watched(void* library, const char* name) noexcept {
    if (name == nullptr || std::strncmp(name, "cupti", 5) != 0 ||
        state.load(std::memory_order_relaxed) == State::off)
        return 0;
    if (library == RTLD_NEXT || library == RTLD_DEFAULT) return 0;
    return std::any_of(std::begin(kFunctions), std::end(kFunctions),
                       [name](const char* function) { return std::strcmp(function, name) == 0; });
}

void* attnscope_watched_dlsym(void* library, const char* name) noexcept {
    void* function = attnscope_real_dlsym(library, name);
    const auto address = reinterpret_cast<uintptr_t>(function);
    if (function == nullptr || is_wrapper(address)) return function;
    const std::lock_guard lock(scanning);
    for (const char* known : kFunctions)
        if (std::strcmp(known, name) == 0)
            if (const uintptr_t wrapped = wrapper_for(address, known))
                return reinterpret_cast<void*>(wrapped);
    return function;
}
