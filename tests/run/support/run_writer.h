#pragma once
// Writes runs for tests, line by line, as a collector would (schema/README.md).
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "attnscope/report.h"
#include "attnscope/run.h"

namespace attnscope::test {

/// A folder that is removed with the object.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

std::string quote(std::string_view text);  ///< as a JSON string
void write_text(const std::filesystem::path& file, std::string_view bytes);
std::string read_text(const std::filesystem::path& file);

struct KernelSpec {
    std::string mangled;
    Dim3 grid{1, 1, 1}, block{128, 1, 1};
    uint32_t registers = 32, static_shared = 0, dynamic_shared = 0, local = 0;
};

/// The lines of one process's file.
class ProcessWriter {
  public:
    explicit ProcessWriter(std::string ground = "virtual", std::string extra = {});
    void line(const std::string& json) { text_ += json + "\n"; }
    /// A100-SXM4-80GB, figures as CUDA reports them for one.
    void a100(int ordinal = 0);
    uint64_t open(const std::string& name, uint64_t parent = 0, const char* kind = "process");
    /// An operation of LibTorch; `more` is what else its record says: `,"scope":"backward","forward":3`.
    uint64_t operation(const std::string& name, uint64_t parent, const std::vector<std::string>& inputs = {},
                       const std::string& more = {});
    /// What launches from here on are made by; 0: nothing.
    void under(uint64_t operation, uint64_t call) {
        operation_ = operation;
        operation_call_ = call;
    }
    void close(uint64_t range);
    void mark(const std::string& text);
    void kernel(const KernelSpec& spec, uint64_t range, uint64_t duration_ns = 0);
    void copy(const char* kind, uint64_t bytes, uint64_t range, uint64_t duration_ns = 0);
    void gemm(const char* type, int m, int n, int k, uint64_t range);
    void library_call(const std::string& library, const std::string& function, const std::string& operation,
                      uint64_t range);
    void end();
    const std::string& text() const { return text_; }
    uint64_t launches() const { return correlation_; }  ///< also the last one's correlation

  private:
    std::string times(uint64_t duration_ns);
    std::string origin() const;
    std::string text_;
    std::map<std::string, uint64_t> names_;
    uint64_t correlation_ = 0, range_ = 0, clock_ = 1000;
    uint64_t operations_ = 0, operation_ = 0, operation_call_ = 0;
    uint64_t kernels_ = 0, copies_ = 0, memsets_ = 0, calls_ = 0;
};

/// The lines of one process's counter values.
class CounterWriter {
  public:
    explicit CounterWriter(const std::string& process_file = "p.jsonl", const std::string& ground = "real");
    void line(const std::string& json) { text_ += json + "\n"; }
    /// `launch` is `"correlation":7`, or with a graph_node, or `"range":3`.
    void value(const std::string& launch, const std::string& metric, double value);
    void absent(const std::string& launch, const std::string& metric, const std::string& why);
    void launch(uint64_t correlation, const std::string& metric, double v) {
        value("\"correlation\":" + std::to_string(correlation), metric, v);
    }
    void end();
    const std::string& text() const { return text_; }

  private:
    std::string id(const std::string& metric);
    std::string text_;
    std::map<std::string, uint64_t> metrics_;
    uint64_t counters_ = 0;
};

/// For ProcessWriter's `extra`.
inline constexpr const char* kCountersCollection = ",\"collection\":\"counters\"";

/// run.json as the launcher leaves it.
std::string run_json(std::string_view ground = "virtual", std::string_view version = "1.0");
/// Of a run with counters; `more` is what else it says: `,"diagnostics":[...]`.
std::string counters_run_json(std::string_view ground = "real", std::string_view more = {});

}  // namespace attnscope::test
