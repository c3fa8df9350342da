#include "run_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace attnscope::collector {
namespace {

// statx rather than fstat: fstat is a new symbol in glibc 2.33, and would raise the library's floor.
bool identify(int fd, uint64_t& device, uint64_t& inode) {
    struct statx info {};
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO, &info) != 0) return false;
    device = makedev(info.stx_dev_major, info.stx_dev_minor);
    inode = info.stx_ino;
    return true;
}

}  // namespace

RunFile::~RunFile() {
    if (fd_ >= 0) close(fd_);
}

bool RunFile::create(const std::string& path) {
    const std::lock_guard lock(mutex_);
    path_ = path;
    fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    return fd_ >= 0 && identify(fd_, device_, inode_);
}

void RunFile::set_first_line(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (ready_.load(std::memory_order_relaxed)) return;
    buffer_.insert(0, line);
    ready_.store(true, std::memory_order_release);
    write_out();
}

void RunFile::append(std::string_view lines) {
    const std::lock_guard lock(mutex_);
    const bool ready = ready_.load(std::memory_order_relaxed);
    if (failed_ || (!ready && buffer_.size() + lines.size() > kWaitingBytes)) {
        lost_.fetch_add(static_cast<uint64_t>(std::count(lines.begin(), lines.end(), '\n')),
                        std::memory_order_relaxed);
        return;
    }
    buffer_.append(lines);
    if (ready && buffer_.size() >= kFlushBytes) write_out();
}

bool RunFile::crowded() {
    const std::lock_guard lock(mutex_);
    return !ready_.load(std::memory_order_relaxed) && buffer_.size() > kWaitingBytes / 4;
}

void RunFile::flush() {
    const std::lock_guard lock(mutex_);
    if (ready_.load(std::memory_order_relaxed)) write_out();
}

/// A program that closes all descriptors (a daemon) may have its own file at our number by now: never write
/// into it.
bool RunFile::descriptor_is_ours() {
    uint64_t device = 0, inode = 0;
    if (fd_ >= 0 && identify(fd_, device, inode) && device == device_ && inode == inode_) return true;
    fd_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    return fd_ >= 0 && identify(fd_, device_, inode_);
}

void RunFile::write_out() {
    if (buffer_.empty() || failed_) return;
    const int saved = errno;
    // write() is a cancellation point, and the calling thread is the program's.
    int cancellable = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
    failed_ = !descriptor_is_ours();
    size_t done = 0;
    while (!failed_ && done < buffer_.size()) {
        const ssize_t n = write(fd_, buffer_.data() + done, buffer_.size() - done);
        if (n > 0)
            done += static_cast<size_t>(n);
        else if (n < 0 && errno != EINTR)
            failed_ = true;  // a full disk: the tail is cut, which the reader reports
    }
    pthread_setcancelstate(cancellable, nullptr);
    errno = saved;
    if (failed_)
        lost_.fetch_add(static_cast<uint64_t>(
                            std::count(buffer_.begin() + static_cast<ptrdiff_t>(done), buffer_.end(), '\n')),
                        std::memory_order_relaxed);
    buffer_.clear();
}

}  // namespace attnscope::collector
