#include "same_launches.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "attnscope/names.h"

namespace attnscope::run_reader {
namespace {

/// How many threads one is held against: more do not launch kernels in any program, but might in a file.
constexpr size_t kMostThreads = 64;

bool is_work(const Launch& launch) {
    return launch.kind == LaunchKind::kernel || launch.kind == LaunchKind::library_call;
}

std::string dim(const Dim3& d) {
    return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]);
}

std::string describe(const Process& p, const Launch& l) {
    if (l.kind == LaunchKind::library_call) {
        if (l.call == kNone) return "a library call";
        const LibraryCall& call = p.calls[l.call];
        std::string text = call.library + " " + (call.operation.empty() ? call.function : call.operation);
        for (const auto& [key, value] : call.attributes) text += " " + key + "=" + value;
        return text;
    }
    std::string text =
        l.name == kNone ? "a kernel without name" : short_kernel_name(demangle(p.names[l.name]));
    if (l.has_grid) text += ", grid " + dim(l.grid);
    if (l.has_block) text += ", block " + dim(l.block);
    if (l.dynamic_shared)
        text += ", " + std::to_string(*l.dynamic_shared) + " bytes of dynamic shared memory";
    return text;
}

/// What the first run and the second must agree in. A figure that one of them did not record does not speak
/// against it; a name must be there.
bool same(const Process& p, const Launch& a, const Process& q, const Launch& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == LaunchKind::library_call) {
        if ((a.call == kNone) != (b.call == kNone)) return false;
        return a.call == kNone || p.calls[a.call] == q.calls[b.call];
    }
    if (a.name == kNone || b.name == kNone || p.names[a.name] != q.names[b.name]) return false;
    return (!a.has_grid || !b.has_grid || a.grid == b.grid) &&
           (!a.has_block || !b.has_block || a.block == b.block) &&
           (!a.dynamic_shared || !b.dynamic_shared || a.dynamic_shared == b.dynamic_shared);
}

using Sequence = std::vector<uint32_t>;

/// The kernels of one graph launch: alike ones together, and those in the order in which they ran. Activity
/// records of a graph come in any order; kernels are counted one by one only in a graph with one order.
void order_graph(const Process& p, Sequence::iterator from, Sequence::iterator to) {
    std::stable_sort(from, to, [&](uint32_t x, uint32_t y) {
        const auto key = [&](const Launch& l) {
            return std::tuple(l.name == kNone ? std::string_view() : std::string_view(p.names[l.name]),
                              l.grid, l.block, l.graph_node && !l.start_ns ? *l.graph_node : 0,
                              l.start_ns.value_or(0));
        };
        return key(p.launches[x]) < key(p.launches[y]);
    });
}

/// Kernels and library calls of each thread, threads by their first launch.
std::vector<Sequence> by_thread(const Process& p) {
    std::vector<Sequence> out;
    std::map<std::optional<uint64_t>, size_t> index;
    for (uint32_t i = 0; i < p.launches.size(); ++i) {
        if (!is_work(p.launches[i])) continue;
        const auto [it, fresh] = index.emplace(p.launches[i].thread, out.size());
        if (fresh) out.emplace_back();
        out[it->second].push_back(i);
    }
    for (Sequence& launches : out)
        for (auto from = launches.begin(); from != launches.end();) {
            const Launch& first = p.launches[*from];
            const auto to = std::find_if(from + 1, launches.end(), [&](uint32_t l) {
                return p.launches[l].correlation != first.correlation;
            });
            if (first.in_graph && to - from > 1) order_graph(p, from, to);
            from = to;
        }
    return out;
}

/// The first place where they differ; the shorter one's length when one ends before.
std::optional<size_t> first_difference(const Process& p, const Sequence& a, const Process& q,
                                       const Sequence& b) {
    const size_t common = std::min(a.size(), b.size());
    for (size_t i = 0; i < common; ++i)
        if (!same(p, p.launches[a[i]], q, q.launches[b[i]])) return i;
    return a.size() == b.size() ? std::nullopt : std::optional(common);
}

std::string say_difference(const Process& p, const Sequence& a, const Process& q, const Sequence& b,
                           size_t at, const std::string& where) {
    const auto side = [&](const Process& process, const Sequence& launches) {
        return at < launches.size() ? describe(process, process.launches[launches[at]])
                                    : "nothing (" + std::to_string(launches.size()) + " in all)";
    };
    return "launch " + std::to_string(at + 1) + where + " is " + side(p, a) +
           " in the run for counters, and " + side(q, b) + " in the run for time";
}

/// Copies and memsets are seen through calls in one run and through activity records in the other, which do
/// not show all the same ones (a copy from host to host has no record).
std::string copies_difference(const Process& p, const Process& q) {
    const auto transfers = [](const Process& process) {
        std::vector<std::pair<LaunchKind, std::optional<uint64_t>>> out;
        for (const Launch& l : process.launches)
            if (!is_work(l) && !l.in_graph) out.emplace_back(l.kind, l.bytes);
        return out;
    };
    const auto a = transfers(p), b = transfers(q);
    if (a.size() != b.size())
        return std::to_string(a.size()) + " copies and memsets in the run for counters, " +
               std::to_string(b.size()) + " in the run for time";
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i])
            return "copy or memset " + std::to_string(i + 1) + " is " +
                   std::to_string(a[i].second.value_or(0)) + " bytes in the run for counters, " +
                   std::to_string(b[i].second.value_or(0)) + " bytes in the run for time";
    return {};
}

}  // namespace

LaunchMatch match_launches(const Process& counters, const Process& activity) {
    LaunchMatch match;
    const std::vector<Sequence> ours = by_thread(counters), theirs = by_thread(activity);
    const auto pair_up = [&](const Sequence& a, const Sequence& b) {
        for (size_t i = 0; i < a.size(); ++i) match.pairs.emplace_back(a[i], b[i]);
    };
    std::vector<bool> taken(theirs.size());
    size_t free = 0;  // the first that has no partner
    for (size_t t = 0; t < ours.size() && match.difference.empty(); ++t) {
        while (free < taken.size() && taken[free]) ++free;
        const size_t last = std::min(theirs.size(), free + kMostThreads);
        size_t partner = free;
        while (partner < last &&
               (taken[partner] || first_difference(counters, ours[t], activity, theirs[partner])))
            ++partner;
        if (partner < last) {
            taken[partner] = true;
            pair_up(ours[t], theirs[partner]);
            continue;
        }
        const Sequence none;
        const Sequence& other = free < theirs.size() ? theirs[free] : none;
        match.difference = say_difference(counters, ours[t], activity, other,
                                          first_difference(counters, ours[t], activity, other).value_or(0),
                                          ours.size() > 1 ? " of thread " + std::to_string(t + 1) : "");
    }
    if (match.difference.empty() && theirs.size() > ours.size())
        match.difference = std::to_string(ours.size()) + " threads launched in the run for counters, " +
                           std::to_string(theirs.size()) + " in the run for time";
    if (match.difference.empty())
        match.copies = copies_difference(counters, activity);
    else
        match.pairs.clear();
    return match;
}

}  // namespace attnscope::run_reader
