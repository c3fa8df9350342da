#pragma once
// The dynamic symbols of a shared library with their versions, read from the file (System V ABI, gABI "Symbol
// Table" and GNU's symbol versioning).
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct DynamicSymbol {
    std::string name, version;  // version empty when there is none
    bool defined;
};

class ElfFile {
  public:
    explicit ElfFile(const std::string& path) {
        int file = open(path.c_str(), O_RDONLY);
        struct stat status;
        if (file < 0 || fstat(file, &status) != 0) throw std::runtime_error("cannot read " + path);
        size_ = static_cast<size_t>(status.st_size);
        void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
        close(file);
        if (mapped == MAP_FAILED) throw std::runtime_error("cannot map " + path);
        base_ = static_cast<const char*>(mapped);
        if (size_ < sizeof(Elf64_Ehdr) || std::memcmp(base_, ELFMAG, SELFMAG) != 0)
            throw std::runtime_error("not ELF: " + path);
        read();
    }
    ~ElfFile() { munmap(const_cast<char*>(base_), size_); }
    ElfFile(const ElfFile&) = delete;
    ElfFile& operator=(const ElfFile&) = delete;

    const std::vector<DynamicSymbol>& symbols() const { return symbols_; }

  private:
    void read() {
        const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base_);
        const auto* sections = reinterpret_cast<const Elf64_Shdr*>(base_ + header->e_shoff);
        const Elf64_Shdr *table = nullptr, *versions = nullptr;
        std::map<int, std::string> names;
        for (int i = 0; i < header->e_shnum; ++i) {
            const Elf64_Shdr& section = sections[i];
            if (section.sh_type == SHT_DYNSYM) table = &section;
            if (section.sh_type == SHT_GNU_versym) versions = &section;
            const char* strings =
                section.sh_link < header->e_shnum ? base_ + sections[section.sh_link].sh_offset : nullptr;
            if (section.sh_type == SHT_GNU_verneed) read_needed(section, strings, names);
            if (section.sh_type == SHT_GNU_verdef) read_defined(section, strings, names);
        }
        if (!table) return;
        const auto* entries = reinterpret_cast<const Elf64_Sym*>(base_ + table->sh_offset);
        const char* strings = base_ + sections[table->sh_link].sh_offset;
        const auto* numbers =
            versions ? reinterpret_cast<const uint16_t*>(base_ + versions->sh_offset) : nullptr;
        for (size_t i = 1; i < table->sh_size / sizeof(Elf64_Sym); ++i) {
            int number = numbers ? numbers[i] & 0x7fff : 0;
            symbols_.push_back({strings + entries[i].st_name, number > 1 ? names[number] : "",
                                entries[i].st_shndx != SHN_UNDEF});
        }
    }
    void read_needed(const Elf64_Shdr& section, const char* strings, std::map<int, std::string>& names) {
        const char* at = base_ + section.sh_offset;
        for (unsigned i = 0; i < section.sh_info; ++i) {
            const auto* need = reinterpret_cast<const Elf64_Verneed*>(at);
            const char* inner = at + need->vn_aux;
            for (int j = 0; j < need->vn_cnt; ++j) {
                const auto* entry = reinterpret_cast<const Elf64_Vernaux*>(inner);
                names[entry->vna_other] = strings + entry->vna_name;
                inner += entry->vna_next;
            }
            at += need->vn_next;
        }
    }
    void read_defined(const Elf64_Shdr& section, const char* strings, std::map<int, std::string>& names) {
        const char* at = base_ + section.sh_offset;
        for (unsigned i = 0; i < section.sh_info; ++i) {
            const auto* definition = reinterpret_cast<const Elf64_Verdef*>(at);
            const auto* entry = reinterpret_cast<const Elf64_Verdaux*>(at + definition->vd_aux);
            names[definition->vd_ndx] = strings + entry->vda_name;
            at += definition->vd_next;
        }
    }

    const char* base_ = nullptr;
    size_t size_ = 0;
    std::vector<DynamicSymbol> symbols_;
};
