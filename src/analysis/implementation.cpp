#include "implementation.h"

#include <algorithm>

#include "intervals.h"
#include "models.h"
#include "steps.h"
#include "timeline.h"
#include "times.h"
#include "words.h"

namespace attnscope {
namespace {

struct Counts {
    double by_kind[4] = {};
    double all() const { return by_kind[0] + by_kind[1] + by_kind[2] + by_kind[3]; }
};

Counts count(const Process& process, const Sequence& launches) {
    Counts counts;
    for (const uint32_t l : launches)
        counts.by_kind[static_cast<size_t>(process.launches[l].kind)] += double(process.launches[l].times);
    return counts;
}

void set_counts(Implementation& out, const Counts& counts, const std::string& unequal, Ground ground) {
    const Provenance trace{Source::trace, ground};
    const auto value = [&](double n) {
        return unequal.empty() ? Value::of(n, Unit::count, trace)
                               : Value::missing(unequal, Unit::count, trace);
    };
    out.kernels = value(counts.by_kind[static_cast<size_t>(LaunchKind::kernel)]);
    out.copies = value(counts.by_kind[static_cast<size_t>(LaunchKind::memcpy)]);
    out.memsets = value(counts.by_kind[static_cast<size_t>(LaunchKind::memset)]);
    out.library_calls = value(counts.by_kind[static_cast<size_t>(LaunchKind::library_call)]);
    out.launches = value(counts.all());
    std::vector<std::string> parts;
    const auto part = [&](LaunchKind kind, const char* noun) {
        const double n = counts.by_kind[static_cast<size_t>(kind)];
        if (n > 0) parts.push_back(words::plural(n, noun));
    };
    part(LaunchKind::kernel, "kernel");
    part(LaunchKind::library_call, "library call");
    part(LaunchKind::memcpy, "copy");
    part(LaunchKind::memset, "memset");
    out.launches.formula = parts.empty() ? "no launch" : words::join(parts, " + ", " + ");
}

/// Sums and extremes over the steps.
void set_step_totals(Implementation& out, Ground ground) {
    const Provenance trace{Source::trace, ground}, computed{Source::computed, ground};
    double copied = 0, device_copied = 0;
    std::string unknown_bytes;
    size_t kernels = 0;
    std::string no_registers = "no kernel", no_shared = "no kernel";
    for (size_t i = 0; i < out.steps.size(); ++i) {
        const Step& step = out.steps[i];
        if (step.kind == LaunchKind::memcpy) {
            if (!step.bytes) unknown_bytes = "a copy's record has no bytes";
            copied += step.bytes.number.value_or(0) * double(step.times);
            if (step.copy_kind == "DtoD") device_copied += step.bytes.number.value_or(0) * double(step.times);
        }
        if (!step.is_kernel() || (out.fused() && !is_attention(step.role))) continue;
        ++kernels;
        if (step.registers && (!out.registers || *step.registers.number > *out.registers.number))
            out.registers = step.registers;
        if (step.shared && (!out.shared || *step.shared.number > *out.shared.number))
            out.shared = step.shared;
        if (!step.registers) no_registers = step.registers.absent;
        if (!step.shared) no_shared = step.shared.absent;
        if (step.occupancy &&
            (out.lowest < 0 ||
             *step.occupancy.number < *out.steps[static_cast<size_t>(out.lowest)].occupancy.number))
            out.lowest = static_cast<int>(i);
    }
    out.copied_bytes = unknown_bytes.empty() ? Value::of(copied, Unit::bytes, trace)
                                             : Value::missing(unknown_bytes, Unit::bytes, trace);
    out.device_copy_bytes = unknown_bytes.empty() ? Value::of(device_copied, Unit::bytes, trace)
                                                  : Value::missing(unknown_bytes, Unit::bytes, trace);
    if (kernels == 0 && out.library_calls.number.value_or(0) > 0)
        no_registers = no_shared = "chosen by the library on a real GPU";
    if (!out.registers) out.registers = Value::missing(no_registers, Unit::registers, trace);
    if (!out.shared) out.shared = Value::missing(no_shared, Unit::bytes, computed);
}

/// The device that its launches ran on; of an implementation without any, the process's first.
const Device* device_of(const Process& process, const Implementation& implementation) {
    for (const Step& step : implementation.steps)
        if (const Device* device = process.device(step.device)) return device;
    return process.devices.empty() ? nullptr : &process.devices.front();
}

/// What the hardware counted in each iteration, and in each of its launches where the iterations are alike.
void set_counters(Implementation& out, const ProcessCounters& counters, const Phase& phase) {
    if (counters.has_ranges() && phase.marked_iterations)
        out.counters = counters.of_ranges(phase.iterations, false);
    else
        out.counters = counters.of_iterations(phase.launches);
    for (size_t i = 0; i < out.steps.size(); ++i) {
        if (!out.steps[i].is_kernel()) continue;
        out.steps[i].counters = out.iterations_equal ? counters.of_step(phase.launches, i)
                                                     : counters.of_launches({phase.launches.front()[i]});
    }
}

/// Of steps that stand for several launches each.
void set_group_counters(std::vector<Step>& steps, const ProcessCounters& counters,
                        const std::vector<std::vector<uint32_t>>& members) {
    for (size_t i = 0; i < steps.size(); ++i)
        if (steps[i].is_kernel()) steps[i].counters = counters.of_launches(members[i]);
}

/// Empty when every iteration holds the same launches in the same order, else what differs.
std::string difference(const StepMaker& maker, const Process& process,
                       const std::vector<Sequence>& iterations) {
    const Sequence& first = iterations.front();
    for (size_t i = 1; i < iterations.size(); ++i) {
        const Sequence& other = iterations[i];
        if (other.size() != first.size())
            return "iterations differ: " + words::plural(double(first.size()), "launch") + " in the first, " +
                   words::number(double(other.size())) + " in number " + std::to_string(i + 1);
        for (size_t k = 0; k < first.size(); ++k)
            if (maker.key(process.launches[first[k]]) != maker.key(process.launches[other[k]]))
                return "iterations differ: launch " + std::to_string(k + 1) + " of number " +
                       std::to_string(i + 1) + " is not that of the first";
    }
    return {};
}

std::string resolved_backend(const std::string& name, const std::string& marked, const Choice& choice) {
    if (marked == "auto" || (marked.empty() && name == "sdpa_auto")) return choice.chosen;
    if (!marked.empty()) return marked;
    for (const char* backend : {"math", "flash", "efficient", "cudnn"})
        if (name == std::string("sdpa_") + backend) return backend;
    return {};
}

void apply_mark(Implementation& out, const ImplementationMark* mark, const Marks& marks, Ground ground) {
    const Provenance reported{Source::reported, ground};
    out.peak_memory = Value::missing("the program did not report it", Unit::bytes, reported);
    out.max_abs_difference = out.non_finite =
        Value::missing(ground == Ground::virtual_gpu ? "nothing was computed: virtual GPU"
                                                     : "the program did not compare results",
                       Unit::none, reported);
    out.backend = resolved_backend(out.name, mark ? mark->backend : "", marks.choice.value_or(Choice{}));
    if (!mark) return;
    out.reason = mark->reason;
    for (const auto status :
         {ImplementationStatus::ran, ImplementationStatus::refused, ImplementationStatus::failed})
        if (mark->status == to_string(status)) out.status = status;
    if (mark->peak_allocated) out.peak_memory = Value::of(*mark->peak_allocated, Unit::bytes, reported);
    // On a virtual GPU nothing was computed: a difference of what was never computed says nothing.
    if (ground == Ground::virtual_gpu) return;
    if (mark->non_finite) out.non_finite = Value::of(*mark->non_finite, Unit::none, reported);
    if (mark->max_abs_difference) {
        out.max_abs_difference = Value::of(*mark->max_abs_difference, Unit::none, reported);
        out.compared_with = mark->compared_with;
    }
}

}  // namespace

const char* to_string(ImplementationStatus status) {
    switch (status) {
        case ImplementationStatus::ran:
            return "ran";
        case ImplementationStatus::refused:
            return "refused";
        case ImplementationStatus::failed:
            return "failed";
        case ImplementationStatus::unknown:
            break;
    }
    return "unknown";
}

const Value& Implementation::counter(std::string_view role) const {
    static const Value none = Value::missing("not asked for");
    const Measured* found = find_role(counters, role);
    return found ? found->value : none;
}

bool StepOrigin::under(std::string_view operation) const {
    return std::find(operations.begin(), operations.end(), operation) != operations.end();
}

bool Implementation::fused() const {
    return backend == "flash" || backend == "efficient" || backend == "cudnn";
}

Implementation analyze_phase(const Process& process, const Phase& phase, const ImplementationMark* mark,
                             const Marks& marks, const ProcessCounters& counters, Ground ground,
                             const std::string& title_suffix) {
    Implementation out;
    out.name = phase.name;
    out.title = phase.name + title_suffix;
    apply_mark(out, mark, marks, ground);
    out.iterations = phase.launches.size();
    StepMaker maker(process, ground);
    const std::string unequal = difference(maker, process, phase.launches);
    out.iterations_equal = unequal.empty();
    out.iterations_note = unequal;
    if (!phase.marked_iterations)
        out.iterations_note = "the program marks no iterations: all its launches are counted as one";
    if (phase.cut_iterations > 0)
        out.iterations_note += (out.iterations_note.empty() ? "" : "; ") +
                               words::plural(double(phase.cut_iterations), "unfinished iteration") +
                               " left out";
    for (const uint32_t l : phase.launches.front()) out.steps.push_back(maker.make(process.launches[l]));
    set_counts(out, count(process, phase.launches.front()), unequal, ground);
    set_step_totals(out, ground);
    const bool lost = !process.end;
    if (out.launches.number == 0.0 && (lost || out.status != ImplementationStatus::ran)) {
        // It stopped before its first iteration, or its records never reached the file: nothing is not a
        // count.
        for (Value* v : {&out.kernels, &out.copies, &out.memsets, &out.library_calls, &out.launches,
                         &out.copied_bytes, &out.device_copy_bytes})
            *v = Value::missing(lost ? "lost: the run was cut short" : "it did not run", v->unit,
                                v->provenance);
    }
    set_times(out, process, phase.launches, ground);
    set_timeline(out, process, phase.launches);
    set_intervals(out, process, phase, ground);
    set_counters(out, counters, phase);
    std::unordered_map<StepKey, bool, StepKeyHash> steady;
    for (const auto& iteration : phase.launches)
        for (const uint32_t l : iteration) steady[maker.key(process.launches[l])] = true;
    StepGroups apart(maker);
    for (const uint32_t l : phase.outside)
        if (!steady.count(maker.key(process.launches[l]))) apart.add(process.launches[l], l);
    const auto& members = apart.members();
    out.apart = apart.take(has_times(process, ground));
    set_group_counters(out.apart, counters, members);
    set_models(out, marks.workload.value_or(Workload{}), device_of(process, out), ground);
    return out;
}

Implementation analyze_group(const Process& process, const NamedLaunches& group,
                             const ProcessCounters& counters, Ground ground,
                             const std::string& title_suffix) {
    Implementation out;
    out.name = group.name;
    out.title = group.name + title_suffix;
    out.status = ImplementationStatus::ran;
    out.iterations = 1;
    out.grouped = true;
    StepMaker maker(process, ground);
    StepGroups groups(maker);
    for (const uint32_t l : group.launches) groups.add(process.launches[l], l);
    const auto& members = groups.members();
    out.steps = groups.take(has_times(process, ground));
    set_group_counters(out.steps, counters, members);
    out.counters = counters.has_ranges() && !group.ranges.empty() ? counters.of_ranges(group.ranges, true)
                                                                  : counters.of_launches(group.launches);
    std::stable_sort(out.steps.begin(), out.steps.end(), [](const Step& a, const Step& b) {
        const double time_a = a.time.number.value_or(0), time_b = b.time.number.value_or(0);
        return time_a != time_b ? time_a > time_b : a.times > b.times;
    });
    set_counts(out, count(process, group.launches), {}, ground);
    set_step_totals(out, ground);
    std::vector<Step> steps = std::move(out.steps);
    const std::vector<Sequence> all = {group.launches};
    set_times(out, process, all, ground);  // the steps have their own sums already
    out.steps = std::move(steps);
    set_timeline(out, process, all);
    apply_mark(out, nullptr, {}, ground);
    set_models(out, {}, device_of(process, out), ground);
    return out;
}

Implementation from_mark(const Process& process, const ImplementationMark& mark, const Marks& marks,
                         const ProcessCounters& counters, Ground ground, const std::string& title_suffix) {
    Implementation out;
    out.name = mark.name;
    out.title = mark.name + title_suffix;
    apply_mark(out, &mark, marks, ground);
    const std::string why = out.status == ImplementationStatus::refused  ? "refused"
                            : out.status == ImplementationStatus::failed ? "failed"
                                                                         : "no launches of it in the run";
    const Provenance trace{Source::trace, ground};
    for (Value* v : {&out.kernels, &out.copies, &out.memsets, &out.library_calls, &out.launches})
        *v = Value::missing(why, Unit::count, trace);
    for (Value* v : {&out.copied_bytes, &out.device_copy_bytes, &out.shared, &out.peak_memory})
        *v = Value::missing(why, Unit::bytes, trace);
    out.registers = Value::missing(why, Unit::registers, trace);
    for (Value* v : {&out.time, &out.time_iqr, &out.span, &out.first_iteration, &out.later_iterations})
        *v = Value::missing(why, Unit::nanoseconds, trace);
    out.counters = counters.none(why);
    out.timeline_absent = why;
    set_models(out, marks.workload.value_or(Workload{}), device_of(process, out), ground);
    if (out.status == ImplementationStatus::unknown)
        out.score_bytes = Value::missing(why, Unit::bytes, {Source::model, ground});
    return out;
}

}  // namespace attnscope
