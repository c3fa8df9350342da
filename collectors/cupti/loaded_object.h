#pragma once
// What the loader knows of an object in this process: its dynamic symbols and the slots that were bound to
// others' (System V ABI, "Dynamic Linking"; 64 bits, relocations with addend). Read in memory, from inside
// dl_iterate_phdr's callback, whose lock keeps the object from being unloaded.
#include <link.h>

#include <cstdint>
#include <string_view>

namespace attnscope::collector {

class LoadedObject {
  public:
    explicit LoadedObject(const dl_phdr_info& info);

    /// DT_SONAME; empty without one.
    std::string_view soname() const;
    bool contains(uintptr_t address, size_t bytes = 1, uint32_t flags = 0) const;

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

    /// `each(uintptr_t&)` for the words that the loader has bound, or will bind, to symbols.
    template <class Each>
    void for_each_slot(Each each) const {
        for (const Table& table : relocations_)
            for (size_t i = 0; i < table.count; ++i) {
                const ElfW(Rela)& relocation = table.first[i];
                if (ELF64_R_SYM(relocation.r_info) == 0) continue;
                const uintptr_t slot = base_ + relocation.r_offset;
                if (slot % sizeof(uintptr_t) == 0 && contains(slot, sizeof(uintptr_t), PF_R | PF_W))
                    each(*reinterpret_cast<uintptr_t*>(slot));
            }
    }

    uintptr_t address_of(const ElfW(Sym) & symbol) const { return base_ + symbol.st_value; }
    ElfW(Addr) value_for(uintptr_t address) const { return address - base_; }

  private:
    struct Table {
        const ElfW(Rela) * first;
        size_t count;
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
    Table relocations_[2] = {};
};

/// Writes one aligned word whatever its page's protection, which stays what it was. False: not permitted.
bool write_protected(uintptr_t& word, uintptr_t value);

}  // namespace attnscope::collector
