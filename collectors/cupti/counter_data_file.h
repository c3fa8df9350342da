#pragma once
// `<run>/counters/<stem>.data`: raw counter data, written at once and with checksums, so that a killed
// program leaves what it had (include/attnscope/counter_files.h).
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "counter_files.h"

namespace attnscope::collector {

class CounterDataFile {
  public:
    ~CounterDataFile();
    /// The file is made with its first record.
    void set_path(std::string path) { path_ = std::move(path); }

    /// The config that the device's images from now on are made with.
    bool config(int32_t device, const std::string& key);
    /// Fills in the header's magic, size and checksums. False: the disk took it not, whole; what came before
    /// stays readable, and nothing more is written.
    bool append(DataHeader header, const void* payload);

    void lock_for_fork() { mutex_.lock(); }
    void unlock_for_fork() { mutex_.unlock(); }

  private:
    bool write_record(DataHeader& header, const void* payload);
    bool open_file();

    std::mutex mutex_;
    std::string path_;
    int fd_ = -1;
    uint64_t written_ = 0;
    bool failed_ = false;
};

}  // namespace attnscope::collector
