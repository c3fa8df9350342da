#include <cmath>

#include "all.h"
#include "asked.h"
#include "support.h"

namespace attnscope::rule {
namespace {

using Version = std::pair<int, int>;

/// Wrong results of cuDNN's attention that were published, with the versions and conditions they were seen
/// with. A speed of a wrong result is no speed; other versions are not accused.
struct Known {
    Version first, last;  ///< of cuDNN, both included
    int major, minor;     ///< compute capability
    const char* what;     ///< ends the sentence "cuDNN 9.19 is known to ..."
    const char* source;
    const char* number;  ///< what of the shape makes it happen
    const char* threshold;
    double (*value)(const Asked&);
    bool (*condition)(const Asked&);
    const char* but;  ///< what speaks against it here
};

bool queries_or_keys(const Asked& one, double (*of)(double), double is) {
    return of(one.query_length) == is || of(one.key_length) == is;
}

const Known kKnown[] = {
    {{9, 19},
     {9, 19},
     10,
     0,
     "give wrong results with fewer than 8 key and value heads",
     "PyTorch issue 193893 (B200, LibTorch 2.11: a benchmark fell from 82.8 to 46.4)",
     "key and value heads",
     "fewer than 8",
     [](const Asked& one) { return one.kv_heads; },
     [](const Asked& one) { return one.grouped() && one.kv_heads < 8; },
     "The report saw it with 4 and fewer, and not with 8; grouped heads were in all its cases."},
    {{9, 19},
     {9, 19},
     9,
     0,
     "give NaN as the gradient of q with an explicit mask where a length is 64 more than a multiple of 128",
     "PyTorch issue 196678 (H100 and H200, since LibTorch 2.11)",
     "key length modulo 128",
     "64",
     [](const Asked& one) { return std::fmod(one.key_length, 128); },
     [](const Asked& one) {
         return one.mask && one.backward &&
                queries_or_keys(
                    one, [](double n) { return std::fmod(n, 128); }, 64);
     },
     "It needs rows whose log-sum-exp is below -88.7 too, which depends on the values: most inputs are not "
     "hit."},
    {{9, 26},
     {9, 26},
     9,
     0,
     "give NaN as the gradients of k and v with a single query",
     "cudnn-frontend issue 1072 (H200, cuDNN 9.26.0)",
     "queries",
     "1",
     [](const Asked& one) { return one.query_length; },
     [](const Asked& one) { return one.backward && one.query_length == 1 && one.key_length >= 128; },
     "It needs rows whose log-sum-exp is strongly negative, which depends on the values."},
};

}  // namespace

std::vector<Finding> known_wrong_results(const Analysis& a) {
    std::vector<Finding> out;
    const auto cudnn = library_version(a, "cudnn");
    if (!cudnn || !a.device || !a.device->major || !a.device->minor) return out;
    const std::string version = words::number(cudnn->first) + "." + words::number(cudnn->second);
    for (const Asked& one : asked(a)) {
        if (one.backend != "cudnn") continue;
        if (one.implementation && one.implementation->status != ImplementationStatus::ran) continue;
        for (const Known& known : kKnown) {
            if (*cudnn < known.first || known.last < *cudnn) continue;
            if (int(*a.device->major) != known.major || int(*a.device->minor) != known.minor) continue;
            if (!known.condition(one)) continue;
            Finding f;
            f.subject = one.who;
            f.severity = Severity::problem;
            f.claim = "cuDNN " + version + " is known to " + known.what + ": " + known.source +
                      ". Check the results before their speed.";
            f.evidence = {evidence(known.number, exact(known.value(one), Unit::count, a),
                                   std::string(known.threshold) + ", with cuDNN " + version)};
            f.counter_evidence = {known.but,
                                  "attnscope did not see a wrong result here: it knows the version "
                                  "and the shape."};
            f.next_step = a.has_convention
                              ? attention_command(a,
                                                  one.implementation ? "sdpa_math," + one.implementation->name
                                                                     : std::string("sdpa_math"),
                                                  "--device real -o checked")
                              : collect_command(a, "real", "checked");
            out.push_back(f);
        }
    }
    return out;
}

}  // namespace attnscope::rule
