#include <algorithm>
#include <set>

#include "all.h"
#include "copies.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// Copies that write less than this share of what attention must move anyway are worth a remark, not a
/// warning.
constexpr double kSmall = 0.1;

/// Elements of q, k and v of what this implementation was asked for.
std::set<double> tensor_sizes(const Analysis& a, const Implementation& i) {
    std::set<double> sizes;
    for (const Asked& one : asked(a)) {
        if (one.implementation && one.implementation != &i) continue;
        sizes.insert({one.queries(), one.keys(), one.repeated_keys()});
    }
    return sizes;
}

/// What masking, repeating and LibTorch's own padding and casts copy is told by other rules.
bool belongs_elsewhere(const Copy& copy) {
    const StepOrigin& o = copy.step->origin;
    return o.backward || inside_sdpa(o) || o.under("aten::masked_fill") ||
           o.under("aten::repeat_interleave") || copy.reason == CopyReason::expansion;
}

Finding finding(const Analysis& a, const Implementation& i, const std::vector<Copy>& extra) {
    double written = 0, read = 0, launches = 0, dense = 0, casts = 0;
    std::vector<std::string> callers;
    for (const Copy& copy : extra) {
        const double times = double(copy.step->times);
        launches += times;
        written += copy.written;
        read += tensor_bytes(copy.from).value_or(0) * times;
        if (copy.reason == CopyReason::dtype) casts += times;
        if (copy.reason == CopyReason::layout && !copy.from.strides.empty() && copy.from.strides.back() == 1)
            dense += times;
        const std::string& by = copy.step->origin.operations.back();
        if (std::find(callers.begin(), callers.end(), by) == callers.end()) callers.push_back(by);
    }
    const bool small = i.least_bytes && written < kSmall * *i.least_bytes.number;
    Finding f;
    f.subject = i.title;
    f.severity = small ? Severity::info : Severity::warning;
    f.claim = i.title + " copies inputs of attention with " + words::plural(launches, "launch") + " of " +
              words::join(callers) + ": " + words::bytes(written) + " are written, " + words::bytes(read) +
              " read.";
    f.evidence = {evidence("copies of q, k or v", exact(launches, Unit::count, a),
                           "0: attention reads its inputs where they are"),
                  evidence("bytes that the copies write", exact(written, Unit::bytes, a),
                           i.least_bytes ? "least bytes of the attention: " + words::say(i.least_bytes)
                                         : std::string()),
                  evidence("bytes that the copies read", exact(read, Unit::bytes, a))};
    if (casts > 0)
        f.evidence.push_back(evidence("of them casts to another type", exact(casts, Unit::count, a)));
    if (dense > 0)
        f.evidence.push_back(evidence("of them of tensors whose last dimension is dense already",
                                      exact(dense, Unit::count, a),
                                      "stride 1 there is all that flash, efficient and cuDNN ask for"));
    f.counter_evidence = {
        dense == launches ? "Nothing in the fused backends asks for these copies: strides of batch, heads "
                            "and length are free there."
                          : "A copy is right where every backend refuses the layout as it is (a last "
                            "dimension with a stride), or where many calls share it."};
    if (const std::string unknown = not_measured(a, "how long the copies take"); !unknown.empty())
        f.counter_evidence.push_back(unknown);
    Analysis without = a;
    without.workload.contiguous = false;
    f.next_step = a.has_convention ? attention_command(without, i.name, "-o without-copies")
                                   : collect_command(a, a.predicted() ? "" : "real", "without-copies");
    return f;
}

}  // namespace

std::vector<Finding> extra_copy(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : ran(a)) {
        const std::set<double> sizes = tensor_sizes(a, *i);
        std::vector<Copy> extra;
        for (Copy& copy : copies(*i)) {
            const auto elements = copy.to.elements();
            if (!belongs_elsewhere(copy) && elements && sizes.count(double(*elements)))
                extra.push_back(std::move(copy));
        }
        if (!extra.empty()) out.push_back(finding(a, *i, extra));
    }
    return out;
}

}  // namespace attnscope::rule
