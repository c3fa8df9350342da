#pragma once
// What an operation graph computes, in the words of a report.
#include <cstdint>
#include <string>
#include <vector>

#include "cudnn/backend.h"

namespace attnscope::vgpu::cudnn {

struct GraphSummary {
    const char* operation =
        "graph";  ///< "attention_forward", "convolution_backward_data", ...; a string literal
    std::vector<Attribute> attributes;
    std::vector<int64_t> output_uids;  ///< tensors in memory that the graph writes
};

GraphSummary summarise(const Descriptor& graph);

/// A tensor as a graph sees it.
struct TensorView {
    int64_t uid = 0;
    DataType type = DataType::fp32;
    std::vector<int64_t> dimensions;
    bool in_memory = false;  ///< neither virtual nor a host scalar
};
TensorView view(const Descriptor* tensor);

std::vector<const Descriptor*> operations_of(const Descriptor& graph);

/// Fills the summary if the operations are scaled dot-product attention: cuDNN's own attention operations, or
/// the products, softmax and masks from which cudnn_frontend composes it.
bool summarise_attention(const std::vector<const Descriptor*>& operations, GraphSummary& summary);

}  // namespace attnscope::vgpu::cudnn
