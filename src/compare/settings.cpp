#include "settings.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/words.h"

namespace attnscope::comparing {
namespace {

class Found {
  public:
    void text(const char* what, const std::string& a, const std::string& b) {
        if (!a.empty() && !b.empty() && a != b) out_.push_back({what, a, b});
    }
    void number(const char* what, const std::optional<double>& a, const std::optional<double>& b) {
        if (a && b && *a != *b) out_.push_back({what, words::number(*a), words::number(*b)});
    }
    void flag(const char* what, const std::optional<bool>& a, const std::optional<bool>& b) {
        if (a && b && *a != *b) out_.push_back({what, *a ? "yes" : "no", *b ? "yes" : "no"});
    }
    std::vector<Difference> take() { return std::move(out_); }

  private:
    std::vector<Difference> out_;
};

std::string fact(const Analysis& a, const char* label) {
    for (const Fact& f : a.environment)
        if (f.label == label) return f.value;
    return {};
}

/// Inputs of the calls of scaled_dot_product_attention, of the whole run.
std::string calls(const Analysis& a) {
    std::set<std::string> out;
    for (const AttentionCall& call : a.calls)
        if (call.counted_iteration) out.insert(words::join(call.inputs, ", "));
    return words::join({out.begin(), out.end()}, "; ", "; ");
}

}  // namespace

std::vector<Difference> input_differences(const Analysis& a, const Analysis& b) {
    const Workload &x = a.workload, &y = b.workload;
    Found found;
    found.number("batch", x.batch, y.batch);
    found.number("heads", x.heads, y.heads);
    found.number("KV heads", x.kv_heads, y.kv_heads);
    found.number("query length", x.query_length, y.query_length);
    found.number("key length", x.key_length, y.key_length);
    found.number("head_dim", x.head_dim, y.head_dim);
    found.text("dtype", x.dtype, y.dtype);
    found.flag("causal", x.causal, y.causal);
    found.text("mask", x.mask, y.mask);
    found.flag("backward", x.backward, y.backward);
    found.number("dropout", x.dropout, y.dropout);
    found.number("layers", x.layers, y.layers);
    found.number("last stride", x.last_stride, y.last_stride);
    found.flag("transposed", x.transposed, y.transposed);
    found.flag("contiguous", x.contiguous, y.contiguous);
    found.flag("K and V repeated", x.repeat_kv, y.repeat_kv);
    found.flag("deterministic", x.deterministic, y.deterministic);
    found.flag("reduced-precision math", x.reduced_math, y.reduced_math);
    found.text("language", x.language, y.language);
    std::vector<Difference> out = found.take();
    if (out.empty() && !x.has_shape() && !y.has_shape()) {
        found.text("inputs of scaled_dot_product_attention", calls(a), calls(b));
        out = found.take();
    }
    return out;
}

std::vector<Difference> machine_differences(const Analysis& a, const Analysis& b) {
    Found found;
    if (a.device && b.device) {
        found.text("GPU", a.device->name, b.device->name);
        const auto number = [](const std::optional<uint32_t>& v) {
            return v ? std::optional(double(*v)) : std::nullopt;
        };
        found.number("SMs", number(a.device->sm_count), number(b.device->sm_count));
    }
    found.text("CUDA driver", fact(a, "CUDA driver"), fact(b, "CUDA driver"));
    return found.take();
}

std::vector<Difference> library_differences(const Analysis& a, const Analysis& b) {
    Found found;
    found.text("torch", a.workload.torch, b.workload.torch);
    found.text("CUDA runtime", fact(a, "CUDA runtime"), fact(b, "CUDA runtime"));
    // A library may be loaded in several versions, by several processes.
    using Versions = std::map<std::string, std::set<std::string>>;
    const auto versions = [](const Analysis& analysis) {
        Versions out;
        for (const auto& [name, version] : analysis.libraries)
            if (!version.empty()) out[name].insert(version);
        return out;
    };
    const Versions x = versions(a), y = versions(b);
    for (const auto& [name, all] : x)
        if (const auto other = y.find(name); other != y.end())
            found.text(name.c_str(), words::join({all.begin(), all.end()}),
                       words::join({other->second.begin(), other->second.end()}));
    return found.take();
}

}  // namespace attnscope::comparing
