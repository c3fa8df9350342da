// What bounds and times say about who is faster: only what they prove.
#include <algorithm>
#include <cmath>
#include <map>

#include "attnscope/models.h"
#include "words.h"

namespace attnscope {
namespace {

constexpr double kSame = 1.01;  // bounds within 1% are one bound: the models are no finer

std::string ms(const Value& v) {
    return words::milliseconds(*v.number);
}

/// A's time proves it faster than B; empty where nothing does.
std::string proof(const RankEntry& a, const RankEntry& b) {
    if (!a.time) return {};
    if (b.time) {
        // Spread is the interquartile range: medians closer than both are not told apart.
        const double spread = a.spread.number.value_or(0) + b.spread.number.value_or(0);
        if (*a.time.number + spread >= *b.time.number) return {};
        return ms(a.time) + " (" + a.time_from + ") against " + ms(b.time) + " (" + b.time_from + ")";
    }
    if (!b.bound || *a.time.number >= *b.bound.number) return {};
    return ms(a.time) + " (" + a.time_from + ") is less than the bound of " + b.name + ", " + ms(b.bound);
}

}  // namespace

Rank rank(const std::vector<RankEntry>& entries) {
    Rank out;
    std::vector<const RankEntry*> bounded;
    for (const RankEntry& e : entries)
        if (e.bound) bounded.push_back(&e);
    std::stable_sort(bounded.begin(), bounded.end(), [](const RankEntry* a, const RankEntry* b) {
        return *a->bound.number < *b->bound.number;
    });
    for (const RankEntry* e : bounded) {
        if (out.groups.empty() || *e->bound.number > *out.groups.back().bound.number * kSame)
            out.groups.push_back({{}, e->bound});
        out.groups.back().names.push_back(e->name);
    }
    std::vector<std::string> parts;
    for (const RankEntry& a : entries)
        for (const RankEntry& b : entries)
            if (std::string why = &a == &b ? "" : proof(a, b); !why.empty())
                out.faster.push_back({a.name, b.name, std::move(why)});
    if (out.groups.empty()) {
        out.sentence = "No bound is known, so nothing can be said before a measurement.";
        return out;
    }
    const auto timed = [&](const std::string& name) {
        return std::any_of(entries.begin(), entries.end(),
                           [&](const RankEntry& e) { return e.name == name && e.time; });
    };
    // Of each winner, whom it beats; a chain would repeat itself.
    std::map<std::string, std::vector<std::string>> beats;
    std::vector<std::string> order;
    for (const Rank::Faster& f : out.faster) {
        if (beats[f.first].empty()) order.push_back(f.first);
        beats[f.first].push_back(f.second);
    }
    const auto most = std::max_element(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        return beats[a].size() < beats[b].size();
    });
    if (most != order.end()) {
        const std::string& winner = *most;
        const auto entry = std::find_if(entries.begin(), entries.end(),
                                        [&](const RankEntry& e) { return e.name == winner; });
        const std::string time = ms(entry->time) + " (" + entry->time_from + ")";
        parts.push_back(beats[winner].size() + 1 == entries.size()
                            ? winner + " is fastest: " + time
                            : winner + ", " + time + ", is faster than " + words::join(beats[winner]));
    }
    for (const Rank::Group& g : out.groups) {
        const size_t without = size_t(
            std::count_if(g.names.begin(), g.names.end(), [&](const std::string& x) { return !timed(x); }));
        if (g.names.size() > 1 && without > 0)
            parts.push_back(words::join(g.names) + " have the same bound, " + ms(g.bound) +
                            ": which is fastest is not decidable without measurement");
    }
    const Rank::Group &first = out.groups.front(), &last = out.groups.back();
    if (out.groups.size() > 1 && *first.bound.number > 0)
        parts.push_back(words::join(last.names) + " cannot be faster than " + ms(last.bound) + ", " +
                        words::times(*last.bound.number / *first.bound.number) + " the bound of " +
                        words::join(first.names) +
                        (out.faster.empty() ? "; whether any comes near its bound, only a time shows" : ""));
    for (size_t i = 0; i < parts.size(); ++i) out.sentence += (i ? "; " : "") + parts[i];
    if (out.sentence.empty())
        out.sentence = words::join(first.names) + " cannot be faster than " + ms(first.bound);
    out.sentence += ".";
    return out;
}

}  // namespace attnscope
