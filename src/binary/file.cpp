#include "file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attnscope::binary {

MappedFile::MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) throw Error(path + ": cannot be opened: " + std::strerror(errno));
    struct stat status {};
    const int failed = ::fstat(file, &status);
    if (failed != 0 || !S_ISREG(status.st_mode)) {
        ::close(file);
        throw Error(path + ": not a regular file; name a library or a program");
    }
    if (status.st_size <= 0) {
        ::close(file);
        throw Error(path + ": the file is empty");
    }
    const auto size = static_cast<size_t>(status.st_size);
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    const int error = errno;
    ::close(file);
    if (address == MAP_FAILED) throw Error(path + ": cannot be read: " + std::strerror(error));
    bytes_ = Bytes(static_cast<const std::byte*>(address), size);
}

MappedFile::~MappedFile() {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace attnscope::binary
