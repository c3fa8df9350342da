#pragma once
// What follows from a run: numbers a rule or a report may use, each computed once, each with its origin.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnscope/kernel_name.h"
#include "attnscope/models.h"
#include "attnscope/occupancy.h"
#include "attnscope/report.h"
#include "attnscope/run.h"
#include "attnscope/sass.h"
#include "attnscope/value.h"

namespace attnscope {

/// The configuration that an attention workload marks (schema/README.md). Nothing is assumed: absent is
/// unknown.
struct Workload {
    std::optional<double> batch, heads, kv_heads, query_length, key_length, head_dim, warmup, iterations;
    std::optional<double> last_stride, dropout, layers;  ///< absent: 1, 0, 1
    std::optional<bool> causal, backward, transposed, contiguous, repeat_kv, deterministic, reduced_math;
    std::string dtype, mask, torch, language;

    bool has_shape() const { return batch && heads && kv_heads && query_length && key_length && head_dim; }
    std::optional<double> element_bytes() const;               ///< bf16, fp16: 2; fp32: 4
    std::optional<double> score_elements() const;              ///< batch x heads x query length x key length
    double layer_count() const { return layers.value_or(1); }  ///< attentions in an iteration
    bool grouped() const { return heads && kv_heads && *heads != *kv_heads; }
    bool masked() const { return causal.value_or(false) || (!mask.empty() && mask != "none"); }
    std::string sentence() const;  ///< "bf16, batch 8, 16 heads, 1024 x 1024, head_dim 64, causal, forward"
};

/// What LibTorch would choose by itself.
struct Choice {
    std::string chosen;                                        ///< "flash"; empty when the run does not say
    std::vector<std::string> order;                            ///< by priority
    std::vector<std::pair<std::string, std::string>> refused;  ///< backend, LibTorch's own words
    struct Hidden {
        std::string backend, code;  ///< schema/README.md, "Operations"
        double bytes = 0;           ///< what it allocates
    };
    std::vector<Hidden> hidden;  ///< what scaled_dot_product_attention does around a backend's kernel

    const std::string* why_not(std::string_view backend) const;  ///< nullptr: it is not refused
};

/// One signature of scaled_dot_product_attention that the program called, with LibTorch's answer.
struct AttentionCall {
    std::string implementation;       ///< title of the implementation that called it; empty: outside of all
    std::vector<std::string> inputs;  ///< of the call, by position (Operation::inputs)
    AttentionChoice choice;           ///< `operation` indexes the process it came from: not for rules
    bool counted_iteration = true;    ///< false: seen in warm-up and set-up alone
};

/// A role of the metric catalogue (attnscope/metrics.h) with its value: what the hardware counted.
struct Measured {
    std::string role;
    Value value;   ///< of one iteration: the median over the iterations
    Value spread;  ///< interquartile range over the iterations
};
/// nullptr when the role is not among them.
const Measured* find_role(const std::vector<Measured>& counters, std::string_view role);

/// Roles that rules and reports speak about by name.
namespace counter_role {
inline constexpr const char* kAchievedOccupancy = "achieved_occupancy";
inline constexpr const char* kDramRead = "dram_read";
inline constexpr const char* kDramWrite = "dram_write";
inline constexpr const char* kDramBytes =
    "dram_bytes";  ///< both; derived where the catalogue has no such row
inline constexpr const char* kTensorPipe = "tensor_pipe";
inline constexpr const char* kSerialisedTime = "kernel_time";
}  // namespace counter_role

/// What a kernel is for, read from its name.
enum class Role : uint8_t {
    other,
    flash,
    flash_combine,
    efficient,
    cudnn,
    gemm,
    softmax,
    mask,
    mask_building,
    scale,
    add,
    cast_or_copy,
    fill,
    where,
    isneginf,
    all_reduce,
};
Role role_of(std::string_view demangled);
const char* to_string(Role role);
bool is_attention(Role role);  ///< the fused kernels

/// What launched a step: LibTorch's operations where the run recorded them, else the NVTX ranges.
struct StepOrigin {
    /// Innermost first: "aten::_flash_attention_forward", ..., "aten::scaled_dot_product_attention".
    std::vector<std::string> operations;
    std::vector<std::string> inputs;  ///< of the innermost one, by position (Operation::inputs)
    bool backward = false;            ///< under an autograd function of the backward pass
    std::string forward;              ///< backward: the operation that it is the derivative of, where known
    std::string range;                ///< the innermost NVTX range that is not attnscope's own
    bool under(std::string_view operation) const;  ///< one of `operations` has this name
};

/// One launch of an iteration, or several alike.
struct Step {
    LaunchKind kind = LaunchKind::kernel;
    Role role = Role::other;
    std::string name;       ///< short: "flash_fwd hd64 128x128"
    std::string full_name;  ///< demangled
    uint64_t times = 1;     ///< how many launches this stands for
    std::optional<Dim3> grid, block, cluster;
    Value registers, static_shared, dynamic_shared, local;  ///< per thread; bytes per CTA; bytes per thread
    Value shared;                                           ///< static + dynamic, bytes per CTA
    Value threads, warps, ctas;                             ///< per CTA; per CTA; of the grid
    Value occupancy;                                        ///< theoretical, percent of the SM's warps
    Value ctas_per_sm;                                      ///< resident at once
    Value waves;                                            ///< CTAs / (CTAs per SM x SMs)
    Occupancy residency;                                    ///< meaningful where `occupancy` has a number
    std::string limiter;                                    ///< "registers", "registers and shared memory"
    Value reported_occupancy;  ///< imported: what the file calls achieved occupancy; never a measurement
    Value nsight_speedup;      ///< what Nsight Compute's occupancy rule promises, percent; absent where it is
                               ///< silent
    std::string copy_kind;
    Value bytes;                     ///< copies, memsets
    Value time, time_iqr;            ///< over the iterations: median, interquartile range
    std::vector<Measured> counters;  ///< kernels: one for each of Analysis::counter_roles
    std::optional<LibraryCall> call;
    int32_t device = -1;
    StepOrigin origin;
    /// What the kernel's name holds; none: not the name of an attention kernel.
    std::optional<AttentionKernelName> decoded;
    /// Instructions of its code, where the run's binaries held it; none: `mix_absent` says why. Shared by
    /// alike steps.
    std::shared_ptr<const InstructionMix> mix;
    std::string mix_absent;

    bool is_kernel() const { return kind == LaunchKind::kernel; }
};

/// A launch on the GPU, or neighbours that no picture could tell apart.
struct TimelineBlock {
    double start = 0, length = 0;  ///< ns, from the start of the iteration's first launch
    uint64_t launches = 1;
    const char* kind = "";  ///< one of a fixed few: "softmax", "several kinds"
};
struct TimelineLane {
    std::string stream;  ///< empty: the only one
    std::vector<TimelineBlock> blocks;
};

enum class ImplementationStatus : uint8_t { ran, refused, failed, unknown };
const char* to_string(ImplementationStatus status);  ///< "ran", "refused", "failed", "unknown"

/// One way to compute attention; in a run without attnscope's NVTX names, one top-level range or the whole
/// program.
struct Implementation {
    std::string name;     ///< "sdpa_flash"
    std::string title;    ///< name, and the rank where there are several processes
    std::string backend;  ///< "flash", "math" ...; what LibTorch chose for "auto"; empty for naive ones
    ImplementationStatus status = ImplementationStatus::unknown;
    std::string reason;  ///< of a refusal or a failure, LibTorch's own words
    uint64_t iterations = 0;
    bool iterations_equal = true;
    std::string
        iterations_note;  ///< what differs, or why the iterations are not the usual ones; may be empty
    std::vector<Step>
        steps;  ///< of one iteration in the order of issue; grouped by what is alike without a convention
    std::vector<Step> apart;  ///< seen outside the iterations only (warm-up, set-up), grouped
    bool grouped = false;     ///< `steps` are grouped, with `times`

    Value kernels, library_calls, copies, memsets;  ///< launches of one iteration
    Value launches;                                 ///< all four together
    Value copied_bytes, device_copy_bytes;          ///< all copies; DtoD alone
    Value registers, shared;                        ///< the largest of its telling kernels: see lowest
    /// Index into steps: the kernel with the lowest theoretical occupancy, for a fused implementation among
    /// its attention kernels (not those that convert a mask for it); -1: none known.
    int lowest = -1;
    Value peak_memory;
    Value time, time_iqr;  ///< summed GPU time of one iteration: median, interquartile range
    Value span;            ///< from the first launch's start to the last one's end: median of the iterations
    /// How long the program was in its first iteration (the warm-up's where there is one), and in the others:
    /// their median. The program's time, not the GPU's.
    Value first_iteration, later_iterations;
    bool first_is_warmup = false;
    std::vector<TimelineLane> timeline;  ///< of the iteration whose GPU time is the median
    std::string timeline_absent;
    /// One for each of Analysis::counter_roles, over the kernels of one iteration; copies are not counted.
    std::vector<Measured> counters;
    Value score_bytes;  ///< model: bytes of the score matrix that go through device memory
    Value least_bytes;  ///< model: q, k, v, o once
    Value flops;
    Prediction prediction;     ///< bounds and roofs of its method, without a run (attnscope/models.h)
    Value max_abs_difference;  ///< over the elements that are finite in both
    Value non_finite;          ///< elements of the result that are NaN or infinite
    std::string compared_with;

    bool fused() const;  ///< one of flash, efficient, cuDNN
    /// A role's value; absent with a reason also where it was not asked for.
    const Value& counter(std::string_view role) const;
    const Step* lowest_occupancy() const {
        return lowest < 0 ? nullptr : &steps[static_cast<size_t>(lowest)];
    }
};

/// A role of the catalogue as the report shows it.
struct CounterRole {
    std::string role, title, meaning;
    Unit unit = Unit::none;
    bool measured = false;  ///< at least one implementation or kernel has a value
    std::string absent;     ///< why none has; empty when one has
};

/// SM or memory clock over the samples, MHz.
struct ClockRange {
    double least = 0, median = 0, most = 0;
    std::optional<double> limit;  ///< the GPU's maximum
};
struct Clocks {
    size_t samples = 0;
    std::optional<ClockRange> sm, memory;
    std::vector<std::pair<std::string, size_t>> throttled;  ///< NVML's reason in words, samples
};

struct Analysis {
    Ground ground = Ground::virtual_gpu;
    bool has_convention = false;  ///< the program marks its implementations
    std::string folder;
    std::optional<Device> device;  ///< the one that was used; the first where several were
    std::optional<double> sm_count;
    std::string device_name;  ///< "NVIDIA A100-SXM4-80GB"; "unknown GPU"
    size_t processes = 0, devices_used = 0;
    std::vector<std::pair<std::string, std::string>> libraries;  ///< name, version (may be empty)
    Workload workload;
    Choice choice;
    std::vector<AttentionCall> calls;  ///< by first appearance; empty where LibTorch was not asked
    std::string calls_absent;          ///< why `calls` and the steps' operations are empty
    std::vector<Implementation> implementations;
    Value total_kernels, total_library_calls, total_copies, total_memsets;  ///< of the whole run
    std::vector<Notice> notices;                                            ///< worst first
    std::vector<UncomputedRead> uncomputed_reads;
    std::vector<std::string> assumed;  ///< "device 0: core_clock_khz"
    std::vector<Fact> environment;
    std::vector<std::string> command;
    std::string started;

    const Implementation* find(std::string_view name) const;  ///< the first that ran; nullptr
    /// Those that were collected, and the four of the main table in any case; in the catalogue's order.
    std::vector<CounterRole> counter_roles;
    std::optional<Ground> counter_ground;  ///< of the values, the weakest; absent: there are none
    std::string counters_request, counters_range;
    std::vector<std::pair<std::string, uint64_t>> counters_passes;  ///< chip, passes
    bool two_collections = false;  ///< times and counters are from two runs of the program
    bool serialised_only = false;  ///< the program ran under counters alone: it has no times of its own
    Clocks clocks;

    Rank rank;  ///< of the implementations that ran, by bounds and times

    bool counted() const { return counter_ground.has_value(); }
    bool predicted() const { return ground == Ground::virtual_gpu; }
    bool timed() const;  ///< at least one implementation has a time
};

Analysis analyze(const Run& run);

/// The whole report, findings included.
Report build_report(const Analysis& analysis);

}  // namespace attnscope
