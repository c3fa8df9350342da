#include "limits.h"

namespace attnscope::gate {
namespace {

bool speaks_about(const Limit& limit, const Where& w) {
    if (!matches(limit.metric, w.metric->name) || !matches(limit.implementation, w.subject->name))
        return false;
    if (!w.part) return limit.kernel.empty();
    // Without a kernel a limit means the implementation, where that has such a value, else each of its parts.
    if (limit.kernel.empty()) return !w.metric->of_implementation;
    return matches(limit.kernel, w.part->name) || matches(limit.kernel, w.part->title());
}

}  // namespace

const Limit* Limits::relative(const Where& where) const {
    const Limit* last = nullptr;
    for (const Limit& limit : policy_.limits)
        if ((limit.may_worsen || limit.ignore) && speaks_about(limit, where)) last = &limit;
    return last;
}

Tolerance Limits::tolerance(const Where& where) {
    Tolerance out{relative(where), nullptr};
    if (where.metric->kind == MetricClass::counter)
        for (const Limit& limit : policy_.limits)
            if (limit.noise && speaks_about(limit, where)) out.noise = &limit;
    for (const Limit* limit : {out.relative, out.noise})
        if (limit) use(limit);
    return out;
}

bool Limits::ignored(const Where& where) {
    const Limit* limit = relative(where);
    if (!limit || !limit->ignore) return false;
    use(limit);
    return true;
}

std::vector<const Limit*> Limits::absolute(const Where& where) {
    std::vector<const Limit*> all;
    for (const Limit& limit : policy_.limits)
        if (limit.absolute() && speaks_about(limit, where)) {
            all.push_back(&limit);
            use(&limit);
        }
    return all;
}

void Limits::use(const Limit* limit) {
    used_[static_cast<size_t>(limit - policy_.limits.data())] = true;
}

std::vector<const Limit*> Limits::unused() const {
    std::vector<const Limit*> out;
    for (size_t i = 0; i < used_.size(); ++i)
        if (!used_[i]) out.push_back(&policy_.limits[i]);
    return out;
}

}  // namespace attnscope::gate
