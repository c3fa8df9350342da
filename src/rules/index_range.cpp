#include <cmath>

#include "all.h"
#include "asked.h"
#include "support.h"

namespace attnscope::rule {
namespace {

constexpr double kTwoTo32 = 4294967296.0;

}  // namespace

// PyTorch issue 187227: kernel_forward.h of the memory-efficient backend multiplies the row by the mask's row
// stride, and the row by the number of keys for dropout, in 32 bits. Rows from 2^32 / keys on read another
// row's mask, silently.
std::vector<Finding> index_range(const Analysis& a) {
    std::vector<Finding> out;
    for (const Asked& one : asked(a)) {
        if (one.backend != "efficient" || !(one.mask || one.dropout)) continue;
        const double products = one.query_length * one.key_length;
        if (products <= kTwoTo32) continue;
        const double first_wrong = std::floor(kTwoTo32 / one.key_length);
        Finding f;
        f.subject = one.who;
        f.severity = Severity::problem;
        f.claim = "The efficient backend finds a row of the " + std::string(one.mask ? "mask" : "dropout") +
                  " by a 32-bit product: " + words::number(one.query_length) + " queries x " +
                  words::number(one.key_length) + " keys are " + words::number(products) +
                  ", more than 2^32, so the results are wrong, silently, from query " +
                  words::number(first_wrong) + " on (PyTorch issue 187227).";
        f.evidence = {
            evidence("queries x keys", exact(products, Unit::count, a), "2^32 = 4,294,967,296"),
            evidence("first query with a wrong " + std::string(one.mask ? "mask" : "dropout"),
                     exact(first_wrong, Unit::count, a,
                           "2^32 / " + words::number(one.key_length) + ", rounded down")),
            evidence("queries with a wrong one", exact(one.query_length - first_wrong, Unit::count, a), "0")};
        f.counter_evidence = {
            "It was reported for LibTorch up to 2.14 (June 2026): a later one may compute the "
            "offset in 64 bits.",
            "Without a mask and without dropout no such product is made: is_causal has none.",
            "Queries are independent of one another: in parts of at most " + words::number(first_wrong) +
                " the results are right."};
        Analysis part = a;
        part.workload.query_length = first_wrong;
        f.next_step = a.has_convention && one.implementation
                          ? attention_command(part, one.implementation->name, "-o part-of-the-queries")
                          : collect_command(a, a.predicted() ? "" : "real", "part-of-the-queries");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
