#include "asked.h"

#include <algorithm>
#include <charconv>

namespace attnscope::rule {
namespace {

// Arguments of scaled_dot_product_attention, by position.
constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kMask = 3, kDropout = 4, kCausal = 5;

std::optional<TensorInput> tensor_at(const std::vector<std::string>& inputs, size_t at) {
    return at < inputs.size() ? tensor_input(inputs[at]) : std::nullopt;
}

double size(const TensorInput& tensor, size_t from_the_end) {
    return double(tensor.sizes[tensor.sizes.size() - from_the_end]);
}

std::optional<Asked> from_call(const AttentionCall& call) {
    const auto q = tensor_at(call.inputs, kQuery), k = tensor_at(call.inputs, kKey),
               v = tensor_at(call.inputs, kValue);
    if (!q || !k || !v || q->sizes.size() != 4 || k->sizes.size() != 4) return std::nullopt;
    Asked out;
    out.who = call.implementation.empty() ? "the program" : call.implementation;
    out.backend = call.choice.chosen;
    out.batch = size(*q, 4);
    out.heads = size(*q, 3);
    out.kv_heads = size(*k, 3);
    out.query_length = size(*q, 2);
    out.key_length = size(*k, 2);
    out.head_dim = size(*q, 1);
    out.dtype = q->dtype;
    out.mask = tensor_at(call.inputs, kMask);
    out.causal = call.inputs.size() > kCausal && call.inputs[kCausal] == "true";
    if (call.inputs.size() > kDropout) {
        const std::string& text = call.inputs[kDropout];
        double probability = 0;
        std::from_chars(text.data(), text.data() + text.size(), probability);
        out.dropout = probability > 0;
    }
    out.backward = q->requires_grad || k->requires_grad || v->requires_grad;
    out.call = &call;
    return out;
}

/// The mask that attnscope's own workload makes of these words.
std::optional<TensorInput> mask_of(const Workload& w) {
    if (w.mask.empty() || w.mask == "none") return std::nullopt;
    const auto b = int64_t(*w.batch), h = int64_t(*w.heads), q = int64_t(*w.query_length),
               k = int64_t(*w.key_length);
    TensorInput mask;
    mask.dtype = w.mask == "additive" ? w.dtype : "bool";
    if (w.mask == "expanded" || w.mask == "repeated") {
        mask.sizes = {b, h, q, k};
        mask.strides = w.mask == "expanded" ? std::vector<int64_t>{0, 0, k, 1}
                                            : std::vector<int64_t>{h * q * k, q * k, k, 1};
    } else {
        mask.sizes = {q, k};
        mask.strides = {k, 1};
    }
    return mask;
}

Asked from_workload(const Workload& w) {
    Asked out;
    out.batch = *w.batch;
    out.heads = *w.heads;
    out.kv_heads = w.repeat_kv.value_or(false) ? *w.heads : *w.kv_heads;
    out.query_length = *w.query_length;
    out.key_length = *w.key_length;
    out.head_dim = *w.head_dim;
    out.dtype = w.dtype;
    out.causal = w.causal.value_or(false);
    out.backward = w.backward.value_or(false);
    out.dropout = w.dropout.value_or(0) > 0;
    out.mask = mask_of(w);
    return out;
}

/// Sizes that an int64 holds; a workload's numbers can be anything.
bool sane(const Workload& w) {
    constexpr double kMost = 1LL << 40;
    return w.has_shape() &&
           std::max({*w.batch, *w.heads, *w.kv_heads, *w.query_length, *w.key_length, *w.head_dim}) < kMost;
}

bool same(const Asked& a, const Asked& b) {
    return a.who == b.who && a.backend == b.backend && a.batch == b.batch && a.heads == b.heads &&
           a.kv_heads == b.kv_heads && a.query_length == b.query_length && a.key_length == b.key_length &&
           a.head_dim == b.head_dim && a.dtype == b.dtype && a.causal == b.causal &&
           a.backward == b.backward && a.dropout == b.dropout && a.mask == b.mask;
}

}  // namespace

std::vector<Asked> asked(const Analysis& a) {
    std::vector<Asked> out;
    const auto add = [&](Asked one) {
        if (std::none_of(out.begin(), out.end(), [&](const Asked& o) { return same(o, one); }))
            out.push_back(std::move(one));
    };
    if (sane(a.workload)) {
        for (const Implementation& i : a.implementations) {
            Asked one = from_workload(a.workload);
            one.who = i.title;
            one.backend = i.backend;
            one.implementation = &i;
            for (const AttentionCall& call : a.calls)
                if (call.implementation == i.title) one.call = &call;
            add(std::move(one));
        }
        if (a.implementations.empty()) {  // only asked for (--why), or cut short
            Asked one = from_workload(a.workload);
            one.who = "scaled_dot_product_attention";
            one.backend = a.choice.chosen;
            add(std::move(one));
        }
        return out;
    }
    for (const AttentionCall& call : a.calls) {
        auto one = from_call(call);
        if (!one) continue;
        for (const Implementation& i : a.implementations)
            if (i.title == call.implementation) one->implementation = &i;
        add(std::move(*one));
    }
    return out;
}

const AttentionChoice::Backend* find_backend(const AttentionChoice& choice, std::string_view name) {
    for (const AttentionChoice::Backend& backend : choice.backends)
        if (backend.name == name) return &backend;
    return nullptr;
}

std::optional<std::pair<int, int>> version_of(std::string_view text) {
    std::pair<int, int> version;
    const char* const end = text.data() + text.size();
    const auto [dot, bad] = std::from_chars(text.data(), end, version.first);
    if (bad != std::errc() || dot == end || *dot != '.') return std::nullopt;
    if (std::from_chars(dot + 1, end, version.second).ec != std::errc()) return std::nullopt;
    return version;
}

std::optional<std::pair<int, int>> library_version(const Analysis& a, std::string_view name) {
    for (const auto& [library, version] : a.libraries)
        if (library.rfind(name, 0) == 0)
            if (const auto known = version_of(version)) return known;
    return std::nullopt;
}

}  // namespace attnscope::rule
