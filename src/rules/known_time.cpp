#include "known_time.h"

#include <algorithm>
#include <map>

#include "analysis/models.h"
#include "attnscope/gpu.h"
#include "attnscope/models.h"
#include "support.h"

namespace attnscope::rule {
namespace {

bool same_problem(const AttentionShape& a, const AttentionShape& b) {
    return a.batch == b.batch && a.heads == b.heads && a.kv_heads == b.kv_heads &&
           a.query_length == b.query_length && a.key_length == b.key_length && a.head_dim == b.head_dim &&
           a.dtype == b.dtype && a.causal == b.causal && a.pass == b.pass;
}

/// LibTorch's own, not another library's kernel by the same method.
bool is_ours(const PublishedTime& p) {
    return p.implementation.starts_with("SDPA") || p.implementation.starts_with("naive");
}

std::vector<KnownTime> published(const Analysis& a) {
    const auto shape = shape_of(a.workload);
    const Gpu* gpu = a.device ? find_gpu(a.device->id.empty() ? a.device->name : a.device->id) : nullptr;
    // A published shape has one attention and no mask beside the causal one.
    if (!shape || !gpu || shape->masked_fill || shape->additive_mask || a.workload.layer_count() != 1)
        return {};
    std::map<std::string, std::vector<KnownTime>> by_source;
    for (const Implementation* i : distinct(a)) {
        const auto method = method_of(*i);
        for (const PublishedTime& p : published_times()) {
            if (!method || p.method != *method || p.gpu != gpu->id || !p.causal_known || !is_ours(p) ||
                !same_problem(p.shape, *shape))
                continue;
            std::vector<KnownTime>& from_there = by_source[p.source];
            if (!time_of(from_there, *i)) from_there.push_back({i, p.time(), 0, "published: " + p.source});
        }
    }
    std::vector<KnownTime> most;
    for (auto& [source, times] : by_source)
        if (times.size() > most.size()) most = std::move(times);
    return most;
}

}  // namespace

std::string KnownTime::words() const {
    return words::say_with_ground(time);
}

std::vector<KnownTime> comparable_times(const Analysis& a) {
    std::vector<KnownTime> times;
    for (const Implementation* i : distinct(a))
        if (i->time) times.push_back({i, i->time, i->time_iqr.number.value_or(0), "measured"});
    if (times.empty()) times = published(a);
    if (times.size() < 2) times.clear();
    return times;
}

const KnownTime* time_of(const std::vector<KnownTime>& times, const Implementation& implementation) {
    for (const KnownTime& t : times)
        if (t.implementation == &implementation) return &t;
    return nullptr;
}

bool clearly_shorter(const KnownTime& a, const KnownTime& b) {
    return *a.time.number + a.spread + b.spread < *b.time.number;
}

}  // namespace attnscope::rule
