#include "cudnn/graph.h"

#include <algorithm>

namespace attnscope::vgpu::cudnn {
namespace {

/// Which attributes of an operation name tensors that it writes (cudnn_graph.h).
struct Outputs {
    Kind kind;
    std::vector<int> attributes;
};
const std::vector<Outputs>& outputs_by_kind() {
    static const std::vector<Outputs> table = {
        {Kind::op_convolution_forward, {705}},
        {Kind::op_convolution_backward_filter, {715}},
        {Kind::op_convolution_backward_data, {710}},
        {Kind::op_pointwise, {753, 756}},
        {Kind::op_statistics, {773, 774}},
        {Kind::op_matmul, {1522}},
        {Kind::op_batch_norm_finalize, {788, 789, 790, 791, 792, 793}},
        {Kind::op_reduction, {1611}},
        {Kind::op_batch_norm_backward_weights, {1626, 1627, 1628, 1629, 1630}},
        {Kind::op_resample_forward, {1711, 1712}},
        {Kind::op_resample_backward, {1720}},
        {Kind::op_concatenate, {1803}},
        {Kind::op_signal, {1901, 1904}},
        {Kind::op_expand_band, {2251}},
        {Kind::op_contract_band, {2271}},
        {Kind::op_moe_product, {2905}},
        {Kind::op_norm_forward, {2003, 2004, 2011, 2012, 2013}},
        {Kind::op_norm_backward, {2107, 2108, 2109}},
        {Kind::op_reshape, {2201}},
        {Kind::op_random, {2310}},
        {Kind::op_paged_cache_load, {1951}},
        {Kind::op_block_scale_quantize, {2501, 2502}},
        {Kind::op_block_scale_dequantize, {2602}},
        {Kind::op_attention_forward, {2803, 2804}},
        {Kind::op_attention_backward, {2859, 2860, 2861}}};
    return table;
}

const Descriptor* first_of(const std::vector<const Descriptor*>& operations, Kind kind) {
    auto found = std::find_if(operations.begin(), operations.end(),
                              [kind](const Descriptor* o) { return o->kind == kind; });
    return found == operations.end() ? nullptr : *found;
}

void add_shape(GraphSummary& summary, const char* key, const Descriptor* operation, int name) {
    if (const Descriptor* tensor = operation->child(name))
        summary.attributes.push_back(text(key, shape_text(view(tensor).dimensions)));
}

/// Attribute names of a convolution's data, filter, output and its own descriptor, per direction.
struct ConvolutionNames {
    Kind kind;
    const char* operation;
    int x, w, y, convolution;
};
constexpr ConvolutionNames convolutions[] = {
    {Kind::op_convolution_forward, "convolution_forward", 704, 703, 705, 702},
    {Kind::op_convolution_backward_filter, "convolution_backward_filter", 716, 715, 717, 714},
    {Kind::op_convolution_backward_data, "convolution_backward_data", 710, 709, 711, 708}};

bool summarise_convolution(const std::vector<const Descriptor*>& operations, GraphSummary& summary) {
    for (const ConvolutionNames& names : convolutions) {
        const Descriptor* operation = first_of(operations, names.kind);
        if (!operation) continue;
        summary.operation = names.operation;
        add_shape(summary, "shape_x", operation, names.x);
        add_shape(summary, "shape_w", operation, names.w);
        add_shape(summary, "shape_y", operation, names.y);
        summary.attributes.push_back(text("type", name(view(operation->child(names.x)).type)));
        if (const Descriptor* convolution = operation->child(names.convolution)) {
            summary.attributes.push_back(
                text("padding", shape_text(convolution->integers(attribute::convolution_padding))));
            summary.attributes.push_back(
                text("stride", shape_text(convolution->integers(attribute::convolution_strides))));
            summary.attributes.push_back(
                text("dilation", shape_text(convolution->integers(attribute::convolution_dilations))));
        }
        if (operations.size() > 1)
            summary.attributes.push_back(
                number("fused_operations", static_cast<int64_t>(operations.size()) - 1));
        return true;
    }
    return false;
}

bool summarise_product(const std::vector<const Descriptor*>& operations, GraphSummary& summary) {
    const Descriptor* product = first_of(operations, Kind::op_matmul);
    if (!product) return false;
    TensorView a = view(product->child(attribute::op_matmul_a)),
               c = view(product->child(attribute::op_matmul_c));
    if (a.dimensions.size() < 2 || c.dimensions.size() < 2) return false;
    int64_t batch = 1;
    for (size_t i = 0; i + 2 < c.dimensions.size(); ++i) batch *= c.dimensions[i];
    summary.operation = "gemm";
    summary.attributes = {number("m", c.dimensions[c.dimensions.size() - 2]),
                          number("n", c.dimensions.back()),
                          number("k", a.dimensions.back()),
                          number("batch", batch),
                          text("type_a", name(a.type)),
                          text("type_c", name(c.type))};
    return true;
}

bool summarise_norm(const std::vector<const Descriptor*>& operations, GraphSummary& summary) {
    const Descriptor* forward = first_of(operations, Kind::op_norm_forward);
    const Descriptor* norm = forward ? forward : first_of(operations, Kind::op_norm_backward);
    if (!norm) return false;
    static constexpr const char* modes[] = {"layer_norm", "instance_norm", "batch_norm",
                                            "group_norm", "rms_norm",      "ada_layer_norm"};
    int64_t mode = norm->integer(forward ? 2000 : 2100, -1);
    summary.operation = forward ? "norm_forward" : "norm_backward";
    if (mode >= 0 && mode < 6) summary.attributes.push_back(text("mode", modes[mode]));
    add_shape(summary, "shape_x", norm, forward ? 2002 : 2101);
    return true;
}

}  // namespace

TensorView view(const Descriptor* tensor) {
    TensorView result;
    if (!tensor) return result;
    result.uid = tensor->integer(attribute::tensor_uid, 0);
    result.type = static_cast<DataType>(tensor->integer(attribute::tensor_type, 0));
    result.dimensions = tensor->integers(attribute::tensor_dimensions);
    result.in_memory = tensor->integer(attribute::tensor_virtual, 0) == 0 &&
                       tensor->integer(attribute::tensor_by_value, 0) == 0;
    return result;
}

std::vector<const Descriptor*> operations_of(const Descriptor& graph) {
    std::vector<const Descriptor*> result;
    if (const Value* operations = graph.find(attribute::graph_operations))
        for (const Shared& operation : operations->descriptors) result.push_back(operation.get());
    return result;
}

GraphSummary summarise(const Descriptor& graph) {
    GraphSummary summary;
    std::vector<const Descriptor*> operations = operations_of(graph);
    for (const Descriptor* operation : operations)
        for (const Outputs& outputs : outputs_by_kind())
            if (outputs.kind == operation->kind)
                for (int name : outputs.attributes) {
                    const Descriptor* tensor = operation->child(name);
                    if (tensor && view(tensor).in_memory) summary.output_uids.push_back(view(tensor).uid);
                }
    if (summarise_attention(operations, summary) || summarise_convolution(operations, summary) ||
        summarise_norm(operations, summary) || summarise_product(operations, summary))
        return summary;
    if (first_of(operations, Kind::op_resample_forward)) summary.operation = "pooling_forward";
    if (first_of(operations, Kind::op_resample_backward)) summary.operation = "pooling_backward";
    summary.attributes.push_back(number("operations", static_cast<int64_t>(operations.size())));
    return summary;
}

}  // namespace attnscope::vgpu::cudnn
