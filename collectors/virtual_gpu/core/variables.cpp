// The __device__ and __constant__ variables of a cubin: objects in its symbol table.
#include <elf.h>

#include <algorithm>

#include <cstring>

#include "attnscope/error.h"
#include "collectors/virtual_gpu/core/image.h"

namespace attnscope::vgpu {

namespace {

constexpr unsigned char old_abi =
    0x33;  // CUDA 13 moved the architecture in e_flags when it changed the OS/ABI

class Image {
  public:
    Image(const std::byte* bytes, size_t size) : bytes_(bytes), size_(size) {}

    template <class T>
    T at(size_t offset) const {
        if (offset > size_ || sizeof(T) > size_ - offset)
            throw Error("device code: a cubin's table lies outside of it");
        T value;
        std::memcpy(&value, bytes_ + offset, sizeof value);
        return value;
    }
    std::string_view text(size_t offset) const {
        if (offset >= size_) throw Error("device code: a cubin's name lies outside of it");
        const char* start = reinterpret_cast<const char*>(bytes_ + offset);
        return {start, strnlen(start, size_ - offset)};
    }
    const std::byte* range(size_t offset, size_t bytes) const {
        if (offset > size_ || bytes > size_ - offset)
            throw Error("device code: a variable's content lies outside of the cubin");
        return bytes_ + offset;
    }

  private:
    const std::byte* bytes_;
    size_t size_;
};

bool holds_variables(std::string_view section) {
    return section.rfind(".nv.global", 0) == 0 || section == ".nv.constant3";
}

}  // namespace

size_t elf_bytes(const std::byte* image) {
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) return 0;
    size_t end = header.e_shoff + size_t{header.e_shnum} * sizeof(Elf64_Shdr);
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        std::memcpy(&section, image + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS) end = std::max<size_t>(end, section.sh_offset + section.sh_size);
    }
    return std::max(end, size_t{header.e_phoff} + size_t{header.e_phnum} * sizeof(Elf64_Phdr));
}

int elf_sm(const std::byte* image) {
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    const unsigned flags = header.e_ident[EI_OSABI] == old_abi ? header.e_flags : header.e_flags >> 8;
    return static_cast<int>(flags & 0xff);
}

std::vector<DeviceVariable> read_variables(const std::byte* cubin, size_t bytes) {
    const Image image(cubin, bytes);
    const auto header = image.at<Elf64_Ehdr>(0);
    auto section = [&](size_t index) {
        return image.at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
    };
    std::vector<DeviceVariable> variables;
    if (header.e_shnum == 0 || header.e_shstrndx >= header.e_shnum) return variables;
    const Elf64_Shdr names = section(header.e_shstrndx);
    for (size_t i = 0; i < header.e_shnum; i++) {
        const Elf64_Shdr table = section(i);
        if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum) continue;
        const Elf64_Shdr strings = section(table.sh_link);
        for (size_t s = 0; s < table.sh_size / sizeof(Elf64_Sym); s++) {
            const auto symbol = image.at<Elf64_Sym>(table.sh_offset + s * sizeof(Elf64_Sym));
            if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 ||
                symbol.st_shndx >= header.e_shnum)
                continue;
            const Elf64_Shdr home = section(symbol.st_shndx);
            if (!holds_variables(image.text(names.sh_offset + home.sh_name))) continue;
            DeviceVariable variable;
            variable.name = image.text(strings.sh_offset + symbol.st_name);
            variable.bytes = symbol.st_size;
            if (home.sh_type != SHT_NOBITS) {
                const std::byte* initial = image.range(home.sh_offset + symbol.st_value, symbol.st_size);
                variable.initial.assign(initial, initial + symbol.st_size);
            }
            variables.push_back(std::move(variable));
        }
    }
    return variables;
}

}  // namespace attnscope::vgpu
