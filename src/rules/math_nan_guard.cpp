#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> math_nan_guard(const Analysis& a) {
    const Implementation* math = math_backend(a);
    if (!math) return {};
    // _safe_softmax: which rows are all -inf, and zeros for them. The second and later `where` and the fills
    // belong to the mask as well, so only the kernels that nothing else launches are counted.
    const double tests = count(*math, Role::isneginf), rows = count(*math, Role::all_reduce),
                 selects = count(*math, Role::where);
    if (tests == 0 || rows == 0) return {};
    const double selected = selects > 0 ? 1 : 0;
    const double guard = tests + rows + selected;
    Finding f;
    f.subject = math->title;
    f.severity = Severity::info;
    f.claim = "After the softmax, math launches at least " + words::plural(guard, "kernel") +
              " only to guard against rows that are masked entirely (their softmax is 0/0 = NaN): is -inf?, "
              "all of a row?" +
              (selected > 0 ? ", where." : ".");
    f.evidence = {evidence("kernels of the guard",
                           exact(guard, Unit::count, a,
                                 words::number(tests) + " isneginf + " + words::number(rows) + " all + " +
                                     words::number(selected) + " where"),
                           "0: a plain softmax"),
                  evidence("kernels of " + math->title, math->kernels)};
    // By the model of the method that ran: its kernels of this name, in its own precision.
    double per_score = 0;
    for (const ModelKernel& kernel : math->prediction.kernels)
        if (kernel.name == "NaN guard") per_score += kernel.score_read + kernel.score_write;
    if (const auto scores = a.workload.score_elements(); scores && per_score > 0)
        f.evidence.push_back(evidence(
            "score-matrix bytes of the guard",
            Value::of(*scores * per_score * a.workload.layer_count(), Unit::bytes, {Source::model, a.ground},
                      words::number(*scores * a.workload.layer_count()) + " scores x " +
                          words::number(per_score) + " bytes (is -inf, all of a row, where)"),
            "of " + words::say(math->score_bytes)));
    f.counter_evidence = {a.workload.causal.value_or(false)
                              ? "A causal mask leaves every row its own key, so no row is masked entirely: "
                                "here the guard changes no result."
                              : "With a mask of your own a row can be masked entirely: then the guard is "
                                "what keeps NaN out of the output."};
    f.next_step = attention_command(a, "sdpa_math,sdpa_flash,sdpa_efficient", "-o guard");
    return {f};
}

}  // namespace attnscope::rule
