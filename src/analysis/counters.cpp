#include "counters.h"

#include <algorithm>
#include <utility>

#include "statistics.h"
#include "times.h"
#include "words.h"

namespace attnscope {
namespace {

constexpr const char* kMainRoles[] = {counter_role::kAchievedOccupancy, counter_role::kDramBytes,
                                      counter_role::kTensorPipe};
bool partial(const std::string& code) {
    for (const char* one :
         {"counters-metric-absent", "counters-captured", "counters-collective", "counters-contended",
          "counters-graph-order", "counters-dropped", "counters-unjoined", "counters-ground"})
        if (code == one) return true;
    return false;
}

/// The worst diagnostic that explains why there are no counters at all; nullptr.
const Diagnostic* explanation(const std::vector<Diagnostic>& diagnostics) {
    const Diagnostic* worst = nullptr;
    for (const Diagnostic& d : diagnostics)
        if (d.code.starts_with("counters-") && !partial(d.code) && (!worst || d.level > worst->level))
            worst = &d;
    return worst;
}

/// Read and write in one, for every pair of their alternatives.
MetricRole dram_bytes(const MetricRole& read, const MetricRole& write) {
    MetricRole both;
    both.role = counter_role::kDramBytes;
    both.title = "DRAM bytes";
    both.sets = read.sets;
    both.unit = Unit::bytes;
    both.meaning =
        "Bytes that the kernels read from DRAM and wrote to it, as the memory's own counters saw "
        "them. What the L2 cache kept is not in it; copies are not counted.";
    for (const std::string& r : read.formulas)
        for (const std::string& w : write.formulas) both.formulas.push_back(r + " + " + w);
    both.absent = read.absent;
    return both;
}

}  // namespace

const Measured* find_role(const std::vector<Measured>& counters, std::string_view role) {
    for (const Measured& m : counters)
        if (m.role == role) return &m;
    return nullptr;
}

const std::vector<MetricRole>& all_roles() {
    static const std::vector<MetricRole> roles = [] {
        std::vector<MetricRole> out = metric_catalogue();
        const MetricRole* read = find_metric_role(counter_role::kDramRead);
        const MetricRole* write = find_metric_role(counter_role::kDramWrite);
        if (find_metric_role(counter_role::kDramBytes) || !read || !write) return out;
        const auto at = std::find_if(out.begin(), out.end(),
                                     [](const MetricRole& r) { return r.role == counter_role::kDramWrite; });
        out.insert(at + 1, dram_bytes(*read, *write));
        return out;
    }();
    return roles;
}

std::vector<const MetricRole*> roles_of(const Run& run) {
    std::vector<const MetricRole*> out;
    for (const MetricRole& role : all_roles()) {
        bool wanted =
            std::find(std::begin(kMainRoles), std::end(kMainRoles), role.role) != std::end(kMainRoles);
        for (const std::string& formula : role.formulas) {
            const std::vector<std::string> names = vendor_names(formula);
            for (const Process& p : run.processes)
                wanted = wanted || std::all_of(names.begin(), names.end(), [&](const std::string& name) {
                             return std::find(p.metrics.begin(), p.metrics.end(), name) != p.metrics.end();
                         });
        }
        if (wanted) out.push_back(&role);
    }
    return out;
}

ProcessCounters::ProcessCounters(const Run& run, const Process& process, std::vector<const MetricRole*> roles)
    : run_(run), process_(process), roles_(std::move(roles)) {
    for (const MetricRole* role : roles_) {
        std::vector<size_t> collected;
        for (const std::string& formula : role->formulas) {
            if (!collected.empty()) break;
            for (const std::string& name : vendor_names(formula)) collected.push_back(index_of(name));
            if (std::any_of(collected.begin(), collected.end(),
                            [&](size_t m) { return m >= process_.metrics.size(); }))
                collected.clear();
        }
        collected_.push_back(std::move(collected));
    }
    has_ranges_ = std::any_of(process_.ranges.begin(), process_.ranges.end(),
                              [](const Range& r) { return r.counters != kNone; });
    if (process_.counters.empty()) no_values_ = why_no_values();
}

size_t ProcessCounters::index_of(std::string_view metric) const {
    return static_cast<size_t>(std::find(process_.metrics.begin(), process_.metrics.end(), metric) -
                               process_.metrics.begin());
}

std::string ProcessCounters::why_no_values() const {
    const Diagnostic* own = explanation(process_.diagnostics);
    const Diagnostic* folder = explanation(run_.diagnostics);
    const Diagnostic* worst = !own || (folder && folder->level > own->level) ? folder : own;
    if (worst && worst->code != "counters-virtual") return worst->message;
    if (process_.ground == Ground::virtual_gpu) return "not measured: virtual GPU";
    if (worst) return worst->message;
    if (process_.ground == Ground::imported) return "not in the imported file";
    if (process_.collection == Collection::activity && process_.counters_from.empty() &&
        (run_.counters_request.empty() || run_.counters_request == "none"))
        return "not asked for: attnscope collect --counters core";
    return "the run holds no counter values of this process";
}

std::string ProcessCounters::why_no_role(const MetricRole& role) const {
    for (const Device& device : process_.devices)
        if (const std::string* why = role.absent_on(device.chip))
            return "not on " + device.chip + ": " + *why;
    for (const auto& [chip, passes] : run_.counters_passes)
        if (const std::string* why = role.absent_on(chip)) return "not on " + chip + ": " + *why;
    if (process_.ground == Ground::imported) return "not in the imported file";
    return "not asked for: attnscope collect --counters " + (role.sets.empty() ? "core" : role.sets.front());
}

std::string ProcessCounters::why_uncounted(const Launch& launch) const {
    if (launch.uncounted.empty())
        return has_ranges_ ? "counted for whole ranges, not kernel by kernel" : "no counter record of it";
    for (const auto* list : {&process_.diagnostics, &run_.diagnostics})
        for (const Diagnostic& d : *list)
            if (d.code == launch.uncounted) return d.message;
    return launch.uncounted;
}

ProcessCounters::Sums ProcessCounters::sums_of(const Launches& launches) const {
    Sums sums{Combined(process_), 0, 0};
    bool explained = false;
    for (const uint32_t l : launches) {
        const Launch& launch = process_.launches[l];
        switch (launch.kind) {
            case LaunchKind::kernel:
                // The first that was not counted explains every metric: no words for the others.
                if (launch.counters == kNone)
                    sums.kernels.add(kNone,
                                     std::exchange(explained, true) ? std::string() : why_uncounted(launch));
                else
                    sums.kernels.add(launch.counters, "not in its record");
                break;
            case LaunchKind::library_call:
                ++sums.library_calls;
                break;
            default:
                ++sums.copies;
        }
    }
    return sums;
}

ProcessCounters::Sums ProcessCounters::sums_of_ranges(const std::vector<uint32_t>& ranges) const {
    Sums sums{Combined(process_), 0, 0};
    const char* reason =
        run_.counters_range == "nvtx"
            ? "counted for each outermost NVTX range: --range implementation counts iterations"
            : "no counter record of this range";
    for (const uint32_t r : ranges)
        sums.kernels.add(r == kNone ? kNone : process_.ranges[r].counters, reason);
    return sums;
}

std::optional<MetricResult> ProcessCounters::value(size_t r, const Sums& sums, const char* part,
                                                   std::string& absent) const {
    const MetricRole& role = *roles_[r];
    if (sums.library_calls > 0)
        absent = words::plural(double(sums.library_calls), "library call") +
                 ": their kernels are chosen by the library on a real GPU";
    else if (sums.kernels.parts() == 0)
        absent = "no kernel";
    for (const size_t metric : collected_[r])
        if (absent.empty() && !sums.kernels.value(metric)) absent = sums.kernels.why_not(metric, part);
    if (!absent.empty()) return std::nullopt;
    auto result = evaluate(role, [&](std::string_view name) { return sums.kernels.value(index_of(name)); });
    if (!result) {
        absent = "its formula gives no number with these values";
        return std::nullopt;
    }
    result->text = sums.kernels.how(collected_[r], part) + result->text;
    if (sums.copies > 0 && role.unit == Unit::bytes)
        result->text += "; " +
                        (sums.copies == 1 ? std::string("1 copy or memset is")
                                          : words::number(double(sums.copies)) + " copies and memsets are") +
                        " not counted";
    return result;
}

std::vector<Measured> ProcessCounters::over(const std::vector<Sums>& iterations, const char* part) const {
    std::vector<Measured> out;
    for (size_t r = 0; r < roles_.size(); ++r) {
        const MetricRole& role = *roles_[r];
        const Provenance counter{Source::counter, process_.counter_ground.value_or(process_.ground)};
        Measured m{role.role, Value::missing("", role.unit, counter), Value::missing("", role.unit, counter)};
        std::string absent = !no_values_.empty()     ? no_values_
                             : collected_[r].empty() ? why_no_role(role)
                                                     : "";
        std::vector<double> values;
        std::string first;
        for (const Sums& sums : iterations) {
            if (!no_values_.empty() || collected_[r].empty()) break;
            std::string why;
            const auto result = value(r, sums, part, why);
            if (result) {
                values.push_back(result->value);
                if (first.empty()) first = result->text;
            } else if (absent.empty()) {
                absent = why;
            }
        }
        if (values.empty()) {
            m.value.absent = m.spread.absent = absent.empty() ? "no iteration" : absent;
            out.push_back(std::move(m));
            continue;
        }
        std::sort(values.begin(), values.end());
        std::string text = first;
        if (iterations.size() > 1)
            text =
                "median of " + words::number(double(values.size())) +
                (values.size() < iterations.size() ? " of " + words::number(double(iterations.size())) : "") +
                " iterations; the first: " + first;
        m.value = Value::of(quantile(values, 0.5), role.unit, counter, text);
        m.spread = interquartile_range(values, role.unit, counter);
        out.push_back(std::move(m));
    }
    return out;
}

std::vector<Measured> ProcessCounters::of_iterations(const std::vector<Launches>& iterations) const {
    std::vector<Sums> sums;
    if (no_values_.empty())
        for (const Launches& launches : iterations) sums.push_back(sums_of(launches));
    return over(sums, "kernel");
}

std::vector<Measured> ProcessCounters::of_step(const std::vector<Launches>& iterations, size_t n) const {
    std::vector<Sums> sums;
    if (no_values_.empty())
        for (const Launches& launches : iterations) sums.push_back(sums_of({launches[n]}));
    return over(sums, "kernel");
}

std::vector<Measured> ProcessCounters::of_ranges(const std::vector<uint32_t>& ranges, bool together) const {
    std::vector<Sums> sums;
    if (no_values_.empty()) {
        if (together)
            sums.push_back(sums_of_ranges(ranges));
        else
            for (const uint32_t r : ranges) sums.push_back(sums_of_ranges({r}));
    }
    return over(sums, "range");
}

std::vector<Measured> ProcessCounters::none(const std::string& reason) const {
    std::vector<Measured> out = over({}, "kernel");
    for (Measured& m : out)
        if (no_values_.empty() && m.value.absent == "no iteration") m.value.absent = m.spread.absent = reason;
    return out;
}

std::string no_time_under_counters(const Process& process) {
    for (const Diagnostic& d : process.diagnostics)
        if (d.code == "collections-differ") return "the run for time launched different kernels";
    return "not measured: this run of the program was under counters; --timing separate adds an undisturbed "
           "one";
}

}  // namespace attnscope
