#pragma once
// Diagnostics and uncomputed reads, equal ones counted: a loop that reads one value back a million times is
// one line a second. Counts of equal lines add up.
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace attnscope::collector {

class Notices {
  public:
    static constexpr size_t kDistinct = 4096;

    void diagnostic(std::string_view severity, std::string_view code, std::string_view message,
                    std::string_view remedy, uint64_t count = 1);
    /// `record` is a line without its count and end, as JsonLine leaves it.
    void add(std::string record, uint64_t count = 1);
    /// Appends what happened since the last call.
    void take(std::string& out);

    void lock_for_fork() { mutex_.lock(); }
    void unlock_for_fork() { mutex_.unlock(); }

  private:
    std::mutex mutex_;
    std::map<std::string, uint64_t> counts_;
    uint64_t beyond_ = 0;
};

}  // namespace attnscope::collector
