#include "intervals.h"

#include <algorithm>

#include "statistics.h"
#include "steps.h"
#include "words.h"

namespace attnscope {
namespace {

constexpr std::string_view kImplementation = "attnscope.implementation/";

std::optional<double> length(const Range& range) {
    if (!range.start_ns || !range.end_ns || *range.end_ns < *range.start_ns) return std::nullopt;
    return double(*range.end_ns - *range.start_ns);
}

/// nullopt when a launch of the iteration has no times.
std::optional<double> span(const Process& process, const std::vector<uint32_t>& launches) {
    uint64_t first = UINT64_MAX, last = 0;
    for (const uint32_t l : launches) {
        const Launch& launch = process.launches[l];
        if (!launch.start_ns || !launch.end_ns) return std::nullopt;
        first = std::min(first, *launch.start_ns);
        last = std::max(last, *launch.end_ns);
    }
    if (first >= last) return std::nullopt;
    return double(last - first);
}

bool in_implementation(const Process& process, uint32_t range, const std::string& name) {
    for (; range != kNone; range = process.ranges[range].parent)
        if (process.ranges[range].name == std::string(kImplementation) + name) return true;
    return false;
}

/// The first warm-up of this implementation, by the order of opening.
const Range* first_warmup(const Process& process, const std::string& name) {
    const Range* first = nullptr;
    for (const Range& range : process.ranges)
        if (range.name == "attnscope.warmup" && in_implementation(process, range.parent, name) &&
            (!first || range.id < first->id))
            first = &range;
    return first;
}

}  // namespace

void set_intervals(Implementation& out, const Process& process, const Phase& phase, Ground ground) {
    const Provenance computed{Source::computed, ground};
    const bool counted = process.collection == Collection::counters;
    out.span = out.first_iteration = out.later_iterations = no_time(
        ground, counted ? "kernels ran one by one under counters" : "no start and end in the records");
    if (ground == Ground::virtual_gpu || counted) return;
    std::vector<double> spans, iterations;
    for (const auto& launches : phase.launches)
        if (const auto s = span(process, launches)) spans.push_back(*s);
    std::sort(spans.begin(), spans.end());
    if (!spans.empty() && spans.size() == phase.launches.size())
        out.span = Value::of(quantile(spans, 0.5), Unit::nanoseconds, computed,
                             "median of " + words::plural(double(spans.size()), "iteration") +
                                 " of the last launch's end - the first one's start");
    if (!phase.marked_iterations) return;
    for (const uint32_t i : phase.iterations)
        if (const auto l = length(process.ranges[i])) iterations.push_back(*l);
    if (iterations.size() != phase.iterations.size()) return;
    const Range* warmup = first_warmup(process, out.name);
    const auto first = warmup ? length(*warmup) : iterations.front();
    if (!first) return;
    out.first_is_warmup = warmup != nullptr;
    if (!warmup) iterations.erase(iterations.begin());
    if (iterations.empty()) return;
    std::sort(iterations.begin(), iterations.end());
    out.first_iteration = Value::of(*first, Unit::nanoseconds, computed,
                                    std::string("end - start of the first ") +
                                        (warmup ? "warm-up" : "iteration") + ", on the program's thread");
    out.later_iterations =
        Value::of(quantile(iterations, 0.5), Unit::nanoseconds, computed,
                  "median of " + words::plural(double(iterations.size()), "iteration") + " of end - start");
}

}  // namespace attnscope
