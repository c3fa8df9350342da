#pragma once
// The process's file in the run folder. Whole lines only; the kernel holds what was flushed, so a killed
// program leaves a file that loads. Lines that come before the `process` record wait for it.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace attnscope::collector {

class RunFile {
  public:
    static constexpr size_t kFlushBytes = 256 * 1024;
    static constexpr size_t kWaitingBytes = 4 * 1024 * 1024;  ///< at most this much waits for the first line

    ~RunFile();

    /// Creates `path`; false when it cannot be.
    bool create(const std::string& path);
    /// The first line. Only the first call counts; everything that waited follows it.
    void set_first_line(std::string_view line);
    /// So much waits for the first line that the next lines might find no room.
    bool crowded();
    bool has_first_line() const { return ready_.load(std::memory_order_acquire); }
    /// Whole lines, each with its newline. Any thread.
    void append(std::string_view lines);
    void flush();
    /// Lines that found no room while there was no first line yet, and writes that failed.
    uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

    void lock_for_fork() { mutex_.lock(); }
    void unlock_for_fork() { mutex_.unlock(); }

  private:
    void write_out();
    bool descriptor_is_ours();

    std::mutex mutex_;
    std::string path_;
    std::string buffer_;
    int fd_ = -1;
    uint64_t device_ = 0, inode_ = 0;
    bool failed_ = false;
    std::atomic<bool> ready_{false};
    std::atomic<uint64_t> lost_{0};
};

}  // namespace attnscope::collector
