#pragma once
// 64-bit little-endian ELF, as far as cubins and the libraries that carry them need it.
#include <optional>
#include <string_view>
#include <vector>

#include "bytes.h"

namespace attnscope::binary {

constexpr uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr uint32_t kSectionNoBits = 8;  // SHT_NOBITS: a size, but no bytes in the file

struct Section {
    std::string_view name;
    uint32_t type = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    uint32_t link = 0;
    uint32_t info = 0;
};

struct Symbol {
    std::string_view name;
    uint8_t info = 0;
    uint8_t other = 0;
    uint16_t section = 0;
};

class Elf {
  public:
    /// Reads the header and the section table. `view`'s bytes must outlive the object.
    explicit Elf(View view);
    static bool looks_like_elf(Bytes bytes);

    uint16_t machine() const { return machine_; }
    uint32_t flags() const { return flags_; }
    uint8_t os_abi() const { return os_abi_; }
    const View& view() const { return view_; }
    const std::vector<Section>& sections() const { return sections_; }
    const Section* section(std::string_view name) const;
    /// The bytes of a section; empty for SHT_NOBITS.
    View content(const Section& section) const;
    /// The entries of a symbol table (SHT_SYMTAB or SHT_DYNSYM).
    std::vector<Symbol> symbols(const Section& table) const;

  private:
    View view_;
    uint16_t machine_ = 0;
    uint32_t flags_ = 0;
    uint8_t os_abi_ = 0;
    std::vector<Section> sections_;
};

}  // namespace attnscope::binary
