#pragma once
// What the loader knows of an object in this process: its dynamic symbols (System V ABI, "Dynamic Linking")
// and its writable memory, where the slots lie that were bound to others' symbols, and variables that hold
// their addresses. Read from inside dl_iterate_phdr's callback, whose lock keeps the object from being
// unloaded.
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace attnscope::collector {

class LoadedObject {
  public:
    explicit LoadedObject(const dl_phdr_info& info);

    /// DT_SONAME; empty without one.
    std::string_view soname() const;
    bool contains(uintptr_t address, size_t bytes = 1) const;

    /// `each(ElfW(Sym)&)` for the symbols of this name that the object defines as functions.
    template <class Each>
    void for_each_definition(std::string_view name, Each each) const {
        for (size_t i = 1; i < symbol_count_; ++i) {
            ElfW(Sym)& symbol = symbols_[i];
            const auto type = ELF64_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || type != STT_FUNC) continue;
            if (text(symbol.st_name) == name) each(symbol);
        }
    }

    /// `each(uintptr_t& word, uintptr_t value)` for all words of the segments that may be written, those that
    /// were closed after relocation too; of a larger one its beginning. The value was read in a way that
    /// cannot fault; the word itself may be on a page that can. False: the memory could not be read.
    template <class Each>
    bool for_each_word(Each each) const {
        WordReader reader;
        for (int i = 0; i < info_.dlpi_phnum; ++i) {
            const ElfW(Phdr)& segment = info_.dlpi_phdr[i];
            if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
            uintptr_t at = (base_ + segment.p_vaddr + sizeof at - 1) & ~(sizeof at - 1);
            const uintptr_t end = base_ + segment.p_vaddr + std::min<size_t>(segment.p_memsz, kMostBytes);
            while (at < end) {
                const size_t count = reader.read(at, (end - at) / sizeof at);
                if (count == 0) break;
                for (size_t k = 0; k < count; ++k, at += sizeof at)
                    each(*reinterpret_cast<uintptr_t*>(at), reader.words[k]);
            }
        }
        return reader.file >= 0;
    }

    uintptr_t address_of(const ElfW(Sym) & symbol) const { return base_ + symbol.st_value; }
    ElfW(Addr) value_for(uintptr_t address) const { return address - base_; }

  private:
    static constexpr size_t kMostBytes = 64 << 20;
    struct WordReader {
        WordReader();
        ~WordReader();
        size_t read(uintptr_t address, size_t count);  ///< words; 0: none there
        int file;
        uintptr_t words[1024];
    };
    uintptr_t pointer(ElfW(Addr) value) const;
    size_t count_symbols(const uint32_t* hash, const uint32_t* gnu_hash) const;
    std::string_view text(size_t offset) const;

    const dl_phdr_info& info_;
    uintptr_t base_;
    ElfW(Sym) * symbols_ = nullptr;
    size_t symbol_count_ = 0;  ///< 0: no dynamic symbols, or tables that are not where they should be
    const char* strings_ = nullptr;
    size_t strings_bytes_ = 0, soname_ = 0;
};

/// Writes one aligned word that holds `expected`, whatever its page's protection, which stays what it was.
/// False: not permitted, or it holds something else by now.
bool write_protected(uintptr_t& word, uintptr_t expected, uintptr_t value);

}  // namespace attnscope::collector
