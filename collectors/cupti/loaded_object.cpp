#include "loaded_object.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace attnscope::collector {
namespace {

/// The protection of the page at `address`, from /proc/self/maps; -1 when it cannot be told. No allocation:
/// the loader's lock is held.
int protection_of(uintptr_t address) {
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    // "start-end rwxp ...\n": what follows the flags is skipped.
    char part[4096];
    uintptr_t number = 0, start = 0;
    int field = 0, flags = 0, found = -1;
    for (ssize_t n; found < 0 && (n = read(fd, part, sizeof part)) > 0;) {
        for (ssize_t i = 0; i < n && found < 0; ++i) {
            const char c = part[i];
            if (c == '\n') {
                field = flags = 0;
                number = 0;
            } else if (field == 0 && c == '-') {
                start = number;
                number = 0;
                field = 1;
            } else if (field == 1 && c == ' ') {
                field = address >= start && address < number ? 2 : 4;
            } else if (field < 2) {
                number = number * 16 + static_cast<uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
            } else if (field == 2 && c == ' ') {
                found = flags;
            } else if (field == 2) {
                flags |= c == 'r' ? PROT_READ : c == 'w' ? PROT_WRITE : c == 'x' ? PROT_EXEC : 0;
            }
        }
    }
    close(fd);
    return found;
}

}  // namespace

LoadedObject::LoadedObject(const dl_phdr_info& info) : info_(info), base_(info.dlpi_addr) {
    const ElfW(Dyn)* dynamic = nullptr;
    size_t entries = 0;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        dynamic = reinterpret_cast<const ElfW(Dyn)*>(base_ + info.dlpi_phdr[i].p_vaddr);
        entries = info.dlpi_phdr[i].p_memsz / sizeof *dynamic;
    }
    const uint32_t *hash = nullptr, *gnu_hash = nullptr;
    for (; entries != 0 && dynamic->d_tag != DT_NULL; --entries, ++dynamic) {
        const auto value = dynamic->d_un.d_val;
        switch (dynamic->d_tag) {
            case DT_SYMTAB:
                symbols_ = reinterpret_cast<ElfW(Sym)*>(pointer(value));
                break;
            case DT_STRTAB:
                strings_ = reinterpret_cast<const char*>(pointer(value));
                break;
            case DT_STRSZ:
                strings_bytes_ = value;
                break;
            case DT_SONAME:
                soname_ = value;
                break;
            case DT_HASH:
                hash = reinterpret_cast<const uint32_t*>(pointer(value));
                break;
            case DT_GNU_HASH:
                gnu_hash = reinterpret_cast<const uint32_t*>(pointer(value));
                break;
            default:
                break;
        }
    }
    if (strings_ == nullptr || !contains(reinterpret_cast<uintptr_t>(strings_), strings_bytes_))
        strings_bytes_ = 0;
    if (symbols_ != nullptr && strings_bytes_ != 0) symbol_count_ = count_symbols(hash, gnu_hash);
    if (!contains(reinterpret_cast<uintptr_t>(symbols_), symbol_count_ * sizeof *symbols_)) symbol_count_ = 0;
}

/// The loader turns the section's offsets into addresses, but not where the section is read-only (the vDSO).
uintptr_t LoadedObject::pointer(ElfW(Addr) value) const {
    return value >= base_ ? value : base_ + value;
}

bool LoadedObject::contains(uintptr_t address, size_t bytes) const {
    for (int i = 0; i < info_.dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info_.dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        const uintptr_t start = base_ + segment.p_vaddr;
        if (address >= start && bytes <= segment.p_memsz && address - start <= segment.p_memsz - bytes)
            return true;
    }
    return false;
}

/// Nothing says how many there are but the hash tables.
size_t LoadedObject::count_symbols(const uint32_t* hash, const uint32_t* gnu_hash) const {
    const auto readable = [this](const uint32_t* words, size_t count) {
        return words != nullptr && contains(reinterpret_cast<uintptr_t>(words), count * sizeof *words);
    };
    if (readable(hash, 2)) return hash[1];
    if (!readable(gnu_hash, 4)) return 0;
    const size_t buckets = gnu_hash[0], first = gnu_hash[1];
    const uint32_t* bucket = gnu_hash + 4 + size_t{gnu_hash[2]} * (sizeof(ElfW(Addr)) / sizeof *gnu_hash);
    if (!readable(bucket, buckets) || buckets == 0) return 0;
    const size_t last = *std::max_element(bucket, bucket + buckets);
    if (last < first) return first;
    const uint32_t* chain = bucket + buckets + (last - first);
    size_t count = last + 1;
    for (; readable(chain, 1) && (*chain & 1) == 0; ++chain) ++count;
    return count;
}

std::string_view LoadedObject::text(size_t offset) const {
    if (offset >= strings_bytes_) return {};
    return {strings_ + offset, strnlen(strings_ + offset, strings_bytes_ - offset)};
}

std::string_view LoadedObject::soname() const {
    return soname_ != 0 ? text(soname_) : std::string_view();
}

LoadedObject::WordReader::WordReader() : file(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}
LoadedObject::WordReader::~WordReader() {
    if (file >= 0) close(file);
}
size_t LoadedObject::WordReader::read(uintptr_t address, size_t count) {
    const size_t bytes = std::min(count, std::size(words)) * sizeof *words;
    const ssize_t got = file >= 0 ? pread64(file, words, bytes, static_cast<off64_t>(address)) : 0;
    return got > 0 ? static_cast<size_t>(got) / sizeof *words : 0;
}

bool write_protected(uintptr_t& word, uintptr_t expected, uintptr_t value) {
    const auto address = reinterpret_cast<uintptr_t>(&word);
    const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* page = reinterpret_cast<void*>(address & ~(size - 1));
    const int protection = protection_of(address);
    if (protection < 0 || (protection & PROT_READ) == 0) return false;
    // Also where it is writable: the loader, in another thread, may be about to close it.
    if (mprotect(page, size, protection | PROT_WRITE) != 0) return false;
    const bool written =
        __atomic_compare_exchange_n(&word, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if ((protection & PROT_WRITE) == 0) mprotect(page, size, protection);
    return written;
}

}  // namespace attnscope::collector
