#pragma once
// Analyses written by hand: a clean flash run, and what a test adds to it.
#include <algorithm>
#include <string>
#include <vector>

#include "attnscope/rules.h"

namespace attnscope::test {

/// bf16, batch 2, 8 heads, 512 x 512, head_dim 64, causal, on a virtual H100; 1 launch of flash.
inline constexpr double kTensorBytes = 2 * 8 * 512 * 64 * 2;  ///< of q, k, v or o

inline Step step(Role role, std::vector<std::string> operations, std::vector<std::string> inputs) {
    Step s;
    s.role = role;
    s.name = to_string(role);
    s.origin.operations = std::move(operations);
    s.origin.inputs = std::move(inputs);
    return s;
}

inline void set_launches(Implementation& i) {
    const Provenance trace{Source::trace, Ground::virtual_gpu};
    double n = 0;
    for (const Step& s : i.steps) n += double(s.times);
    i.launches = i.kernels = Value::of(n, Unit::count, trace);
}

inline Implementation implementation(const std::string& name, const std::string& backend,
                                     std::vector<Step> steps) {
    Implementation i;
    i.name = i.title = name;
    i.backend = backend;
    i.status = ImplementationStatus::ran;
    i.iterations = 1;
    i.steps = std::move(steps);
    set_launches(i);
    i.least_bytes = Value::of(4 * kTensorBytes, Unit::bytes, {Source::model, Ground::virtual_gpu});
    return i;
}

inline Step flash_step() {
    Step s = step(Role::flash,
                  {"aten::_flash_attention_forward", "aten::_scaled_dot_product_flash_attention",
                   "aten::scaled_dot_product_attention"},
                  {});
    s.decoded.emplace();
    s.decoded->head_dim = 64;
    s.decoded->block_queries = s.decoded->block_keys = 128;
    return s;
}

inline Analysis clean_flash() {
    Analysis a;
    a.has_convention = true;
    a.device.emplace();
    a.device->id = "H100-SXM5";
    a.device->name = a.device_name = "NVIDIA H100 80GB HBM3";
    a.device->major = 9;
    a.device->minor = 0;
    a.device->memory_bytes = uint64_t(80) << 30;
    a.libraries = {{"cudnn", "9.19.0"}, {"libtorch", "2.11.0"}};
    Workload& w = a.workload;
    w.batch = 2;
    w.heads = w.kv_heads = 8;
    w.query_length = w.key_length = 512;
    w.head_dim = 64;
    w.dtype = "bf16";
    w.causal = true;
    w.mask = "none";
    a.choice.chosen = "flash";
    a.choice.order = {"flash", "efficient", "math"};
    a.implementations = {implementation("sdpa_flash", "flash", {flash_step()})};
    return a;
}

inline std::vector<Finding> of(const Analysis& a, std::string_view id) {
    std::vector<Finding> out;
    for (Finding& f : find_all(a))
        if (f.id == id) out.push_back(std::move(f));
    return out;
}

inline const Value* evidence(const Finding& f, std::string_view label) {
    for (const Evidence& e : f.evidence)
        if (e.label == label) return &e.value;
    return nullptr;
}

/// -1: no such evidence, or absent.
inline double number(const Finding& f, std::string_view label) {
    const Value* value = evidence(f, label);
    return value && *value ? *value->number : -1;
}

inline bool says(const Finding& f, std::string_view part) {
    return f.claim.find(part) != std::string::npos ||
           std::any_of(f.counter_evidence.begin(), f.counter_evidence.end(),
                       [&](const std::string& s) { return s.find(part) != std::string::npos; });
}

}  // namespace attnscope::test
