#include "constraint.h"

#include "support.h"

namespace attnscope::rule {
namespace {

struct Sentence {
    const std::string& text;
    bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
};

Evidence capability(const Analysis& a, const char* limit) {
    const double value = *a.device->major + *a.device->minor / 10.0;
    return {"compute capability", Value::of(value, Unit::none, {Source::reported, a.ground}), limit};
}

/// FlashAttention's backward of head_dim 256 in its smallest tile that allows dropout.
Evidence backward_tile(const Analysis& a) {
    AttentionKernelName name;
    name.element = "bf16";  // any type of 16 bits
    name.part = AttentionKernelName::Part::backward;
    name.head_dim = 256;
    name.block_queries = name.block_keys = 64;
    name.single_buffer = true;
    name.v_in_registers = false;
    Value needed = expected_shared_bytes(name);
    needed.provenance.ground = a.ground;
    return {"shared memory of the backward's 64 x 64 tile", needed,
            "a CTA may have " + words::bytes(*a.device->shared_per_cta_optin) + " here"};
}

double last_stride(const Asked& one, const Analysis& a) {
    if (one.call && !one.call->inputs.empty())
        if (const auto query = tensor_input(one.call->inputs[0]); query && !query->strides.empty())
            return double(query->strides.back());
    return a.workload.last_stride.value_or(1);
}

}  // namespace

std::vector<Evidence> numbers_behind(const std::string& reason, const Asked& one, const Analysis& a) {
    const Sentence s{reason};
    std::vector<Evidence> out;
    const auto add = [&](const char* label, double value, const char* limit) {
        out.push_back(evidence(label, exact(value, Unit::count, a), limit));
    };
    const bool known_gpu = a.device && a.device->major && a.device->minor;
    if (s.has("attn_mask") && one.mask && one.mask->elements())
        add("elements of the mask", double(*one.mask->elements()), "0: no mask");
    if (s.has("training with head_dim")) {
        add("head_dim", one.head_dim, "192 at most; 224 to 256 without dropout");
        if (known_gpu && a.device->shared_per_cta_optin) out.push_back(backward_tile(a));
    } else if (s.has("last dimension") && !s.has("stride")) {
        add("head_dim", one.head_dim,
            s.has("multiple of 8") ? "a multiple of 8, 256 at most" : "256 at most");
    } else if (s.has("head_dim") || s.has("embed") || s.has("divisible")) {
        add("head_dim", one.head_dim, "what LibTorch's sentence says");
    }
    if (s.has("seqlen_q != seqlen_k")) {
        add("queries", one.query_length, "as many as keys");
        add("keys", one.key_length, "as many as queries");
    } else if (s.has("sequence length") || s.has("seqlen")) {
        add("queries", one.query_length, "what LibTorch's sentence says");
        add("keys", one.key_length, "what LibTorch's sentence says");
    }
    if (s.has("stride"))
        add("stride of the last dimension", last_stride(one, a), "1: its elements lie side by side");
    if (s.has("heads")) {
        add("query heads", one.heads, "as many as key and value heads");
        add("key and value heads", one.kv_heads, "as many as query heads");
    }
    if (s.has("dtype")) {
        if (one.element_bytes() > 0)
            add("bytes of an element", one.element_bytes(), s.has("Float") ? "of a type that it takes" : "2");
        if (known_gpu && one.dtype == "bf16") out.push_back(capability(a, "8.0 or more for bf16"));
    }
    if (s.has("gpu architectures") && known_gpu)
        out.push_back(capability(a, s.has("sm80") ? "8.0 to 12.1" : "what LibTorch's sentence says"));
    return out;
}

}  // namespace attnscope::rule
