#include "write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "attnscope/error.h"

namespace attnscope::cli {

namespace fs = std::filesystem;

namespace {

/// A device or a pipe is written to as it is: renaming would put a file in its place.
bool is_special(const fs::path& file) {
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    return fs::exists(status) && !fs::is_regular_file(status);
}

Error cannot_write(const fs::path& file, const std::string& why) {
    return Error(file.string() + " cannot be written: " + why + ": name another file with -o");
}

void write_all(int descriptor, std::string_view bytes, const fs::path& file) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw cannot_write(file, std::strerror(errno));
        bytes.remove_prefix(static_cast<size_t>(n));
    }
}

}  // namespace

void check_output_file(const fs::path& file) {
    std::error_code error;
    if (file.empty()) throw Error("the output's name is empty: name a file with -o");
    if (fs::is_directory(file, error)) throw cannot_write(file, "it is a folder");
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    if (!fs::is_directory(folder, error))
        throw cannot_write(file, "the folder " + folder.string() + " is not there");
    const fs::path target = is_special(file) ? file : folder;
    if (::access(target.c_str(), W_OK) != 0) throw cannot_write(file, std::strerror(errno));
}

void write_file(const fs::path& file, std::string_view bytes) {
    check_output_file(file);
    if (is_special(file)) {
        const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor < 0) throw cannot_write(file, std::strerror(errno));
        try {
            write_all(descriptor, bytes, file);
        } catch (...) {
            ::close(descriptor);
            throw;
        }
        ::close(descriptor);
        return;
    }
    // Through a link its target is replaced, not the link.
    std::error_code absent, dangling;
    const bool link = fs::is_symlink(file, absent);  // sets an error for a file that is not there yet
    const fs::path target = link ? fs::canonical(file, dangling) : file;
    if (dangling) throw cannot_write(file, "it is a link to nothing");
    std::string beside = target.string() + ".XXXXXX";
    const int descriptor = ::mkstemp(beside.data());
    if (descriptor < 0) throw cannot_write(file, std::strerror(errno));
    try {
        write_all(descriptor, bytes, file);
        const mode_t mask = ::umask(0);
        ::umask(mask);
        struct stat before {};
        const bool existed = ::stat(target.c_str(), &before) == 0;
        if (::fchmod(descriptor, existed ? before.st_mode & 07777 : 0666 & ~mask) != 0 ||
            ::fsync(descriptor) != 0)
            throw cannot_write(file, std::strerror(errno));
        if (::rename(beside.c_str(), target.c_str()) != 0) throw cannot_write(file, std::strerror(errno));
    } catch (...) {
        ::close(descriptor);
        ::unlink(beside.c_str());
        throw;
    }
    ::close(descriptor);
}

}  // namespace attnscope::cli
