#include "findings.h"

#include "analysis/words.h"
#include "rules/support.h"

namespace attnscope {
namespace comparing {
namespace {

struct Kind {
    const char* id;
    std::vector<Finding> (*find)(const Comparison&);
};

// What explains the others comes first.
constexpr Kind kKinds[] = {
    {"input-changed", input_changed},
    {"gpu-changed", gpu_changed},
    {"library-changed", library_changed},
    {"backend-changed", backend_changed},
    {"kernels-changed", kernels_changed},
    {"bound-broken", bound_broken},
    {"more-bytes-than-predicted", more_bytes_than_predicted},
    {"less-of-the-roof", less_of_the_roof},
};

}  // namespace

void add_both(Finding& finding, const Comparison& c, const FigurePair& figure) {
    finding.evidence.push_back(rule::evidence(figure.title + " in A", figure.a));
    finding.evidence.push_back(rule::evidence(figure.title + " in " + c.name_b, figure.b));
}

std::string run_again(const Comparison& c, const std::string& only) {
    if (!c.a->has_convention || !c.a->workload.has_shape())
        return "Run " + c.name_b + "'s program again with A's inputs, and compare once more.";
    return c.b->predicted() ? rule::attention_command(*c.a, only, "-o again")
                            : rule::real_attention_command(*c.a, only);
}

std::vector<std::string> other_causes(const Comparison& c) {
    std::vector<std::string> out;
    if (!c.inputs.empty()) out.push_back("The inputs are not the same: " + in_words(c.inputs) + ".");
    if (!c.machine.empty())
        out.push_back("The GPU or its driver is not the same: " + in_words(c.machine) + ".");
    return out;
}

std::string in_words(const std::vector<Difference>& differences) {
    std::vector<std::string> parts;
    for (const Difference& d : differences) parts.push_back(d.what + " " + d.a + " -> " + d.b);
    return words::join(parts, ", ");
}

}  // namespace comparing

std::vector<Finding> find_differences(const Comparison& comparison) {
    std::vector<Finding> out;
    for (const comparing::Kind& kind : comparing::kKinds)
        for (Finding& finding : kind.find(comparison)) {
            finding.id = kind.id;
            out.push_back(std::move(finding));
        }
    return out;
}

}  // namespace attnscope
