#include "times.h"

#include <algorithm>
#include <cmath>

#include "counters.h"
#include "statistics.h"
#include "steps.h"
#include "words.h"

namespace attnscope {

Value interquartile_range(const std::vector<double>& sorted, Unit unit, const Provenance& provenance) {
    if (sorted.size() < 4) return Value::missing("needs at least 4 iterations", unit, provenance);
    const double low = quantile(sorted, 0.25), high = quantile(sorted, 0.75);
    // Weighted means of the same counts differ in their last digits: that is no spread.
    const double range = high - low > 1e-12 * std::fabs(high) ? high - low : 0;
    return Value::of(
        range, unit, provenance,
        "third quartile - first quartile of " + words::number(double(sorted.size())) + " iterations");
}

bool has_times(const Process& process, Ground ground) {
    return ground != Ground::virtual_gpu && process.collection == Collection::activity;
}

double gpu_time(const Launch& launch) {
    return double(*launch.end_ns - *launch.start_ns);
}

void set_times(Implementation& out, const Process& process, const std::vector<Sequence>& iterations,
               Ground ground) {
    // Under counters kernels run one by one: what they take then is not the program's time.
    const bool counted = process.collection == Collection::counters;
    out.time = out.time_iqr =
        no_time(ground, counted ? no_time_under_counters(process) : "no start and end in the records");
    if (!has_times(process, ground)) return;
    double without = 0, all = 0;
    std::vector<double> totals;
    for (const Sequence& iteration : iterations) {
        double total = 0;
        for (const uint32_t l : iteration) {
            ++all;
            if (process.launches[l].start_ns)
                total += gpu_time(process.launches[l]);
            else
                ++without;
        }
        totals.push_back(total);
    }
    const Provenance computed{Source::computed, ground};
    if (all == 0 || without > 0) {
        const std::string why = all == 0 ? "no launches"
                                         : words::number(without) + " of " + words::number(all) +
                                               " launches have no start and end";
        out.time = out.time_iqr = Value::missing(why, Unit::nanoseconds, computed);
        return;
    }
    std::sort(totals.begin(), totals.end());
    out.time = Value::of(quantile(totals, 0.5), Unit::nanoseconds, computed,
                         "median of " + words::plural(double(totals.size()), "iteration") +
                             " of the sum of end - start over its launches");
    out.time_iqr = interquartile_range(totals, Unit::nanoseconds, computed);
    if (!out.iterations_equal) return;
    for (size_t i = 0; i < out.steps.size(); ++i) {
        std::vector<double> times;
        for (const Sequence& iteration : iterations)
            times.push_back(gpu_time(process.launches[iteration[i]]));
        std::sort(times.begin(), times.end());
        out.steps[i].time = Value::of(quantile(times, 0.5), Unit::nanoseconds, {Source::trace, ground},
                                      "median of " + words::plural(double(times.size()), "iteration"));
        out.steps[i].time_iqr = interquartile_range(times, Unit::nanoseconds, computed);
    }
}

}  // namespace attnscope
