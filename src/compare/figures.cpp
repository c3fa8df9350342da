#include "figures.h"

#include <cmath>

#include "analysis/models.h"

namespace attnscope {
namespace comparing {
namespace {

Relation relation(double a, double b) {
    return a == b ? Relation::equal : b < a ? Relation::less : Relation::more;
}

}  // namespace

FigurePair exact(const char* id, const char* title, const Value& a, const Value& b) {
    FigurePair f{id, title, a, b, Relation::unknown, {}};
    if (a && b) f.relation = relation(*a.number, *b.number);
    return f;
}

FigurePair measured(const char* id, const char* title, const Value& a, const Value& spread_a, const Value& b,
                    const Value& spread_b) {
    FigurePair f = exact(id, title, a, b);
    if (f.relation != Relation::less && f.relation != Relation::more) return f;
    const double apart = std::fabs(*b.number - *a.number);
    if (!spread_a || !spread_b) {
        f.relation = Relation::not_told_apart;
        f.note = "no spread is known: " + (spread_a ? spread_b.absent : spread_a.absent);
    } else if (apart <= *spread_a.number + *spread_b.number) {
        f.relation = Relation::not_told_apart;
        f.note = "the difference is within the spreads";
    }
    return f;
}

FigurePair counter(const char* id, const char* title, const char* role, const std::vector<Measured>& a,
                   const std::vector<Measured>& b) {
    static const Measured none{{}, Value::missing("not asked for"), Value::missing("not asked for")};
    const Measured *x = find_role(a, role), *y = find_role(b, role);
    if (!x) x = &none;
    if (!y) y = &none;
    return measured(id, title, x->value, x->spread, y->value, y->spread);
}

namespace {

Value occupancy(const Implementation& i) {
    if (const Step* lowest = i.lowest_occupancy()) return lowest->occupancy;
    return Value::missing(i.registers ? "block or device limits are not in the run" : i.registers.absent,
                          Unit::percent);
}

/// The relative spread of a quotient is that of its divisor.
Value share_spread(const Implementation& i, const Value& share) {
    if (!share || !i.time_iqr)
        return Value::missing(share ? i.time_iqr.absent : share.absent, Unit::percent, share.provenance);
    return Value::of(*share.number * *i.time_iqr.number / *i.time.number, Unit::percent, share.provenance);
}

}  // namespace

std::vector<FigurePair> figures(const Implementation& a, const Implementation& b) {
    const Value share_a = share_of_bound(a), share_b = share_of_bound(b);
    return {
        measured("time", "GPU time", a.time, a.time_iqr, b.time, b.time_iqr),
        exact("bound", "time bound", a.prediction.bound, b.prediction.bound),
        measured("share_of_bound", "bound / time", share_a, share_spread(a, share_a), share_b,
                 share_spread(b, share_b)),
        exact("launches", "launches", a.launches, b.launches),
        exact("kernels", "kernels", a.kernels, b.kernels),
        exact("library_calls", "library calls", a.library_calls, b.library_calls),
        exact("copied_bytes", "copied", a.copied_bytes, b.copied_bytes),
        exact("score_bytes", "score bytes", a.score_bytes, b.score_bytes),
        exact("least_dram_bytes", "least DRAM bytes", a.prediction.dram_bytes, b.prediction.dram_bytes),
        counter("dram_bytes", "DRAM bytes", counter_role::kDramBytes, a.counters, b.counters),
        counter("tensor_pipe", "tensor pipe", counter_role::kTensorPipe, a.counters, b.counters),
        counter("achieved_occupancy", "achieved occupancy", counter_role::kAchievedOccupancy, a.counters,
                b.counters),
        exact("theoretical_occupancy", "theoretical occupancy", occupancy(a), occupancy(b)),
        exact("registers", "registers", a.registers, b.registers),
        exact("shared", "shared memory", a.shared, b.shared),
        exact("peak_memory", "peak memory", a.peak_memory, b.peak_memory),
        exact("useful_flops", "useful FLOP", a.flops, b.flops),
    };
}

}  // namespace comparing

const char* to_string(Relation relation) {
    static constexpr const char* names[] = {"equal", "less", "more", "not told apart", "unknown"};
    return names[static_cast<size_t>(relation)];
}

Value FigurePair::difference() const {
    const Provenance from{Source::computed, weaker(a.provenance.ground, b.provenance.ground)};
    if (!a || !b) return Value::missing(a ? b.absent : a.absent, a.unit, from);
    return Value::of(*b.number - *a.number, b.unit, from);
}

Value FigurePair::relative() const {
    Value out = difference();
    out.unit = Unit::percent;
    if (out && *a.number == 0) return Value::missing("of 0", Unit::percent, out.provenance);
    if (out) *out.number *= 100 / std::fabs(*a.number);
    return out;
}

std::optional<double> FigurePair::ratio() const {
    if (!a || !b || *a.number == 0) return std::nullopt;
    return *b.number / *a.number;
}

}  // namespace attnscope
