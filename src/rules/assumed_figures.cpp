#include <algorithm>

#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> assumed_figures(const Analysis& a) {
    if (a.assumed.empty()) return {};
    const double n = double(a.assumed.size());
    std::vector<std::string> named(a.assumed.begin(),
                                   a.assumed.begin() + std::min<long>(5, long(a.assumed.size())));
    if (a.assumed.size() > named.size()) named.push_back(words::number(n - double(named.size())) + " more");
    Finding f;
    f.subject = a.device_name;
    f.severity = Severity::info;
    f.claim = "The program asked for " + words::plural(n, "device figure") +
              " that no public source gives, and was told an assumed one: " + words::join(named) + ".";
    f.evidence = {evidence("assumed figures asked for", Value::of(n, Unit::count, {Source::trace, a.ground}),
                           "0: all figures have a source")};
    f.counter_evidence = {
        "An assumed figure matters only where the program chooses a kernel or a grid by it."};
    f.next_step =
        "put the right figures into a copy of src/data/gpus.tsv and name it: ATTNSCOPE_GPUS=gpus.tsv " +
        (a.has_convention ? attention_command(a, "") : collect_command(a, "", "again"));
    return {f};
}

}  // namespace attnscope::rule
