#include "attnscope/policy.h"

#include "say.h"

namespace attnscope::gate {

bool matches(std::string_view pattern, std::string_view text) {
    size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::string Limit::bound() const {
    const GateMetric* known = find_gate_metric(metric);
    const Unit unit = known ? known->unit : Unit::none;
    std::string out;
    const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
    if (at_least) add("at least " + say_number(*at_least, unit));
    if (at_most) add("at most " + say_number(*at_most, unit));
    if (!is.empty()) add("is " + is);
    if (!is_not.empty()) add("is not " + is_not);
    if (may_worsen)
        add("may worsen by " + (may_worsen->relative ? say_number(100 * may_worsen->amount, Unit::percent)
                                                     : say_number(may_worsen->amount, unit)));
    if (ignore) add("not judged");
    return out;
}

std::string Limit::text() const {
    return metric + (kernel.empty() ? "" : " of " + kernel) +
           (implementation == "*" ? "" : " in " + implementation) + ": " + bound();
}

}  // namespace attnscope::gate
