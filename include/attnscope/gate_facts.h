#pragma once
// What a run offers to the gate: the values that a baseline keeps and a limit speaks about. Three kinds of
// things are kept apart. Matched on: ground, GPU, implementation (or the user's range), and a part's place in
// it. Inputs and environment: named when they change. Measurements: what is gated, never part of a key.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnscope/analysis.h"
#include "attnscope/run.h"
#include "attnscope/value.h"

namespace attnscope::gate {

/// How certain a value is, and with that how it is judged.
enum class MetricClass {
    exact,    ///< the same program gives the same value, always
    counter,  ///< counted by the hardware: nearly the same
    time,     ///< noise between runs of a process: judged with statistics alone
};
const char* to_string(MetricClass kind);  ///< "exact", "counter", "time"

enum class Level { implementation, kernel, library_call, copy, memset };
const char* to_string(Level level);  ///< "implementation", "kernel", "library call", "copy", "memset"

/// Which change is for the worse. `neither`: every change is one, and none is an improvement.
enum class Better { lower, higher, neither };

/// A row of the table of gated metrics.
struct GateMetric {
    std::string name;  ///< as in policies and baselines: "launches"
    MetricClass kind = MetricClass::exact;
    bool of_implementation = false, of_kernel = false, of_library_call = false, of_copy = false;
    Better better = Better::lower;
    Unit unit = Unit::count;
    Source source = Source::trace;
    std::string title;  ///< in sentences: "theoretical occupancy"
    double noise = 0;   ///< counters: a change up to this share is taken for noise. An assumption, not a
                        ///< measurement: a policy's `noise` replaces it
    bool has(Level level) const;
};
/// Exact metrics, one for each role of the metric catalogue (attnscope/metrics.h), and time.
const std::vector<GateMetric>& gate_metrics();
const GateMetric* find_gate_metric(std::string_view name);  ///< nullptr when there is none

/// One value of one thing.
struct Measurement {
    std::string metric;           ///< GateMetric::name
    std::vector<double> samples;  ///< one for each run; of an exact value, one
    std::string text;             ///< instead of numbers: backend, status
    std::string absent;           ///< why there is neither
    bool known() const { return !samples.empty() || !text.empty(); }
    double number() const;  ///< median of the samples; not without any
    bool operator==(const Measurement&) const = default;
};

/// A kernel, library call, copy or memset of an implementation; alike ones of one place are one part. A
/// library call stands for kernels that the library chooses, also where a real GPU recorded these and not the
/// call: it is known by its operation and how often it comes.
struct Part {
    Level level = Level::kernel;
    std::string place;  ///< the outermost operation that launches it, else the user's range; may be empty
    std::string name;   ///< demangled kernel name; "cuBLAS gemm", "cuBLAS kernel"; "DtoD"
    std::vector<Measurement> measurements;
    std::string range = {};  ///< the program's range around its first launch; not kept in a baseline
    const Measurement* find(std::string_view metric) const;
    std::string title() const;  ///< for people: a short kernel name
};

/// An implementation, a user's range, or the whole program.
struct Subject {
    std::string name;
    std::string reason;  ///< of a refusal or failure, LibTorch's words
    std::vector<Measurement> measurements;
    std::vector<Part> parts;                   ///< by level, place, name
    std::vector<std::string> attention_calls;  ///< inputs of its scaled_dot_product_attention calls, sorted
    std::vector<Fact> refusals;         ///< backend, why LibTorch did not choose it; not kept in a baseline
    std::vector<std::string> findings;  ///< ids of what the rules found about it, sorted
    const Measurement* find(std::string_view metric) const;
    const Part* find_part(Level level, std::string_view place, std::string_view name) const;
};

struct GateFacts {
    Ground ground = Ground::virtual_gpu;
    std::optional<Ground> counter_ground;  ///< of counter values, where there are any
    std::string gpu;                       ///< "NVIDIA A100-SXM4-80GB"
    size_t runs = 1;
    std::vector<Fact> inputs, environment;  ///< sorted by label; a version that is unknown is left out
    std::vector<Subject> subjects;          ///< by name
    std::vector<double> sm_clock;           ///< median MHz, one for each run; empty: unknown
    std::vector<std::string> throttled;     ///< why the GPU slowed down during a run
    std::vector<std::string> unusable;      ///< why no comparison can be made; empty: it can
    std::vector<std::string> lost;          ///< records that were lost, in words
    std::vector<Finding> findings;          ///< of the first run; not kept in a baseline
    const Subject* find(std::string_view name) const;
};

/// Of one run. Never throws: what is wrong with the run is in `unusable` and `lost`.
/// `findings`: what the rules say of the run (attnscope/rules.h).
GateFacts facts_of(const Run& run, const Analysis& analysis, std::vector<Finding> findings = {});

/// Several runs of one program become one: exact values must agree, others become samples. What differs is
/// absent with the reason. Throws Error for none, and for runs of different grounds or GPUs.
GateFacts join(std::vector<GateFacts> runs);

}  // namespace attnscope::gate
