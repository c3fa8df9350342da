#include "all.h"
#include "copies.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> mask_per_head(const Analysis& a) {
    std::vector<Finding> out;
    for (const Asked& one : asked(a)) {
        if (!one.mask || one.mask->sizes.size() != 4 || one.mask->strides.size() != 4) continue;
        if (a.has_convention && !out.empty()) break;  // the same mask through every implementation
        const TensorInput& m = *one.mask;
        double copies = 1;
        for (size_t d = 0; d < 2; ++d)
            if (m.strides[d] != 0) copies *= double(m.sizes[d]);
        const auto rows = tensor_bytes({m.dtype, {m.sizes[2], m.sizes[3]}, {}});
        if (copies <= 1 || !rows) continue;
        const double bytes = copies * *rows;
        Finding f;
        f.subject = a.has_convention ? "the mask" : one.who;
        f.severity = Severity::warning;
        f.claim = "The mask has " + words::number(copies) + " matrices of " +
                  words::number(double(m.sizes[2])) + " x " + words::number(double(m.sizes[3])) +
                  " in memory, one for each " +
                  (m.strides[0] == 0   ? "head"
                   : m.strides[1] == 0 ? "batch element"
                                       : "batch element and head") +
                  ": " + words::bytes(bytes) + ", where one is " + words::bytes(*rows) + ".";
        f.evidence = {
            evidence("bytes of the mask",
                     exact(bytes, Unit::bytes, a,
                           words::number(copies) + " matrices x " + words::number(*rows) + " bytes"),
                     "one matrix, broadcast: " + words::bytes(*rows)),
            evidence("matrices in the mask", exact(copies, Unit::count, a), "1 where all heads share it"),
            evidence("bytes for each head and batch element", exact(*rows, Unit::bytes, a))};
        f.counter_evidence = {
            "Where the heads' masks differ (a bias of each head, padding of each sequence), what differs "
            "must be "
            "there: only equal ones can be one matrix of size 1 x 1 x queries x keys.",
            "An expanded view takes no memory of its own, but a boolean one is converted at its full size."};
        Analysis shared = a;
        shared.workload.mask = "bool";
        f.next_step = a.has_convention
                          ? attention_command(shared, "sdpa_efficient,sdpa_auto", "-o shared-mask")
                          : collect_command(a, a.predicted() ? "" : "real", "shared-mask");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
