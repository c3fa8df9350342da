#pragma once
// cuDNN's graph ("backend") descriptors: typed bags of attributes. What a program sets it reads back; what
// cuDNN would compute (heuristics, engines, plans) is answered as if there were exactly one engine that needs
// no workspace.
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cudnn/types.h"

namespace attnscope::vgpu::cudnn {

/// cudnnBackendDescriptorType_t
enum class Kind : int {
    pointwise = 0,
    convolution = 1,
    engine = 2,
    engine_config = 3,
    heuristics = 4,
    plan = 5,
    op_convolution_forward = 10,
    op_convolution_backward_filter = 11,
    op_convolution_backward_data = 12,
    op_pointwise = 13,
    op_statistics = 14,
    graph = 15,
    variant_pack = 16,
    tensor = 17,
    matmul = 18,
    op_matmul = 19,
    op_batch_norm_finalize = 20,
    reduction = 21,
    op_reduction = 22,
    op_batch_norm_backward_weights = 23,
    op_resample_forward = 25,
    op_resample_backward = 26,
    op_concatenate = 27,
    op_signal = 28,
    op_norm_forward = 29,
    op_norm_backward = 30,
    op_reshape = 31,
    random = 32,
    op_random = 33,
    op_paged_cache_load = 35,
    op_block_scale_quantize = 36,
    op_block_scale_dequantize = 37,
    device_properties = 38,
    op_expand_band = 39,
    op_contract_band = 40,
    op_attention_forward = 41,
    op_moe_product = 42,
    op_attention_backward = 43,
    last = 43
};

/// cudnnBackendAttributeName_t: the ones that are read here.
namespace attribute {
constexpr int pointwise_mode = 0, pointwise_axis = 9;
constexpr int convolution_dilations = 102, convolution_strides = 103, convolution_padding = 105;
constexpr int heuristics_graph = 201, heuristics_results = 202;
constexpr int config_engine = 300, config_intermediates = 301, config_knobs = 302, config_workspace = 303,
              config_shared_memory = 304;
constexpr int plan_config = 401, plan_workspace = 402, plan_computed_uids = 403, plan_json = 405;
constexpr int op_pointwise_descriptor = 750, op_pointwise_x = 751, op_pointwise_b = 752, op_pointwise_y = 753;
constexpr int graph_operations = 801, graph_engine_count = 802;
constexpr int tensor_type = 901, tensor_dimensions = 902, tensor_strides = 903, tensor_uid = 906,
              tensor_virtual = 907, tensor_by_value = 908;
constexpr int pack_uids = 1000, pack_pointers = 1001;
constexpr int engine_graph = 1300, engine_index = 1301, engine_knobs = 1302, engine_numerical_notes = 1303,
              engine_layouts = 1304, engine_behavior_notes = 1305;
constexpr int op_matmul_a = 1520, op_matmul_b = 1521, op_matmul_c = 1522;
constexpr int device_properties_json = 2702;
}  // namespace attribute

/// cudnnBackendAttributeType_t
namespace type {
constexpr int data_type = 1, boolean = 2, int64 = 3, fp32 = 4, fp64 = 5, pointer = 6, descriptor = 15,
              int32 = 23, character = 24;
}
/// Bytes of one element; 0 for a type that does not exist.
size_t element_size(int type);

struct Descriptor;
using Shared = std::shared_ptr<const Descriptor>;
struct GraphSummary;

struct Value {
    int type = 0;
    int64_t count = 0;
    std::vector<unsigned char> bytes;
    std::vector<Shared> descriptors;  ///< instead of bytes, for type::descriptor
};

struct Descriptor {
    Kind kind;
    bool finalized = false;
    std::map<int, Value> values;
    std::shared_ptr<const GraphSummary> summary;  ///< plans: what an execution of it records

    const Value* find(int name) const;
    const Descriptor* child(int name, size_t index = 0) const;
    std::vector<int64_t> integers(int name) const;  ///< int64, int32, boolean and enumeration values
    int64_t integer(int name, int64_t otherwise) const;
};

/// What a cudnnBackendDescriptor_t points to. The content is shared: a descriptor that was given to another
/// one lives on in it after the program destroys its own.
struct BackendHandle {
    std::shared_ptr<Descriptor> content;
};

}  // namespace attnscope::vgpu::cudnn
