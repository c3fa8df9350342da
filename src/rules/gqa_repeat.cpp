#include "all.h"
#include "copies.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// How often each value is written, by a copy of an expanded view.
double repeats(const Copy& copy) {
    double times = 1;
    for (size_t d = 0; d < copy.from.strides.size(); ++d)
        if (copy.from.strides[d] == 0 && copy.from.sizes[d] > 1) times *= double(copy.from.sizes[d]);
    return times;
}

/// Keys or values, written out once for each query head.
bool repeats_heads(const Analysis& a, const Implementation& i, const Copy& copy) {
    if (copy.reason != CopyReason::expansion || copy.step->origin.backward || copy.to.sizes.size() < 4)
        return false;
    const auto elements = copy.to.elements();
    for (const Asked& one : asked(a))
        if ((!one.implementation || one.implementation == &i) && elements &&
            double(*elements) == one.repeated_keys() && double(copy.to.sizes.back()) == one.head_dim)
            return true;
    return false;
}

}  // namespace

std::vector<Finding> gqa_repeat(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : ran(a)) {
        double written = 0, themselves = 0, launches = 0, times = 0;
        bool inside = true;
        for (const Copy& copy : copies(*i)) {
            if (!repeats_heads(a, *i, copy)) continue;
            launches += double(copy.step->times);
            written += copy.written;
            themselves += copy.written / repeats(copy);
            times = repeats(copy);
            inside = inside && inside_sdpa(copy.step->origin);
        }
        if (launches == 0) continue;
        Finding f;
        f.subject = i->title;
        f.severity = Severity::warning;
        f.claim = i->title + " writes keys and values out " + words::number(times) +
                  " times, once for each " + "query head of a group: " + words::plural(launches, "copy") +
                  ", " + words::bytes(written) + " where the keys and values themselves are " +
                  words::bytes(themselves) + "." +
                  (inside ? " LibTorch does it inside scaled_dot_product_attention." : "");
        f.evidence = {evidence("bytes of the repeated keys and values", exact(written, Unit::bytes, a),
                               "the keys and values themselves: " + words::bytes(themselves)),
                      evidence("times each is written", exact(times, Unit::count, a),
                               "1: a kernel that takes grouped heads reads them where they are"),
                      evidence("copies", exact(launches, Unit::count, a), "0")};
        f.counter_evidence = {
            "A backend that takes no grouped heads (efficient of LibTorch 2.11 refuses them) "
            "needs the copy; what counts is then the copy against the other backend.",
            "Repeated keys that several heads read at about the same time may stay in the L2 "
            "cache: the reads cost less than their bytes, the copies do not."};
        Analysis grouped = a;
        grouped.workload.repeat_kv = false;
        f.next_step = a.has_convention
                          ? attention_command(grouped, "sdpa_flash,sdpa_cudnn,sdpa_auto", "-o grouped")
                          : collect_command(a, a.predicted() ? "" : "real", "grouped");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
