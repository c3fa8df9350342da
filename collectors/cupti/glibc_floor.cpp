// The library runs in programs on machines older than the one it was built on: glibc 2.28 and later. What
// moved between glibc's libraries since (dlopen, pthread_create) is bound to its first version, what is newer
// is given here. The linker sends every reference, those of libstdc++.a and libgcc_eh.a too, through these
// (CMakeLists.txt, --wrap). tests/collector reads the result.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#define FIRST_SETNAME "GLIBC_2.12"
#define FIRST_DLINFO "GLIBC_2.3.3"
#elif defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#define FIRST_SETNAME "GLIBC_2.17"
#define FIRST_DLINFO "GLIBC_2.17"
#endif

#define BOUND(result, name, version, parameters, arguments) \
    result first_##name parameters;                         \
    __asm__(".symver first_" #name "," #name "@" version);  \
    result __wrap_##name parameters {                       \
        return first_##name arguments;                      \
    }

extern "C" {

BOUND(void*, dlopen, FIRST, (const char* file, int mode), (file, mode))
BOUND(void*, dlsym, FIRST, (void* library, const char* name), (library, name))
BOUND(char*, dlerror, FIRST, (void), ())
BOUND(int, dlclose, FIRST, (void* library), (library))
BOUND(int, dlinfo, FIRST_DLINFO, (void* library, int request, void* info), (library, request, info))
BOUND(int, pthread_create, FIRST,
      (pthread_t * thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument),
      (thread, attributes, body, argument))
BOUND(int, pthread_key_create, FIRST, (pthread_key_t * key, void (*destroy)(void*)), (key, destroy))
BOUND(void*, pthread_getspecific, FIRST, (pthread_key_t key), (key))
BOUND(int, pthread_setspecific, FIRST, (pthread_key_t key, const void* value), (key, value))
BOUND(int, pthread_mutex_trylock, FIRST, (pthread_mutex_t * mutex), (mutex))
BOUND(int, pthread_once, FIRST, (pthread_once_t * once, void (*body)(void)), (once, body))
BOUND(int, pthread_sigmask, FIRST, (int how, const sigset_t* set, sigset_t* old), (how, set, old))
BOUND(int, pthread_setname_np, FIRST_SETNAME, (pthread_t thread, const char* name), (thread, name))

int __wrap___pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) {
    return first_pthread_key_create(key, destroy);
}

// C23's readings of numbers (2.38), which a newer libstdc++.a may name.
BOUND(long, strtol, FIRST, (const char* text, char** end, int base), (text, end, base))
BOUND(unsigned long, strtoul, FIRST, (const char* text, char** end, int base), (text, end, base))
long __wrap___isoc23_strtol(const char* text, char** end, int base) {
    return first_strtol(text, end, base);
}
unsigned long __wrap___isoc23_strtoul(const char* text, char** end, int base) {
    return first_strtoul(text, end, base);
}
long long __wrap___isoc23_strtoll(const char* text, char** end, int base) {
    return first_strtol(text, end, base);
}
unsigned long long __wrap___isoc23_strtoull(const char* text, char** end, int base) {
    return first_strtoul(text, end, base);
}

// libstdc++ asks whether it may leave out atomic operations (2.32): it may not.
__attribute__((visibility("hidden"))) char __wrap___libc_single_threaded = 0;

// libstdc++'s std::random_device, which nothing here uses, names it (2.36).
uint32_t __wrap_arc4random() {
    uint32_t value = 0;
    if (getrandom(&value, sizeof value, 0) != sizeof value) value = static_cast<uint32_t>(getpid());
    return value;
}

// libgcc's unwinder finds the frames of an address with it (2.35, struct dl_find_object in dlfcn.h).
struct FoundObject {
    unsigned long long flags;
    void *map_start, *map_end;
    link_map* map;
    void* eh_frame;
    unsigned long long reserved[7];
};

static int find_object_in(dl_phdr_info* info, size_t, void* data) {
    auto** query = static_cast<void**>(data);
    auto* found = static_cast<FoundObject*>(query[1]);
    const auto address = reinterpret_cast<uintptr_t>(query[0]);
    bool inside = false;
    void* frames = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD && address >= start && address < start + header.p_memsz) {
            inside = true;
            found->map_start = reinterpret_cast<void*>(start);
            found->map_end = reinterpret_cast<void*>(start + header.p_memsz);
        }
        if (header.p_type == PT_GNU_EH_FRAME) frames = reinterpret_cast<void*>(start);
    }
    found->eh_frame = frames;
    return inside && frames != nullptr ? 1 : 0;
}

int __wrap__dl_find_object(void* address, FoundObject* found) {
    std::memset(found, 0, sizeof *found);
    void* query[2] = {address, found};
    return dl_iterate_phdr(find_object_in, query) == 1 ? 0 : -1;
}

}  // extern "C"
