// What limits occupancy: how near each limit of the SM is.
#include <algorithm>
#include <cmath>

#include "chart_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

constexpr const char* kLimits = "no further CTA fits";
constexpr const char* kRoom = "has room";

struct Limit {
    Limiter limiter;
    uint32_t Occupancy::*ctas;
};
constexpr Limit kAllLimits[] = {{Limiter::registers, &Occupancy::ctas_by_registers},
                                {Limiter::shared_memory, &Occupancy::ctas_by_shared_memory},
                                {Limiter::warps, &Occupancy::ctas_by_warps},
                                {Limiter::ctas, &Occupancy::ctas_by_ctas}};

bool same(const Step& x, const Step& y) {
    return x.name == y.name && std::all_of(std::begin(kAllLimits), std::end(kAllLimits), [&](const Limit& l) {
               return x.residency.*l.ctas == y.residency.*l.ctas;
           });
}

std::string sentence(const std::vector<std::pair<const Step*, std::vector<std::string>>>& kernels) {
    const auto& [step, titles] = *std::min_element(
        kernels.begin(), kernels.end(),
        [](const auto& x, const auto& y) { return *x.first->occupancy.number < *y.first->occupancy.number; });
    return "A full bar is a limit reached: " + step->limiter +
           (step->limiter == to_string(Limiter::shared_memory) ? " stops " : " stop ") + titles.front() +
           " at " + words::plural(*step->ctas_per_sm.number, "CTA") + " an SM, " +
           words::number(step->residency.warps_per_sm) + " of " +
           words::number(step->residency.max_warps_per_sm) + " warps.";
}

}  // namespace

Chart limits_chart(const Analysis&, const Drawn& of) {
    Chart c;
    c.id = "limits";
    c.title = "What limits occupancy";
    c.kind = Chart::Kind::bars;
    c.x = {"of each limit", Unit::percent, 0, 100, "as many CTAs as this limit alone allows on an SM", false};
    c.series = {kRoom, kLimits};
    std::vector<std::pair<const Step*, std::vector<std::string>>> kernels;
    std::string absent = "no kernel's occupancy is known";
    for (const Implementation* i : of.list) {
        const Step* step = i->lowest_occupancy();
        if (!step) {
            for (const Step& s : i->steps)
                if (s.is_kernel() && !s.occupancy.absent.empty()) absent = s.occupancy.absent;
            continue;
        }
        auto known = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const auto& k) { return same(*k.first, *step); });
        if (known == kernels.end()) known = kernels.insert(kernels.end(), {step, {}});
        known->second.push_back(i->title);
    }
    if (kernels.empty()) return chart::none(c, "Not known: " + absent + ".");
    for (const auto& [step, titles] : kernels) {
        const Occupancy& o = step->residency;
        for (const Limit& limit : kAllLimits) {
            const double allowed = o.*limit.ctas;
            const bool reached =
                std::find(o.limiters.begin(), o.limiters.end(), limit.limiter) != o.limiters.end();
            Chart::Point p;
            p.label = to_string(limit.limiter);
            p.series = reached ? kLimits : kRoom;
            p.group = words::join(titles) + ": " + step->name;
            p.measured = step->occupancy.provenance.ground != Ground::virtual_gpu;
            // What a kernel does not use at all sets no limit.
            if (allowed >= 2147483647)
                p.x = Value::missing("the kernel uses none", Unit::percent, step->occupancy.provenance);
            else {
                p.x = Value::of(100 * o.ctas_per_sm / allowed, Unit::percent, step->occupancy.provenance);
                p.note = words::number(o.ctas_per_sm) + " of " + words::plural(allowed, "CTA");
            }
            c.points.push_back(std::move(p));
        }
    }
    c.sentence = sentence(kernels);
    return c;
}

}  // namespace attnscope::parts
