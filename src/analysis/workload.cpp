#include "workload.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>

#include "words.h"

namespace attnscope {
namespace {

using Object = simdjson::dom::object;

std::string text(const Object& object, std::string_view key) {
    std::string_view value;
    return object[key].get(value) ? std::string() : std::string(value);
}

/// A finite number; null (JSON's NaN) and other types are unknown.
std::optional<double> number(const Object& object, std::string_view key) {
    double value = 0;
    if (object[key].get(value) || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::optional<double> size(const Object& object, std::string_view key) {
    const auto value = number(object, key);
    return value && *value >= 0 ? value : std::nullopt;
}

std::optional<bool> flag(const Object& object, std::string_view key) {
    bool value = false;
    if (object[key].get(value)) return std::nullopt;
    return value;
}

Workload workload(const Object& o) {
    Workload w;
    w.batch = size(o, "batch");
    w.heads = size(o, "heads");
    w.kv_heads = size(o, "kv_heads");
    w.query_length = size(o, "query_length");
    w.key_length = size(o, "key_length");
    w.head_dim = size(o, "head_dim");
    w.warmup = size(o, "warmup");
    w.iterations = size(o, "iterations");
    w.last_stride = size(o, "last_stride");
    w.dropout = size(o, "dropout");
    w.layers = size(o, "layers");
    w.causal = flag(o, "causal");
    w.backward = flag(o, "backward");
    w.transposed = flag(o, "transposed");
    w.contiguous = flag(o, "contiguous");
    w.repeat_kv = flag(o, "repeat_kv");
    w.deterministic = flag(o, "deterministic");
    w.reduced_math = flag(o, "reduced_precision_math");
    w.dtype = text(o, "dtype");
    w.mask = text(o, "mask");
    w.torch = text(o, "torch");
    w.language = text(o, "language");
    return w;
}

Choice choice(const Object& o) {
    Choice c;
    c.chosen = text(o, "chosen");
    simdjson::dom::array order;
    if (!o["order"].get(order))
        for (simdjson::dom::element element : order) {
            std::string_view backend;
            if (!element.get(backend)) c.order.emplace_back(backend);
        }
    Object refused;
    if (!o["refused"].get(refused))
        for (auto [backend, reason] : refused) {
            std::string_view sentence;
            if (!reason.get(sentence)) c.refused.emplace_back(std::string(backend), std::string(sentence));
        }
    simdjson::dom::array backends;
    if (o["backends"].get(backends)) return c;
    for (simdjson::dom::element element : backends) {
        Object backend;
        simdjson::dom::array works;
        if (element.get(backend) || backend["hidden"].get(works)) continue;
        for (simdjson::dom::element one : works) {
            Object work;
            if (one.get(work)) continue;
            const auto bytes = size(work, "bytes");
            if (bytes) c.hidden.push_back({text(backend, "name"), text(work, "code"), *bytes});
        }
    }
    return c;
}

ImplementationMark implementation(const Object& o) {
    ImplementationMark m;
    m.name = text(o, "name");
    m.status = text(o, "status");
    m.reason = text(o, "reason");
    m.backend = text(o, "backend");
    m.compared_with = text(o, "compared_with");
    m.peak_allocated = size(o, "peak_allocated_bytes");
    m.allocated_before = size(o, "allocated_before_bytes");
    m.max_abs_difference = number(o, "max_abs_difference");
    m.non_finite = size(o, "non_finite_elements");
    return m;
}

}  // namespace

Marks read_marks(const Process& process) {
    Marks marks;
    simdjson::dom::parser parser;
    for (const Mark& mark : process.marks) {
        const std::string_view name = mark.name;
        const size_t space = name.find(' ');
        if (name.rfind("attnscope.", 0) != 0 || space == std::string_view::npos) continue;
        const std::string_view kind = name.substr(10, space - 10);
        if (kind != "workload" && kind != "choice" && kind != "implementation") continue;
        Object object;
        simdjson::dom::element root;
        if (parser.parse(std::string(name.substr(space + 1))).get(root) || root.get(object)) {
            ++marks.unreadable;
        } else if (kind == "workload") {
            marks.workload = workload(object);
        } else if (kind == "choice") {
            marks.choice = choice(object);
        } else {
            ImplementationMark m = implementation(object);
            const auto same =
                std::find_if(marks.implementations.begin(), marks.implementations.end(),
                             [&](const ImplementationMark& other) { return other.name == m.name; });
            if (same != marks.implementations.end())
                *same = std::move(m);
            else
                marks.implementations.push_back(std::move(m));
        }
    }
    return marks;
}

std::optional<double> Workload::element_bytes() const {
    if (dtype == "bf16" || dtype == "fp16") return 2;
    if (dtype == "fp32") return 4;
    return std::nullopt;
}

std::optional<double> Workload::score_elements() const {
    if (!batch || !heads || !query_length || !key_length) return std::nullopt;
    return *batch * *heads * *query_length * *key_length;
}

std::string Workload::sentence() const {
    std::vector<std::string> parts;
    if (!dtype.empty()) parts.push_back(dtype);
    if (batch) parts.push_back("batch " + words::number(*batch));
    if (heads) {
        std::string text = words::plural(*heads, "head");
        if (kv_heads && *kv_heads != *heads)
            text += " (" + words::number(*kv_heads) + " for keys and values)";
        parts.push_back(text);
    }
    if (query_length && key_length && *query_length == *key_length)
        parts.push_back("sequence " + words::number(*query_length));
    else if (query_length && key_length)
        parts.push_back(words::number(*query_length) + " queries on " + words::number(*key_length) + " keys");
    if (head_dim) parts.push_back("head_dim " + words::number(*head_dim));
    if (causal) parts.push_back(*causal ? "causal" : "not causal");
    if (!mask.empty() && mask != "none") parts.push_back(mask + " mask");
    if (backward) parts.push_back(*backward ? "forward and backward" : "forward");
    return words::join(parts, ", ");
}

}  // namespace attnscope
