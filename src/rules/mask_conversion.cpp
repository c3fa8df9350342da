#include <cmath>

#include "all.h"
#include "copies.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// What scaled_dot_product_attention makes of a mask before a fused kernel can read it.
struct Conversion {
    double launches = 0;
    double allocated = 0;              ///< bytes, of the tensors that it makes
    double distinct = 0, whole = 0;    ///< elements of the boolean mask: in memory, and as it was expanded
    double padded = 0, padded_to = 0;  ///< bytes of the padded copy; its number of columns
    double columns = 0;
};

double distinct_elements(const TensorInput& tensor) {
    double n = 1;
    for (size_t d = 0; d < tensor.sizes.size(); ++d)
        if (d >= tensor.strides.size() || tensor.strides[d] != 0) n *= double(tensor.sizes[d]);
    return n;
}

/// A mask is boolean for as long as it is not converted; then it has the queries' type.
const TensorInput* boolean(const std::vector<TensorInput>& tensors) {
    for (const TensorInput& t : tensors)
        if (t.dtype == "bool") return &t;
    return nullptr;
}

void add(const Step& step, Conversion& c) {
    const StepOrigin& o = step.origin;
    if (o.backward || !inside_sdpa(o) || o.under("aten::_scaled_dot_product_attention_math")) return;
    if (is_attention(step.role) || step.kind == LaunchKind::library_call) return;
    c.launches += double(step.times);  // what is no attention in there prepares the mask
    const std::string& name = o.operations.front();
    const auto inputs = tensors(o.inputs);
    const double times = double(step.times);
    if (name == "aten::logical_not" || name == "aten::where") {
        const TensorInput* mask = boolean(inputs);
        const auto elements = mask ? mask->elements() : std::nullopt;
        if (!elements) return;
        double size = 1;
        if (name == "aten::where")
            for (const TensorInput& t : inputs)
                if (t.dtype != "bool") size = std::max<double>(size, dtype_bytes(t.dtype));
        c.allocated += double(*elements) * size * times;
        if (name == "aten::logical_not" || c.whole == 0) {
            c.whole = double(*elements);
            c.distinct = distinct_elements(*mask);
        }
        return;
    }
    if (!o.under("aten::constant_pad_nd")) return;
    const auto copy = copy_of(step);
    if (!copy || copy->from.sizes.empty() || copy->from.sizes.back() == 0) return;
    c.columns = double(copy->from.sizes.back());
    c.padded_to = std::ceil(c.columns / 8) * 8;
    c.padded += copy->written / c.columns * c.padded_to;
    c.allocated += copy->written / c.columns * c.padded_to;
}

Finding finding(const Analysis& a, const Implementation& i, const Conversion& c) {
    Finding f;
    f.subject = i.title;
    f.severity = Severity::warning;
    f.claim = "Before the kernel of " + i.title + " can read the mask, scaled_dot_product_attention " +
              std::string(c.whole > 0 ? "makes numbers of its booleans" : "pads it") +
              " in every call: " + words::plural(c.launches, "launch") + ", for tensors of " +
              words::bytes(c.allocated) + "." +
              (c.whole > c.distinct && c.distinct > 0
                   ? " The mask is an expanded view of " + words::number(c.distinct) +
                         " values; the conversion writes all " + words::number(c.whole) + "."
                   : "") +
              (c.padded > 0 ? " Its rows of " + words::number(c.columns) + " are padded to " +
                                  words::number(c.padded_to) + ": a copy of " + words::bytes(c.padded) + "."
                            : "");
    f.evidence = {evidence("bytes that the conversion allocates", exact(c.allocated, Unit::bytes, a),
                           "0: a mask of the queries' type, its rows a multiple of 8"),
                  evidence("launches of the conversion", exact(c.launches, Unit::count, a), "0")};
    if (c.whole > 0) {
        f.evidence.push_back(evidence("elements converted", exact(c.whole, Unit::count, a),
                                      "distinct ones in memory: " + words::number(c.distinct)));
        f.evidence.push_back(evidence("distinct elements of the mask", exact(c.distinct, Unit::count, a)));
    }
    if (c.padded > 0) {
        f.evidence.push_back(evidence("bytes of the padded mask", exact(c.padded, Unit::bytes, a)));
        f.evidence.push_back(evidence("keys", exact(c.columns, Unit::count, a),
                                      "a multiple of 8 needs no copy: " + words::number(c.padded_to)));
    }
    if (i.least_bytes) f.evidence.push_back(evidence("least bytes of the attention", i.least_bytes));
    f.counter_evidence = {
        "A boolean mask is a quarter to a half of an additive one: what is kept small between calls is paid "
        "for "
        "in every call."};
    if (const std::string unknown = not_measured(a, "how long the conversion takes"); !unknown.empty())
        f.counter_evidence.push_back(unknown);
    Analysis additive = a;
    additive.workload.mask = "additive";
    if (c.padded > 0 && additive.workload.key_length == additive.workload.query_length)
        additive.workload.query_length = c.padded_to;
    if (c.padded > 0) additive.workload.key_length = c.padded_to;
    f.next_step = a.has_convention ? attention_command(additive, i.name, "-o additive-mask")
                                   : collect_command(a, a.predicted() ? "" : "real", "additive-mask");
    return f;
}

}  // namespace

std::vector<Finding> mask_conversion(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : ran(a)) {
        // Padding of the head dimension (flash takes no mask) is another rule's.
        bool masked = false;
        for (const Asked& one : asked(a))
            masked = masked || ((!one.implementation || one.implementation == i) && one.mask);
        if (!masked) continue;
        Conversion c;
        for (const Step& step : i->steps)
            if (!step.origin.operations.empty()) add(step, c);
        if (c.allocated > 0) out.push_back(finding(a, *i, c));
    }
    return out;
}

}  // namespace attnscope::rule
