// Whether a library on disk carries device code: nvcc puts it into a section of its own, .nv_fatbin. Section
// headers are not in memory, so the file is looked at, once a library.
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "loaded.h"

namespace attnscope::collector {
namespace {

constexpr size_t kMostNames = size_t{1} << 22;

class File {
  public:
    explicit File(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~File() {
        if (fd_ >= 0) close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    bool read(void* to, size_t bytes, uint64_t at) const {
        return fd_ >= 0 && at <= INT64_MAX &&
               pread(fd_, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
    }

  private:
    int fd_;
};

}  // namespace

bool carries_device_code(const std::string& path) {
    const File file(path.c_str());
    Elf64_Ehdr header;
    if (!file.read(&header, sizeof header, 0)) return false;
    if (std::string_view(reinterpret_cast<const char*>(header.e_ident), 5) !=
        "\x7f"
        "ELF\x02")
        return false;
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) return false;
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    if (!file.read(sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff)) return false;
    const Elf64_Shdr& table = sections[header.e_shstrndx];
    if (table.sh_size > kMostNames) return false;
    std::string names(table.sh_size, '\0');
    if (!file.read(names.data(), names.size(), table.sh_offset)) return false;
    for (const Elf64_Shdr& section : sections)
        if (section.sh_name < names.size() &&
            std::string_view(names.c_str() + section.sh_name) == ".nv_fatbin" && section.sh_size > 0)
            return true;
    return false;
}

}  // namespace attnscope::collector
