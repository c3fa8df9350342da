#include "steps.h"

#include <algorithm>
#include <map>

#include "attnscope/names.h"
#include "counters.h"
#include "times.h"
#include "words.h"

namespace attnscope {
namespace {

uint64_t with_absence(const std::optional<uint32_t>& value) {
    return value ? uint64_t{*value} + 1 : 0;
}

Value reading(const std::optional<uint32_t>& value, Unit unit, Provenance provenance) {
    return value ? Value::of(*value, unit, provenance)
                 : Value::missing("not in the record", unit, provenance);
}

double product(const Dim3& dim) {
    return double(dim[0]) * double(dim[1]) * double(dim[2]);
}

}  // namespace

size_t StepKeyHash::operator()(const StepKey& key) const noexcept {
    uint64_t hash = 0xcbf29ce484222325;
    for (const uint64_t word : key) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    return static_cast<size_t>(hash);
}

StepMaker::StepMaker(const Process& process, Ground ground)
    : process_(process), ground_(ground), origins_(process), code_(process) {
    std::map<std::string, uint32_t> classes;
    for (const LibraryCall& call : process.calls) {
        std::string text = call.library + '\n' + call.function + '\n' + call.operation;
        for (const auto& [key, value] : call.attributes) text += '\n' + key + '=' + value;
        call_class_.push_back(classes.emplace(text, static_cast<uint32_t>(classes.size())).first->second);
    }
}

StepKey StepMaker::key(const Launch& l) const {
    const auto pair = [](uint64_t high, uint64_t low) { return high << 32 | low; };
    return {uint64_t(l.kind) | uint64_t(l.has_grid) << 8 | uint64_t(l.has_block) << 9 |
                uint64_t(l.has_cluster) << 10,
            pair(l.name, l.copy_kind),
            pair(l.grid[0], l.grid[1]),
            pair(l.grid[2], l.block[0]),
            pair(l.block[1], l.block[2]),
            pair(l.cluster[0], l.cluster[1]),
            l.cluster[2],
            with_absence(l.registers),
            with_absence(l.static_shared),
            with_absence(l.dynamic_shared),
            with_absence(l.local_per_thread),
            with_absence(l.shared),
            l.bytes ? *l.bytes + 1 : 0,
            l.call == kNone ? 0 : uint64_t{call_class_[l.call]} + 1,
            static_cast<uint64_t>(int64_t{l.device}),
            0};
}

StepKey StepMaker::group_key(const Launch& launch) {
    StepKey key = this->key(launch);
    key.back() = origins_.group(launch);
    return key;
}

Step StepMaker::make(const Launch& launch) {
    Step step;
    step.kind = launch.kind;
    step.device = launch.device;
    step.origin = origins_.of(launch);
    const Provenance trace{Source::trace, ground_};
    const std::string not_a_kernel =
        launch.kind == LaunchKind::library_call ? "chosen by the library on a real GPU" : "not a kernel";
    for (Value* value : {&step.registers, &step.static_shared, &step.dynamic_shared, &step.shared,
                         &step.local, &step.threads, &step.warps, &step.ctas, &step.occupancy,
                         &step.ctas_per_sm, &step.waves, &step.nsight_speedup})
        *value = Value::missing(not_a_kernel);
    step.bytes = Value::missing("no copy and no memset", Unit::bytes, trace);
    step.time = step.time_iqr =
        no_time(ground_, process_.collection == Collection::counters ? no_time_under_counters(process_)
                                                                     : "no start and end in the record");
    switch (launch.kind) {
        case LaunchKind::kernel:
            fill_kernel(step, launch);
            break;
        case LaunchKind::memcpy:
            step.copy_kind = launch.copy_kind == kNone ? "" : process_.copy_kinds[launch.copy_kind];
            step.name = step.copy_kind.empty() ? "copy" : "copy " + step.copy_kind;
            break;
        case LaunchKind::memset:
            step.name = "memset";
            break;
        case LaunchKind::library_call:
            if (launch.call == kNone) break;
            step.call = process_.calls[launch.call];
            step.name = step.call->library + " " +
                        (step.call->operation.empty() ? step.call->function : step.call->operation);
            step.full_name = step.call->function;
            for (const auto& [key, value] : step.call->attributes) step.full_name += " " + key + "=" + value;
            if (step.call->operation.find("gemm") != std::string::npos ||
                step.call->operation.find("matmul") != std::string::npos)
                step.role = Role::gemm;
            else if (step.call->library == "cuDNN")
                step.role = Role::cudnn;
            break;
    }
    if (launch.kind == LaunchKind::memcpy || launch.kind == LaunchKind::memset)
        step.bytes = launch.bytes ? Value::of(static_cast<double>(*launch.bytes), Unit::bytes, trace)
                                  : Value::missing("not in the record", Unit::bytes, trace);
    return step;
}

void StepMaker::fill_kernel(Step& step, const Launch& launch) {
    if (launch.name == kNone) {
        step.name = step.full_name = "kernel without a name";
    } else {
        auto [it, fresh] = names_.try_emplace(launch.name);
        if (fresh) {
            it->second.second = demangle(process_.names[launch.name]);
            it->second.first = short_kernel_name(it->second.second);
        }
        step.name = it->second.first;
        step.full_name = it->second.second;
    }
    step.role = role_of(step.full_name);
    code_.fill(step, launch);
    const Provenance trace{Source::trace, ground_};
    // A virtual GPU has the resources from the cubin that its device would run; a real one reports them with
    // the launch.
    const Provenance resource{ground_ == Ground::virtual_gpu ? Source::binary : Source::trace, ground_};
    const Provenance computed{Source::computed, ground_};
    if (launch.has_grid) step.grid = launch.grid;
    if (launch.has_block) step.block = launch.block;
    if (launch.has_cluster) step.cluster = launch.cluster;
    step.registers = reading(launch.registers, Unit::registers, resource);
    step.static_shared = reading(launch.static_shared, Unit::bytes, resource);
    step.dynamic_shared = reading(launch.dynamic_shared, Unit::bytes, trace);
    step.local = reading(launch.local_per_thread, Unit::bytes, resource);
    if (launch.static_shared && launch.dynamic_shared)
        step.shared =
            Value::of(double(*launch.static_shared) + double(*launch.dynamic_shared), Unit::bytes, computed,
                      words::number(*launch.static_shared) + " static + " +
                          words::number(*launch.dynamic_shared) + " dynamic");
    else
        step.shared = reading(launch.shared, Unit::bytes, trace);
    step.reported_occupancy =
        launch.reported_occupancy
            ? Value::of(*launch.reported_occupancy, Unit::percent, {Source::reported, ground_})
            : Value::missing("not in the record", Unit::percent, {Source::reported, ground_});
    step.threads = launch.has_block ? Value::of(product(launch.block), Unit::threads, computed)
                                    : Value::missing("the record has no block", Unit::threads, computed);
    step.ctas = launch.has_grid ? Value::of(product(launch.grid), Unit::ctas, computed)
                                : Value::missing("the record has no grid", Unit::ctas, computed);
    fill_occupancy(step, launch);
}

void StepMaker::fill_occupancy(Step& step, const Launch& launch) {
    const Provenance computed{Source::computed, ground_};
    const auto give_up = [&](const std::string& why) {
        step.occupancy = Value::missing(why, Unit::percent, computed);
        step.ctas_per_sm = Value::missing(why, Unit::ctas, computed);
        step.warps = Value::missing(why, Unit::warps, computed);
        step.waves = Value::missing(why, Unit::none, computed);
        step.nsight_speedup = Value::missing(why, Unit::percent, computed);
    };
    const Device* device = process_.device(launch.device);
    if (!device) return give_up("the device is not in the run");
    std::string missing;
    const auto limits = sm_limits_of(*device, missing);
    if (!limits) return give_up("the device's record lacks " + missing);
    if (!step.registers || !step.shared || !step.threads)
        return give_up("registers, shared memory or block are not in the record");
    if (*step.threads.number < 1 || *step.threads.number > 65536)
        return give_up("no device runs a block of this size");
    if (*step.shared.number > 4294967295.0) return give_up("no device has that much shared memory");
    const auto threads = static_cast<uint32_t>(*step.threads.number);
    const uint32_t warps = (threads + limits->warp_size - 1) / limits->warp_size;
    const bool apart = launch.static_shared && launch.dynamic_shared;  // only their sum counts
    const Occupancy o = theoretical_occupancy(
        *limits, {*launch.registers, threads, apart ? *launch.static_shared : 0,
                  apart ? *launch.dynamic_shared : static_cast<uint32_t>(*step.shared.number)});
    if (!o.launchable || o.max_warps_per_sm == 0)
        return give_up(o.reason.empty() ? "one CTA does not fit on an SM" : o.reason);
    step.residency = o;
    const std::string product_text = words::plural(o.ctas_per_sm, "CTA") + " x " +
                                     words::plural(warps, "warp") + " of " +
                                     words::number(o.max_warps_per_sm);
    step.warps = Value::of(warps, Unit::warps, computed);
    step.ctas_per_sm = Value::of(o.ctas_per_sm, Unit::ctas, computed,
                                 "min(registers: " + words::number(o.ctas_by_registers) +
                                     ", shared memory: " + words::number(o.ctas_by_shared_memory) +
                                     ", warps: " + words::number(o.ctas_by_warps) +
                                     ", CTAs: " + words::number(o.ctas_by_ctas) + ")");
    step.occupancy = Value::of(100 * o.fraction, Unit::percent, computed, product_text);
    std::vector<std::string> limiters;
    for (const Limiter limiter : o.limiters) limiters.emplace_back(to_string(limiter));
    step.limiter = words::join(limiters);
    const double unused = 100 * (1 - o.fraction);
    step.nsight_speedup = unused > 20
                              ? Value::of(unused, Unit::percent, computed,
                                          "1 - " + words::number(o.warps_per_sm) + " / " +
                                              words::number(o.max_warps_per_sm) + " warps")
                              : Value::missing("its rule is silent from 80% on", Unit::percent, computed);
    if (!step.ctas)
        step.waves = step.ctas;
    else if (!device->sm_count || *device->sm_count == 0)
        step.waves = Value::missing("the device's record lacks sm_count", Unit::none, computed);
    else
        step.waves =
            Value::of(*step.ctas.number / (double(o.ctas_per_sm) * *device->sm_count), Unit::none, computed,
                      words::number(*step.ctas.number) + " CTAs / (" + words::number(o.ctas_per_sm) +
                          " CTAs per SM x " + words::number(*device->sm_count) + " SMs)");
}

void StepGroups::add(const Launch& launch, uint32_t index) {
    const auto [it, fresh] = index_.try_emplace(maker_.group_key(launch), steps_.size());
    if (fresh) {
        steps_.push_back(maker_.make(launch));
        steps_.back().times = launch.times;
        members_.emplace_back();
        total_ns_.push_back(0);
        timed_.push_back(0);
    } else {
        steps_[it->second].times += launch.times;
    }
    members_[it->second].push_back(index);
    if (!launch.start_ns) return;
    total_ns_[it->second] += gpu_time(launch);
    timed_[it->second] += launch.times;
}

std::vector<Step> StepGroups::take(bool timed) {
    for (size_t i = 0; timed && i < steps_.size(); ++i)
        if (timed_[i] == steps_[i].times) {
            Step& step = steps_[i];
            step.time = Value::of(total_ns_[i], Unit::nanoseconds, step.time.provenance,
                                  "sum of end - start over " + words::plural(double(step.times), "launch"));
            step.time_iqr =
                Value::missing("the program marks no iterations", Unit::nanoseconds, step.time.provenance);
        }
    return std::move(steps_);
}

std::optional<SmLimits> sm_limits_of(const Device& d, std::string& missing) {
    SmLimits limits;
    const auto need = [&](const std::optional<uint32_t>& figure, const char* name, auto& out) {
        if (figure && *figure <= 0x7fffffff)
            out = static_cast<std::decay_t<decltype(out)>>(*figure);
        else if (missing.empty())
            missing = name;
    };
    need(d.major, "compute_major", limits.major);
    need(d.minor, "compute_minor", limits.minor);
    need(d.warp_size, "warp_size", limits.warp_size);
    need(d.max_threads_per_sm, "max_threads_per_sm", limits.max_threads);
    need(d.max_ctas_per_sm, "max_ctas_per_sm", limits.max_ctas);
    need(d.registers_per_sm, "registers_per_sm", limits.registers);
    need(d.registers_per_cta, "registers_per_cta", limits.registers_per_cta);
    need(d.shared_per_sm, "shared_per_sm", limits.shared_bytes);
    need(d.shared_per_cta_optin, "shared_per_cta_optin", limits.shared_bytes_per_cta_optin);
    need(d.shared_reserved_per_cta, "shared_reserved_per_cta", limits.shared_bytes_reserved_per_cta);
    need(d.max_threads_per_cta, "max_threads_per_cta", limits.max_threads_per_cta);
    if (missing.empty() && limits.warp_size == 0) missing = "warp_size";
    if (!missing.empty()) return std::nullopt;
    return limits;
}

Value no_time(Ground ground, const std::string& otherwise) {
    return Value::missing(ground == Ground::virtual_gpu ? "nothing was measured: virtual GPU" : otherwise,
                          Unit::nanoseconds, {Source::trace, ground});
}

}  // namespace attnscope
