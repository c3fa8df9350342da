#include <algorithm>

#include "all.h"
#include "asked.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> causal_alignment(const Analysis& a) {
    std::vector<Finding> out;
    for (const Asked& one : asked(a)) {
        if (!one.causal || one.query_length == one.key_length || one.query_length < 1) continue;
        // The same problem through every implementation is one finding.
        if (a.has_convention && !out.empty()) break;
        const double last = std::min(one.query_length, one.key_length), unseen = one.key_length - last;
        Finding f;
        f.subject = a.has_convention ? "is_causal" : one.who;
        f.severity = Severity::warning;
        f.claim =
            "is_causal with " + words::plural(one.query_length, "query") + " on " +
            words::plural(one.key_length, "key") +
            " is aligned upper left: query i sees the keys 0 to i, so the last query sees " +
            words::plural(last, "key") +
            (unseen > 0 ? ", and " + words::plural(unseen, "key") +
                              " at the end are seen by no query. "
                              "With a cache of earlier keys the other alignment is meant (the last query "
                              "sees all)."
                        : ". Every query beyond it sees all keys.");
        f.evidence = {
            evidence("queries", exact(one.query_length, Unit::count, a)),
            evidence("keys", exact(one.key_length, Unit::count, a), "as many as queries: no question"),
            evidence("keys that no query sees", exact(unseen, Unit::count, a), "0")};
        const std::string* refused = a.choice.why_not("flash");
        if (const AttentionChoice::Backend* flash =
                one.call ? find_backend(one.call->choice, "flash") : nullptr;
            flash && !flash->refused.empty())
            refused = &flash->refused.front();
        f.counter_evidence = {
            "Upper left is right where queries and keys begin at the same position, as in the first part of "
            "a "
            "longer sequence."};
        if (refused) f.counter_evidence.push_back("LibTorch refuses flash here: \"" + *refused + "\"");
        Analysis with_mask = a;
        with_mask.workload.causal = false;
        with_mask.workload.mask = "bool";
        f.next_step = a.has_convention
                          ? attention_command(with_mask, "sdpa_efficient,sdpa_auto", "-o explicit-mask")
                          : collect_command(a, a.predicted() ? "" : "real", "explicit-mask");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
