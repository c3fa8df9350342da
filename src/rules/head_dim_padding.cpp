#include <algorithm>
#include <cmath>

#include "all.h"
#include "copies.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// Below this share of useful products the padding is a warning.
constexpr double kUsefulShare = 0.9;

struct Padding {
    double head_dim = 0;
    double width = 0;  ///< what the kernel multiplies
    double copies = 0, written = 0;
    double launches = 0;  ///< the copies, and what fills the columns beside them
    const Step* kernel = nullptr;
};

/// scaled_dot_product_attention pads the last dimension of q, k and v to a multiple of 8 for flash.
void add_copies(const Implementation& i, Padding& p) {
    for (const Step& step : i.steps)
        if (!step.origin.backward && inside_sdpa(step.origin) && step.origin.under("aten::constant_pad_nd"))
            p.launches += double(step.times);
    for (const Copy& copy : copies(i)) {
        const StepOrigin& o = copy.step->origin;
        if (o.backward || !inside_sdpa(o) || !o.under("aten::constant_pad_nd")) continue;
        if (copy.from.sizes.empty() || double(copy.from.sizes.back()) != p.head_dim) continue;
        const double padded = std::ceil(p.head_dim / 8) * 8;
        p.copies += double(copy.step->times);
        p.written += copy.written / p.head_dim * padded;
        p.width = std::max(p.width, padded);
    }
}

/// The head dimension that the kernel is compiled for, where its name holds one.
void add_kernel(const Implementation& i, Padding& p) {
    for (const Step& step : i.steps) {
        if (!step.decoded || !step.decoded->head_dim) continue;
        const AttentionKernelName& name = *step.decoded;
        if (name.library != AttentionKernelName::Library::flash2 &&
            name.library != AttentionKernelName::Library::flash3)
            continue;  // the efficient kernels walk the head dimension in steps: their bucket is no width
        if (name.part != AttentionKernelName::Part::forward &&
            name.part != AttentionKernelName::Part::split_forward)
            continue;
        if (*name.head_dim > p.width) {
            p.width = *name.head_dim;
            p.kernel = &step;
        }
    }
}

Finding finding(const Analysis& a, const Implementation& i, const Padding& p) {
    const double share = p.head_dim / p.width;
    Finding f;
    f.subject = i.title;
    f.severity = p.copies > 0 || share < kUsefulShare ? Severity::warning : Severity::info;
    f.claim = "head_dim " + words::number(p.head_dim) + " is computed as " + words::number(p.width) + ": " +
              words::percent(100 * share) + " of the products are useful." +
              (p.copies > 0 ? " To pad q, k and v, scaled_dot_product_attention first makes " +
                                  words::plural(p.copies, "copy") + " of " + words::bytes(p.written) + "."
                            : "");
    f.evidence = {
        evidence("head_dim", exact(p.head_dim, Unit::count, a)),
        evidence("head_dim that is computed",
                 Value::of(p.width, Unit::count, {p.kernel ? Source::trace : Source::computed, a.ground},
                           p.kernel ? "from the kernel's name" : "padded to a multiple of 8"),
                 "FlashAttention 2 has kernels for 32, 64, 96, 128, 192 and 256"),
        evidence(
            "useful share of the products",
            exact(100 * share, Unit::percent, a, words::number(p.head_dim) + " / " + words::number(p.width)),
            "warned of below " + words::percent(100 * kUsefulShare))};
    if (p.copies > 0) {
        f.evidence.push_back(evidence("copies that pad q, k and v", exact(p.copies, Unit::count, a),
                                      "0: a head_dim that is a multiple of 8"));
        f.evidence.push_back(evidence("launches for the padding", exact(p.launches, Unit::count, a), "0"));
        f.evidence.push_back(
            evidence("bytes of the padded copies", exact(p.written, Unit::bytes, a),
                     i.least_bytes ? "least bytes: " + words::say(i.least_bytes) : std::string()));
    }
    if (i.flops) f.evidence.push_back(evidence("useful FLOP", i.flops));
    if (i.prediction.executed_flops)
        f.evidence.push_back(
            evidence("executed FLOP", i.prediction.executed_flops, "whole tiles, of the padded width"));
    f.counter_evidence = {
        "Where memory limits, products with zeros cost nothing; they cost where the tensor cores limit."};
    Analysis wide = a;
    wide.workload.head_dim = p.width;
    f.next_step = a.has_convention ? attention_command(wide, i.name, "-o whole-head-dim")
                                   : collect_command(a, a.predicted() ? "" : "real", "whole-head-dim");
    return f;
}

}  // namespace

std::vector<Finding> head_dim_padding(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : ran(a))
        for (const Asked& one : asked(a)) {
            if (one.head_dim < 1 || (one.implementation && one.implementation != i)) continue;
            Padding p;
            p.head_dim = one.head_dim;
            add_copies(*i, p);
            // A group of launches may hold several calls: its kernels belong to the shape only if it is one.
            if (one.implementation == i && a.has_convention) add_kernel(*i, p);
            if (p.width > p.head_dim) {
                out.push_back(finding(a, *i, p));
                break;
            }
        }
    return out;
}

}  // namespace attnscope::rule
