#include <set>

#include "all.h"
#include "attnscope/kernel_name.h"
#include "support.h"

namespace attnscope::rule {
namespace {

Finding finding(const Analysis& a, const Implementation& i, const Step& step, Value expected) {
    expected.provenance.ground = a.ground;
    Finding f;
    f.subject = i.title;
    f.severity = Severity::warning;
    f.claim = kernel_words(i, step) + " is launched with " + words::bytes(*step.dynamic_shared.number) +
              " of dynamic shared memory, but the tile in its name needs " + words::bytes(*expected.number) +
              " (" + step.decoded->tile_words() + "): what is said here of its tile may not hold.";
    f.evidence = {evidence("dynamic shared memory", step.dynamic_shared, "as launched"),
                  evidence("dynamic shared memory of its tile", expected, expected.formula)};
    f.counter_evidence = {
        "The layout of shared memory is FlashAttention 2's as LibTorch 2.11 has it: another version may keep "
        "more or less there under the same name."};
    f.next_step =
        a.has_convention ? attention_command(a, i.name, "-o shared") : collect_command(a, "", "shared");
    return f;
}

}  // namespace

std::vector<Finding> shared_bytes_differ(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        std::set<std::string> told;
        for (const Step& step : i->steps) {
            if (!step.decoded || !step.dynamic_shared) continue;
            const Value expected = expected_shared_bytes(*step.decoded);
            if (expected && *expected.number != *step.dynamic_shared.number &&
                told.insert(step.full_name).second)
                out.push_back(finding(a, *i, step, expected));
        }
    }
    return out;
}

}  // namespace attnscope::rule
