#pragma once
// A run as it was recorded (schema/README.md), before anything is concluded from it. Reading never repairs:
// what is missing stays missing, and what was lost is a diagnostic.
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnscope/value.h"

namespace attnscope {

struct InstructionMix;  // attnscope/sass.h

/// The schema that this version reads: any minor of this major.
inline constexpr int kRunSchemaMajor = 1;

/// "No such entry" for the indices below.
inline constexpr uint32_t kNone = UINT32_MAX;

using Dim3 = std::array<uint32_t, 3>;

enum class LaunchKind : uint8_t { kernel, memcpy, memset, library_call };

/// What a library was asked for (virtual ground); its kernels are the library's choice on a real GPU.
struct LibraryCall {
    std::string library;    ///< "cuBLAS", "cuDNN"; empty when the record does not say
    std::string function;   ///< "cublasGemmEx"
    std::string operation;  ///< "gemm", "attention_forward"
    std::vector<std::pair<std::string, std::string>>
        attributes;  ///< in the record's order: m, n, k, type_a ...

    bool operator==(const LibraryCall&) const = default;
    const std::string* attribute(std::string_view key) const;
};

/// One thing that was put on a stream. Absent figures are nullopt: never 0.
struct Launch {
    LaunchKind kind = LaunchKind::kernel;
    bool has_grid = false, has_block = false, has_cluster = false;
    uint32_t name = kNone;           ///< kernels: index into Process::names
    uint32_t range = kNone;          ///< index into Process::ranges: the innermost of the launching thread
    uint32_t process_range = kNone;  ///< the process range that was opened after it; only then
    uint32_t call = kNone;           ///< library calls: index into Process::calls
    uint32_t copy_kind = kNone;      ///< copies: index into Process::copy_kinds ("HtoD")
    int32_t device = -1;             ///< ordinal; -1 when the record does not say
    uint64_t correlation = 0;        ///< rises in the order of issue
    std::optional<uint64_t> stream, thread;
    std::optional<uint64_t> start_ns, end_ns;               ///< both or neither; CUPTI's clock
    Dim3 grid{}, block{}, cluster{};                        ///< valid with has_...
    std::optional<uint32_t> registers;                      ///< per thread
    std::optional<uint32_t> static_shared, dynamic_shared;  ///< bytes per CTA
    std::optional<uint32_t> local_per_thread;               ///< bytes: stack and spills
    std::optional<uint64_t> bytes;                          ///< copies and memsets
    bool in_graph = false;
    std::optional<uint64_t> graph_node;  ///< counters collections: from 1, in the graph's order
    uint32_t operation = kNone;          ///< index into Process::operations: the innermost
    uint64_t operation_call = 0;         ///< launches of one outermost call share it; it rises; 0: none
    uint32_t counters = kNone;           ///< index into Process::counters
    std::string uncounted;  ///< the code of the diagnostic that says why there are none; may be empty
    // Imported files only.
    std::optional<uint32_t> shared;            ///< bytes per CTA, where static and dynamic are not told apart
    std::optional<double> reported_occupancy;  ///< percent: the file's own estimate, never a measurement
    uint64_t times = 1;  ///< launches of which only the sum is known: start to end is the time of all
};

/// One metric's value for one launch or range.
struct CounterValue {
    uint32_t metric = kNone;  ///< index into Process::metrics
    std::optional<double> value;
    std::string absent;  ///< why there is none
};
using CounterSet = std::vector<CounterValue>;

/// A sample of a GPU's clocks (NVML), in MHz. What NVML did not answer is nullopt.
struct ClockSample {
    uint64_t time_unix_ns = 0;
    std::string uuid;
    std::optional<uint32_t> sm, memory, sm_max, memory_max;
    std::optional<uint64_t> throttle_reasons;
};

/// How a process was recorded.
enum class Collection : uint8_t { activity, counters };

/// An NVTX range.
struct Range {
    uint64_t id = 0;
    uint32_t parent = kNone;  ///< index into Process::ranges
    bool process_wide = false;
    bool ended = false;  ///< a range_end was seen
    std::string name;
    std::optional<uint64_t> start_ns, end_ns;
    uint32_t counters = kNone;  ///< range modes: index into Process::counters
};

/// An NVTX mark.
struct Mark {
    std::string name;
    uint32_t range = kNone;
};

/// An operation of LibTorch as it was called: one entry for all calls of the same parent, name and inputs.
struct Operation {
    uint64_t id = 0;
    uint32_t parent = kNone;  ///< index into Process::operations; no cycles
    std::string name;         ///< "aten::mm", "MmBackward0"
    /// One for each argument, by position: "bf16[8,16,1024,64] strides (1048576,65536,64,1)", "true",
    /// "0.125", "none"; attnscope/operation.h reads them. Empty where there were too many to keep apart.
    std::vector<std::string> inputs;
    bool backward = false;     ///< an autograd function that runs in the backward pass
    uint32_t forward = kNone;  ///< backward: index of the operation that it is the derivative of
};

/// What LibTorch chose for one call of scaled_dot_product_attention, and why not the others.
struct AttentionChoice {
    uint32_t operation = kNone;      ///< index into Process::operations
    std::string chosen;              ///< "flash", "efficient", "cudnn", "math", "overrideable"; "none"
    std::vector<std::string> order;  ///< LibTorch's order of priority when it chose
    struct HiddenWork {
        std::string code;    ///< "pad-head-dim" ...: schema/README.md
        uint64_t bytes = 0;  ///< what it allocates
    };
    struct Backend {
        std::string name;
        /// LibTorch's sentences; none: it would take the call. The first is why it is refused, each further
        /// one why it would then be refused, once what `removed` names before it is taken away.
        std::vector<std::string> refused;
        /// "mask", "dtype-bf16", ...; as long as `refused` when the call is accepted in the end, else one
        /// shorter: the last reason cannot be taken away (the hardware, a switch).
        std::vector<std::string> removed;
        std::vector<HiddenWork> hidden;  ///< around its kernel, once it runs
    };
    std::vector<Backend> backends;  ///< flash, efficient, cudnn, math
};

/// A device as the process saw it. Figures that the record does not hold are nullopt.
struct Device {
    int32_t ordinal = 0;
    std::string id, name, chip;  ///< id: virtual devices only ("H100-SXM5")
    std::string uuid;            ///< as NVML prints it: "GPU-..."; empty when unknown
    std::optional<Ground> ground;
    std::optional<uint32_t> major, minor, sm_count, warp_size, max_threads_per_sm, max_ctas_per_sm,
        max_threads_per_cta;
    std::optional<uint32_t> registers_per_sm, registers_per_cta;
    std::optional<uint32_t> shared_per_sm, shared_per_cta, shared_per_cta_optin,
        shared_reserved_per_cta;  ///< bytes
    std::optional<uint64_t> l2_bytes, memory_bytes, dram_bytes_per_second, core_clock_khz;
};

enum class DiagnosticLevel : uint8_t { info, warning, error, data_loss };
/// As a record's `severity` says it.
inline const char* to_string(DiagnosticLevel level) {
    switch (level) {
        case DiagnosticLevel::info:
            return "info";
        case DiagnosticLevel::warning:
            return "warning";
        case DiagnosticLevel::error:
            return "error";
        case DiagnosticLevel::data_loss:
            return "data_loss";
    }
    return "error";
}

struct Diagnostic {
    DiagnosticLevel level = DiagnosticLevel::warning;
    std::string code, message, remedy;
    uint64_t count = 1;
};

struct UncomputedRead {
    std::string cause, returned, location;  ///< location may be empty: unknown
    std::optional<uint64_t> bytes;
    uint64_t count = 1;
    uint32_t range = kNone;
};

struct LoadedLibrary {
    std::string name, path, version;  ///< version may be empty: unknown
};

struct AssumedFigure {
    int32_t device = -1;
    std::string key;
};

/// What the `end` record says the file holds.
struct EndCounts {
    std::optional<uint64_t> kernels, memcpys, memsets, library_calls, dropped;
};

/// The machine code of a kernel, as a device of this compute capability runs it.
struct NamedCode {
    uint32_t name = kNone;                      ///< index into Process::names
    uint32_t major = 0, minor = 0;              ///< the device's compute capability
    std::string library;                        ///< the file that holds it; empty: none
    std::shared_ptr<const InstructionMix> mix;  ///< none: `absent` says why
    std::string absent;
};

/// One process: one file.
struct Process {
    std::string file;  ///< name inside the run's folder
    Ground ground = Ground::virtual_gpu;
    Collection collection = Collection::activity;
    /// Of the counter values: real, or fixture when a fixture file fed them on the virtual GPU.
    std::optional<Ground> counter_ground;
    std::vector<std::string> metrics;  ///< vendor names
    std::vector<CounterSet> counters;
    /// Where two collections are one here: the file whose counters these are; times are those of `file`.
    std::string counters_from;
    std::string host, executable;
    std::vector<std::string> command;
    std::optional<uint64_t> pid, rank, start_unix_ns;
    std::optional<uint64_t> cuda_driver, cuda_runtime, cupti;  ///< as CUDA prints them: 13000
    std::vector<std::string> names;                            ///< mangled kernel names
    std::vector<std::string> copy_kinds;
    std::vector<LibraryCall> calls;
    std::vector<Device> devices;
    std::vector<LoadedLibrary> libraries;
    std::vector<Range> ranges;     ///< in file order; a parent may come after its child
    std::vector<Launch> launches;  ///< by correlation: the order of issue
    std::vector<Mark> marks;
    std::vector<Operation> operations;     ///< a parent comes before its children
    std::vector<AttentionChoice> choices;  ///< at most one for each operation
    std::vector<Diagnostic> diagnostics;   ///< the program's and the reader's own
    std::vector<UncomputedRead> uncomputed_reads;
    std::vector<AssumedFigure> assumed;
    std::vector<NamedCode> code;   ///< at most one for each name and compute capability
    std::string code_absent;       ///< why `code` is empty
    std::optional<EndCounts> end;  ///< absent: the run was cut short

    const Device* device(int32_t ordinal) const;  ///< nullptr when unknown
};

/// A file that a run was imported from.
struct ImportedFile {
    std::string name;    ///< without its folder
    std::string format;  ///< "PyTorch profiler (Kineto) trace"
};

struct Run {
    std::filesystem::path folder;
    std::string version;                  ///< schema version of run.json; empty when unreadable
    std::string tool;                     ///< version of attnscope that recorded it
    Ground ground = Ground::virtual_gpu;  ///< the weakest of run.json's and the processes'
    std::string device_request;
    std::vector<std::string> devices, command;
    std::string started, ended;  ///< ISO 8601; empty when unknown
    std::optional<int64_t> exit_code, signal;
    /// By rank, then by file name. Where the program ran once for counters and once for time, the two
    /// processes are one here: launches and times of the undisturbed one, counters of the other, joined
    /// launch by launch.
    std::vector<Process> processes;
    std::vector<ClockSample> clocks;
    std::vector<Collection> collections;           ///< what each run of the program collected, in order
    std::string counters_request, counters_range;  ///< "core", "kernel"; empty: none were asked for
    std::vector<std::string> counters_metrics;     ///< vendor names asked for
    bool counters_replay = false;                  ///< kernels may have been replayed
    std::vector<std::pair<std::string, uint64_t>> counters_passes;  ///< chip, passes as planned
    std::vector<Diagnostic> diagnostics;                            ///< about the folder as a whole
    std::vector<ImportedFile> imported;                             ///< empty: recorded by attnscope itself
};

/// Reads a run's folder. Throws Error when it is not a run, cannot be read, or is of a newer major version;
/// everything less than that loads, with diagnostics.
Run read_run(const std::filesystem::path& folder);

}  // namespace attnscope
