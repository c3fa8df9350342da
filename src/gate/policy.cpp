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

namespace {

/// With the words of a sentence, or the signs of a cell.
std::string bound_of(const Limit& limit, bool cell) {
    const GateMetric* known = find_gate_metric(limit.metric);
    const Unit unit = known ? known->unit : Unit::none;
    const auto amount = [&](double value, Unit its) {
        return cell ? say_short(value, its) : say_number(value, its);
    };
    const auto allowed = [&](const Allowance& a) {
        return a.relative ? amount(100 * a.amount, Unit::percent) : amount(a.amount, unit);
    };
    std::string out;
    const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
    if (limit.at_least) add((cell ? "≥ " : "at least ") + amount(*limit.at_least, unit));
    if (limit.at_most) add((cell ? "≤ " : "at most ") + amount(*limit.at_most, unit));
    if (!limit.is.empty()) add("is " + limit.is);
    if (!limit.is_not.empty()) add((cell ? "not " : "is not ") + limit.is_not);
    if (limit.may_worsen) add((cell ? "± " : "may worsen by ") + allowed(*limit.may_worsen));
    if (limit.noise) add((cell ? "noise " : "noise up to ") + amount(100 * *limit.noise, Unit::percent));
    if (limit.ignore) add("not judged");
    return out;
}

}  // namespace

std::string Limit::bound() const {
    return bound_of(*this, false);
}

std::string Limit::cell() const {
    return bound_of(*this, true);
}

std::string Limit::text() const {
    return metric + (kernel.empty() ? "" : " of " + kernel) +
           (implementation == "*" ? "" : " in " + implementation) + ": " + bound();
}

}  // namespace attnscope::gate
