#include "counter_data_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace attnscope::collector {

CounterDataFile::~CounterDataFile() {
    if (fd_ >= 0) close(fd_);
}

bool CounterDataFile::open_file() {
    if (fd_ >= 0) return true;
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd_ < 0 || write(fd_, kDataMagic, sizeof kDataMagic) != static_cast<ssize_t>(sizeof kDataMagic))
        return false;
    written_ = sizeof kDataMagic;
    return true;
}

bool CounterDataFile::config(int32_t device, const std::string& key) {
    DataHeader header{};
    header.kind = DataKind::config;
    header.of = DataOf::launch;
    header.device = device;
    header.bytes = key.size();
    return append(header, key.data());
}

bool CounterDataFile::append(DataHeader header, const void* payload) {
    header.record_magic = kRecordMagic;
    header.payload_crc32 = crc32(payload, header.bytes);
    header.header_crc32 = 0;
    header.header_crc32 = crc32(&header, sizeof header);
    const std::lock_guard lock(mutex_);
    if (failed_) return false;
    // The calling thread is the program's: no cancellation in the middle, and its errno is its own.
    const int saved = errno;
    int cancellable = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
    failed_ = !open_file() || !write_record(header, payload);
    // Half a record would hide nothing that came before it, but the reader need not meet it.
    if (failed_ && fd_ >= 0 && ftruncate(fd_, static_cast<off_t>(written_)) != 0) errno = saved;
    pthread_setcancelstate(cancellable, nullptr);
    errno = saved;
    return !failed_;
}

bool CounterDataFile::write_record(DataHeader& header, const void* payload) {
    static constexpr uint8_t padding[8] = {};
    iovec parts[] = {{&header, sizeof header},
                     {const_cast<void*>(payload), header.bytes},
                     {const_cast<uint8_t*>(padding), (8 - header.bytes % 8) % 8}};
    const size_t whole = parts[0].iov_len + parts[1].iov_len + parts[2].iov_len;
    size_t done = 0;
    for (iovec* part = parts; done < whole;) {
        const ssize_t n = writev(fd_, part, static_cast<int>(std::end(parts) - part));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += static_cast<size_t>(n);
        for (auto left = static_cast<size_t>(n); left > 0;) {
            const size_t step = left < part->iov_len ? left : part->iov_len;
            part->iov_base = static_cast<uint8_t*>(part->iov_base) + step;
            part->iov_len -= step;
            left -= step;
            if (part->iov_len == 0 && part + 1 != std::end(parts)) ++part;
        }
        while (part->iov_len == 0 && part + 1 != std::end(parts)) ++part;
    }
    written_ += whole;
    return true;
}

}  // namespace attnscope::collector
