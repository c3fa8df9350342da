// Occupancy against throughput: what many resident warps are good for, and what not.
#include <algorithm>
#include <cmath>

#include "chart_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

using chart::bare;

/// Which occupancy stands for an implementation of several kernels: one definition for a whole picture.
enum class Which { achieved, weighted, lowest };

/// Theoretical occupancy, each kernel with the weight of its time.
Value weighted_occupancy(const Implementation& i) {
    double sum = 0, time = 0;
    Value out = Value::missing("not every kernel has a time and an occupancy", Unit::percent,
                               {Source::computed, i.time.provenance.ground});
    for (const Step& s : i.steps) {
        if (!s.is_kernel()) continue;
        if (!s.time || !s.occupancy) return out;
        sum += *s.occupancy.number * *s.time.number;
        time += *s.time.number;
    }
    if (!(time > 0)) return out;
    return Value::of(sum / time, Unit::percent, out.provenance);
}

Value occupancy(const Implementation& i, Which which) {
    if (which == Which::achieved) return bare(i.counter(counter_role::kAchievedOccupancy));
    if (which == Which::weighted) return weighted_occupancy(i);
    if (const Step* s = i.lowest_occupancy()) return bare(s->occupancy);
    return Value::missing(i.registers.absent.empty() ? "no kernel's occupancy is known" : i.registers.absent,
                          Unit::percent, {Source::computed, i.launches.provenance.ground});
}

Which which_of(const Drawn& of) {
    for (const Which which : {Which::achieved, Which::weighted})
        if (std::all_of(of.list.begin(), of.list.end(),
                        [&](const Implementation* i) { return bool(occupancy(*i, which)); }))
            return which;
    return Which::lowest;
}

const char* title_of(Which which) {
    return which == Which::achieved   ? "achieved occupancy"
           : which == Which::weighted ? "theoretical occupancy, kernels weighted by time"
                                      : "lowest theoretical occupancy of its kernels";
}

/// The fused kernels' bargain; empty where it is not what happens.
std::string why(const Drawn& of, const std::string& fastest) {
    for (const Implementation* i : of.list) {
        const Step* kernel = i->lowest_occupancy();
        if (i->title == fastest && i->fused() && kernel &&
            kernel->limiter.find("registers") != std::string::npos)
            return " The registers that leave no room for more warps hold its scores: they never go to "
                   "memory.";
    }
    return {};
}

/// Of those that have both numbers by one kind of time: the fastest against what has more occupancy.
std::string sentence(const Drawn& of, const std::vector<Chart::Point>& points) {
    std::vector<const Chart::Point*> shown;
    for (const std::string& series : chart::kinds_of_time()) {
        shown.clear();
        for (const Chart::Point& p : points)
            if (p.series == series && p.x && p.y) shown.push_back(&p);
        if (shown.size() > 1) break;
    }
    if (shown.size() < 2) return "One implementation has both numbers: nothing to compare it with.";
    const auto less = [](const Chart::Point* x, const Chart::Point* y) {
        return *x->y.number < *y->y.number;
    };
    std::stable_sort(shown.begin(), shown.end(), [&](const auto* x, const auto* y) { return less(y, x); });
    // Of equal bounds the one with the least occupancy shows most.
    const double best = *shown.front()->y.number * 0.99;
    const Chart::Point* fast =
        *std::min_element(shown.begin(), shown.end(), [&](const auto* x, const auto* y) {
            const bool x_best = *x->y.number >= best, y_best = *y->y.number >= best;
            return x_best != y_best ? x_best : x_best && *x->x.number < *y->x.number;
        });
    const bool bound = fast->series == "bound";
    std::vector<std::string> parts;
    const auto add = [&](const Chart::Point& p) {
        const double share = *p.y.number / *fast->y.number;
        const bool same = bound && share > 0.99;
        const std::string occupancy = words::times(*p.x.number / *fast->x.number);
        const std::string reached = same ? "the same bound" : words::percent(std::round(share * 100));
        if (parts.empty())
            parts.push_back(p.label + " has " + occupancy + " the occupancy of " + fast->label + " and " +
                            reached + (same ? "" : " of its throughput") +
                            (bound && !same ? " at best" : ""));
        else
            parts.push_back(p.label + " " + occupancy + " and " + reached);
    };
    const Chart::Point *first = nullptr, *last = nullptr;
    for (const Chart::Point* p : shown)
        if (*p->x.number > *fast->x.number * 1.01) {
            if (!first) first = p;
            last = p;
        }
    if (!first || *fast->x.number <= 0)
        return "Here the fastest, " + fast->label +
               ", has the highest occupancy too: that alone does not make it the cause.";
    add(*first);
    if (last != first) add(*last);
    std::string text = "More occupancy is not more throughput: " + words::join(parts, "; ", "; ");
    if (fast->series == "published") text += " (published times)";
    return text + "." + why(of, fast->label);
}

}  // namespace

Chart throughput_chart(const Analysis& a, const Drawn& of) {
    Chart c;
    c.id = "occupancy-throughput";
    c.title = "Occupancy against throughput";
    c.kind = Chart::Kind::scatter;
    const Which which = which_of(of);
    c.x = {title_of(which), Unit::percent, 0, 100, "all warps that an SM can hold", false};
    c.y = chart::throughput_axis();
    c.series = chart::kinds_of_time();
    double least = 0, most = 0;
    const auto add = [&](const Implementation& i, const Value& time, const std::string& series) {
        Chart::Point p = chart::throughput_point(i, series, occupancy(i, which), time);
        if (p.x && p.y && *p.y.number > 0) {
            least = least == 0 ? *p.y.number : std::min(least, *p.y.number);
            most = std::max(most, *p.y.number);
        }
        c.points.push_back(std::move(p));
    };
    for (const Implementation* i : of.list) {
        const chart::Time time = chart::time_of(a, *i);
        // A bound beside a time of the same run says nothing new here; the roofline has both.
        if (!i->time) add(*i, i->prediction.bound, "bound");
        if (time.value) add(*i, time.value, time.series);
    }
    if (most == 0)
        return chart::none(c,
                           "No implementation has both an occupancy and a time or a bound: " +
                               (c.points.empty() || c.points.front().y ? std::string("occupancy is not known")
                                                                       : c.points.front().y.absent) +
                               ".");
    c.sentence = sentence(of, c.points);
    const Prediction* roof = chart::highest_roof(of);
    c.y.log = most > 10 * least;
    if (roof) most = std::max(most, *roof->roof.number);
    c.y.full = 1.4 * most;
    if (c.y.log) c.y.from = least / 2;
    if (roof) {
        c.y.scale += "; the line is the peak of the " + roof->roof_name;
        c.lines.push_back(
            {roof->roof_name, bare(roof->roof), 0, *roof->roof.number, 100, *roof->roof.number});
    }
    return c;
}

}  // namespace attnscope::parts
