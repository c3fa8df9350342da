#pragma once
// Writes <stem>.counters.jsonl (schema/README.md, "Counters") by a file descriptor that processes share: each
// launch's lines in one write, so that a process which dies leaves whole lines.
#include <cstdint>
#include <string>
#include <string_view>

namespace attnscope::cupti_host {

class LineWriter {
  public:
    explicit LineWriter(int file) : file_(file) {}

    void header(const std::string& process, const std::string& ground, uint32_t cupti, uint32_t data_crc32);
    void metric(uint64_t id, std::string_view name, std::string_view chip);
    /// Of a launch (`node` 0: not of a graph) or of a range. A value that is no finite number is absent.
    struct Of {
        bool range;
        uint64_t id;
        uint64_t node;
    };
    void value(const Of& of, uint64_t metric, double value);
    void absent(const Of& of, uint64_t metric, std::string_view why);
    void diagnostic(std::string_view severity, std::string_view code, std::string_view message,
                    std::string_view remedy, uint64_t count);
    void end(uint64_t images, uint64_t counters, uint64_t unjoined);

    /// Throws Error when the disk is full.
    void flush();

  private:
    void begin_counter(const Of& of, uint64_t metric);

    int file_;
    std::string lines_;
};

}  // namespace attnscope::cupti_host
