// One rule's findings, or why it has none.
#include <algorithm>

#include "attnscope/explain.h"
#include "attnscope/rules.h"

namespace attnscope {
namespace {

std::string silence(const Rule& rule, const Analysis& a) {
    std::string text =
        std::string("The rule ") + rule.id + " looks for " + rule.title + ". It found nothing here";
    const bool applies =
        rule.applies == Applies::always || (rule.applies == Applies::predicted) == a.predicted();
    if (!applies) text += a.predicted() ? ": it needs a real GPU" : ": it speaks of virtual GPUs alone";
    text += ".";
    if (*rule.silent != '\0') text += std::string(" It stays silent where ") + rule.silent + ".";
    return text;
}

}  // namespace

std::vector<std::string> rule_names() {
    std::vector<std::string> names;
    for (const Rule& rule : rules()) names.emplace_back(rule.id);
    return names;
}

std::optional<Report> explain_finding(const Analysis& a, std::string_view name) {
    const auto rule =
        std::find_if(rules().begin(), rules().end(), [&](const Rule& r) { return r.id == name; });
    if (rule == rules().end()) return std::nullopt;
    const Report whole = build_report(a);
    Report r;
    r.title = std::string("Rule ") + rule->id + ": " + rule->title;
    r.predicted = whole.predicted;
    r.banner = whole.banner;
    r.strip = whole.strip;
    for (const Finding& finding : whole.findings)
        if (finding.id == name) r.findings.push_back(finding);
    if (r.findings.empty()) {
        r.answer = {silence(*rule, a)};
    } else if (*rule->silent != '\0') {
        r.answer = {std::string("It would stay silent where ") + rule->silent + "."};
    }
    return r;
}

}  // namespace attnscope
