// What the rules say of one run and not of the other.
#include <algorithm>
#include <map>
#include <set>

#include "attnscope/compare.h"
#include "attnscope/rules.h"

namespace attnscope {
namespace {

using Kind = FindingChange::Kind;

/// Rules that can say something of both runs.
std::set<std::string> common_rules(const Comparison& c) {
    std::set<std::string> out;
    for (const Rule& rule : rules()) {
        const auto applies = [&](const Analysis& a) {
            return rule.applies == Applies::always || (rule.applies == Applies::predicted) == a.predicted();
        };
        if (applies(*c.a) && applies(*c.b)) out.insert(rule.id);
    }
    return out;
}

/// The titles that a subject joins: "naive, sdpa_math and sdpa_flash". Empty where one of them is no
/// implementation.
std::vector<std::string> joined(const Analysis& analysis, const std::string& subject) {
    std::vector<std::string> out;
    for (size_t at = 0; at <= subject.size();) {
        const size_t comma = subject.find(", ", at), last = subject.find(" and ", at);
        const size_t end = std::min({comma, last, subject.size()});
        out.push_back(subject.substr(at, end - at));
        at = end == subject.size() ? end + 1 : end + (end == comma ? 2 : 5);
    }
    for (const std::string& title : out)
        if (std::none_of(analysis.implementations.begin(), analysis.implementations.end(),
                         [&](const Implementation& i) { return i.title == title; }))
            return {};
    return out;
}

/// By rule and by what they are about, in B's words. One about several implementations is the same finding
/// when it is about more of them or fewer.
using Keyed = std::vector<std::pair<std::string, Finding>>;

Keyed keyed(const Comparison& c, const Analysis& analysis) {
    std::map<std::string, std::string> titles;
    for (const ImplementationPair& p : c.pairs)
        titles[&analysis == c.a ? p.a->title : p.b->title] = p.b->title;
    Keyed out;
    for (Finding& finding : find_all(analysis)) {
        const auto partner = titles.find(finding.subject);
        const std::vector<std::string> several = joined(analysis, finding.subject);
        const bool paired = partner != titles.end() ||
                            std::any_of(several.begin(), several.end(),
                                        [&](const std::string& title) { return titles.count(title) > 0; });
        // What was not asked to be compared is no change either.
        if (c.by_hand && !paired) continue;
        if (several.size() > 1) {
            out.emplace_back(finding.id + "\nseveral", std::move(finding));
            continue;
        }
        const std::string& subject = partner == titles.end() ? finding.subject : partner->second;
        out.emplace_back(finding.id + '\n' + subject, std::move(finding));
    }
    return out;
}

}  // namespace

FindingChanges compare_findings(const Comparison& c) {
    FindingChanges out;
    const std::set<std::string> common = common_rules(c);
    std::multimap<std::string, Finding> before;
    std::vector<std::string> order;
    for (auto& [key, finding] : keyed(c, *c.a)) {
        order.push_back(key);
        before.emplace(key, std::move(finding));
    }
    std::vector<FindingChange> other_severity;
    for (auto& [key, finding] : keyed(c, *c.b)) {
        const auto was = before.find(key);
        if (was != before.end()) {
            if (was->second.severity != finding.severity)
                other_severity.push_back({Kind::severity, finding, was->second.severity});
            else
                ++out.same;
            before.erase(was);
        } else if (common.count(finding.id) > 0) {
            out.all.push_back({Kind::added, finding, {}});
        } else {
            ++out.one_sided;
        }
    }
    out.all.insert(out.all.end(), other_severity.begin(), other_severity.end());
    for (const std::string& key : order) {
        const auto gone = before.find(key);
        if (gone == before.end()) continue;
        if (common.count(gone->second.id) > 0)
            out.all.push_back({Kind::gone, gone->second, {}});
        else
            ++out.one_sided;
        before.erase(gone);
    }
    return out;
}

}  // namespace attnscope
