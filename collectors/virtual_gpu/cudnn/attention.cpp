// Recognising attention in an operation graph. cudnn_frontend composes it as S = Q K^T, scaling, optional
// bias and masks, softmax (exp among its pointwise operations), O = P V; its backward pass has five products.
// K and V^T appear in such a graph with their last two dimensions exchanged: shapes are reported as [batch,
// heads, sequence, head dimension].
#include <algorithm>
#include <map>

#include "cudnn/graph.h"

namespace attnscope::vgpu::cudnn {
namespace {

constexpr int64_t mode_add = 0, mode_exp = 13, mode_generate_index = 501;
constexpr int64_t first_comparison = 300, last_comparison = 305;

int64_t mode_of(const Descriptor* operation) {
    const Descriptor* pointwise = operation->child(attribute::op_pointwise_descriptor);
    return pointwise ? pointwise->integer(attribute::pointwise_mode, -1) : -1;
}

std::vector<int64_t> exchanged(std::vector<int64_t> dimensions) {
    if (dimensions.size() >= 2)
        std::swap(dimensions[dimensions.size() - 1], dimensions[dimensions.size() - 2]);
    return dimensions;
}

struct Masks {
    bool causal = false, additive = false, dropout = false;
};

/// A comparison of the row's index with the column's is a causal (or banded) mask; one of an index with a
/// length is padding. Which indices a tensor depends on is carried along the graph, in the order of its
/// operations.
Masks masks_of(const std::vector<const Descriptor*>& operations) {
    Masks masks;
    std::map<int64_t, unsigned> indices;  // uid -> bit set of dimensions whose index the values depend on
    constexpr unsigned row = 1u << 2, column = 1u << 3;
    for (const Descriptor* operation : operations) {
        if (operation->kind == Kind::op_random) masks.dropout = true;
        if (operation->kind != Kind::op_pointwise) continue;
        TensorView x = view(operation->child(attribute::op_pointwise_x));
        const Descriptor* second = operation->child(attribute::op_pointwise_b);
        TensorView b = view(second), y = view(operation->child(attribute::op_pointwise_y));
        int64_t mode = mode_of(operation);
        if (mode == mode_generate_index) {
            const Descriptor* pointwise = operation->child(attribute::op_pointwise_descriptor);
            indices[y.uid] = 1u << (pointwise->integer(attribute::pointwise_axis, 0) & 31);
            continue;
        }
        bool comparison = mode >= first_comparison && mode <= last_comparison;
        unsigned together = indices[x.uid] | (second ? indices[b.uid] : 0);
        if (comparison && (together & row) && (together & column)) masks.causal = true;
        if (mode == mode_add && second && !x.in_memory && b.in_memory && b.dimensions.size() == 4 &&
            x.dimensions.size() == 4 && b.dimensions[3] == x.dimensions[3] && x.dimensions[3] > 1)
            masks.additive = true;
        // A mask that is chosen by is no longer an index.
        if (!comparison && mode < 400) indices[y.uid] |= together;
    }
    return masks;
}

void describe(GraphSummary& summary, bool forward, const std::vector<int64_t>& q,
              const std::vector<int64_t>& k, const std::vector<int64_t>& v, const std::vector<int64_t>& o,
              DataType type) {
    summary.operation = forward ? "attention_forward" : "attention_backward";
    summary.attributes = {text("shape_q", shape_text(q)), text("shape_k", shape_text(k)),
                          text("shape_v", shape_text(v)), text("shape_o", shape_text(o)),
                          text("type", name(type))};
}

void describe(GraphSummary& summary, const Masks& masks) {
    summary.attributes.push_back(number("causal", masks.causal));
    summary.attributes.push_back(text("mask", masks.additive ? "additive" : "none"));
    summary.attributes.push_back(number("dropout", masks.dropout));
}

bool summarise_unified(const std::vector<const Descriptor*>& operations, GraphSummary& summary) {
    for (const Descriptor* operation : operations) {
        bool forward = operation->kind == Kind::op_attention_forward;
        if (!forward && operation->kind != Kind::op_attention_backward) continue;
        int first = forward ? 2800 : 2851;  // Q, K, V, O follow one another
        TensorView q = view(operation->child(first)), k = view(operation->child(first + 1)),
                   v = view(operation->child(first + 2)), o = view(operation->child(first + 3));
        describe(summary, forward, q.dimensions, k.dimensions, v.dimensions, o.dimensions, q.type);
        describe(summary, Masks{});  // cuDNN 9.19's attention operations have no causal mask, bias or dropout
        return true;
    }
    return false;
}

}  // namespace

bool summarise_attention(const std::vector<const Descriptor*>& operations, GraphSummary& summary) {
    if (summarise_unified(operations, summary)) return true;
    std::vector<const Descriptor*> products;
    bool exponential = false;
    for (const Descriptor* operation : operations) {
        if (operation->kind == Kind::op_matmul) products.push_back(operation);
        if (operation->kind == Kind::op_pointwise && mode_of(operation) == mode_exp) exponential = true;
    }
    if (!exponential || products.size() < 2) return false;
    bool forward = products.size() == 2;
    auto a = [](const Descriptor* product) { return view(product->child(attribute::op_matmul_a)); };
    auto b = [](const Descriptor* product) { return view(product->child(attribute::op_matmul_b)); };
    // Products of two tensors in memory: Q K^T, and in the backward pass dO V^T.
    std::vector<const Descriptor*> of_memory;
    std::copy_if(products.begin(), products.end(), std::back_inserter(of_memory),
                 [&](const Descriptor* p) { return a(p).in_memory && b(p).in_memory; });
    if (of_memory.empty()) return false;
    TensorView q = a(of_memory.front()), k = b(of_memory.front());
    std::vector<int64_t> v, o;
    if (forward) {
        v = b(products.back()).dimensions;
        o = view(products.back()->child(attribute::op_matmul_c)).dimensions;
    } else if (of_memory.size() > 1) {
        v = exchanged(b(of_memory[1]).dimensions);
        o = a(of_memory[1]).dimensions;
    }
    describe(summary, forward, q.dimensions, exchanged(k.dimensions), v, o, q.type);
    describe(summary, masks_of(operations));
    return true;
}

}  // namespace attnscope::vgpu::cudnn
