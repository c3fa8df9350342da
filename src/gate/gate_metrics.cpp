// The table of what can be gated: a new metric is a row.
#include <algorithm>

#include "analysis/counters.h"
#include "attnscope/gate_facts.h"
#include "attnscope/metrics.h"

namespace attnscope::gate {
namespace {

constexpr bool yes = true, no = false;

std::vector<GateMetric> exact_metrics() {
    const auto row = [](const char* name, bool implementation, bool kernel, bool call, bool copy,
                        Better better, Unit unit, Source source, const char* title) {
        return GateMetric{
            name, MetricClass::exact, implementation, kernel, call, copy, better, unit, source, title, 0};
    };
    using enum Better;
    return {
        //  name                    impl kern call copy
        row("status", yes, no, no, no, neither, Unit::none, Source::reported, "status"),
        row("backend", yes, no, no, no, neither, Unit::none, Source::reported, "backend"),
        row("launches", yes, no, no, no, lower, Unit::count, Source::trace, "launches"),
        row("kernels", yes, no, no, no, lower, Unit::count, Source::trace, "kernels"),
        row("library_calls", yes, no, no, no, lower, Unit::count, Source::trace, "library calls"),
        row("copies", yes, no, no, no, lower, Unit::count, Source::trace, "copies"),
        row("memsets", yes, no, no, no, lower, Unit::count, Source::trace, "memsets"),
        row("copied_bytes", yes, no, no, no, lower, Unit::bytes, Source::trace, "bytes copied"),
        row("peak_memory", yes, no, no, no, lower, Unit::bytes, Source::reported, "peak memory"),
        row("least_bytes", yes, no, no, no, lower, Unit::bytes, Source::model, "least bytes"),
        row("score_bytes", yes, no, no, no, lower, Unit::bytes, Source::model,
            "bytes of scores through memory"),
        row("count", no, yes, yes, yes, lower, Unit::count, Source::trace, "launches"),
        row("bytes", no, no, no, yes, lower, Unit::bytes, Source::trace, "bytes"),
        row("registers", no, yes, no, no, lower, Unit::registers, Source::binary, "registers a thread"),
        row("shared", no, yes, no, no, lower, Unit::bytes, Source::computed, "shared memory a CTA"),
        row("local", no, yes, no, no, lower, Unit::bytes, Source::binary, "local memory a thread"),
        row("occupancy", no, yes, no, no, higher, Unit::percent, Source::computed, "theoretical occupancy"),
        row("tensor_code", no, yes, no, no, higher, Unit::count, Source::binary,
            "Tensor Core instructions in its code"),
        row("spill_code", no, yes, no, no, lower, Unit::count, Source::binary,
            "spilling instructions in its code"),
    };
}

/// A counter of which more is better; of those in neither list less is.
Better direction(const std::string& role) {
    for (const char* higher : {"achieved_occupancy", "tensor_pipe", "tensor_pipe_elapsed", "sm_busy",
                               "l2_hit_rate", "l1_hit_rate", "issue_slots", "eligible_warps", "ipc"})
        if (role == higher) return Better::higher;
    // How work is spread over pipes says nothing about better or worse.
    for (const char* either : {"tensor_pipe_float", "tensor_pipe_integer", "tensor_instructions",
                               "tensor_ops_fp16", "tensor_ops_bf16", "tensor_ops_tf32", "dram_throughput",
                               "xu_pipe", "fma_pipe", "alu_pipe", "lsu_pipe", "tma_read"})
        if (role == either) return Better::neither;
    return Better::lower;
}

/// What instructions do is counted, what caches and schedulers do depends on what else happens.
double noise(const std::string& role) {
    return role == "instructions" || role.starts_with("tensor_instructions") || role.starts_with("tensor_ops")
               ? 0.005
               : 0.05;
}

std::vector<GateMetric> make_table() {
    std::vector<GateMetric> table = exact_metrics();
    for (const MetricRole& role : all_roles()) {
        // The time of a kernel under counters is one number of a serialised run: times are judged from runs.
        if (role.unit == Unit::nanoseconds) continue;
        table.push_back({role.role, MetricClass::counter, true, true, false, false, direction(role.role),
                         role.unit, Source::counter, role.title, noise(role.role)});
    }
    table.push_back({"time", MetricClass::time, true, false, false, false, Better::lower, Unit::nanoseconds,
                     Source::trace, "time", 0});
    return table;
}

}  // namespace

const char* to_string(MetricClass kind) {
    return kind == MetricClass::exact ? "exact" : kind == MetricClass::counter ? "counter" : "time";
}

const char* to_string(Level level) {
    switch (level) {
        case Level::implementation:
            return "implementation";
        case Level::kernel:
            return "kernel";
        case Level::library_call:
            return "library call";
        case Level::copy:
            return "copy";
        case Level::memset:
            return "memset";
    }
    return "?";
}

bool GateMetric::has(Level level) const {
    switch (level) {
        case Level::implementation:
            return of_implementation;
        case Level::kernel:
            return of_kernel;
        case Level::library_call:
            return of_library_call;
        case Level::copy:
        case Level::memset:
            return of_copy;
    }
    return false;
}

const std::vector<GateMetric>& gate_metrics() {
    static const std::vector<GateMetric> table = make_table();
    return table;
}

const GateMetric* find_gate_metric(std::string_view name) {
    const auto& table = gate_metrics();
    const auto it =
        std::find_if(table.begin(), table.end(), [&](const GateMetric& m) { return m.name == name; });
    return it == table.end() ? nullptr : &*it;
}

}  // namespace attnscope::gate
