#pragma once
// The descriptors of cuDNN's non-graph functions.
#include <cstdint>
#include <vector>

#include "cudnn/types.h"

namespace attnscope::vgpu::cudnn {

struct Tensor {  // tensors and filters
    DataType type = DataType::fp32;
    int format = 0;
    std::vector<int64_t> dimensions, strides;
};
inline std::string shape_of(const Tensor* tensor) {
    return shape_text(tensor ? tensor->dimensions : std::vector<int64_t>{});
}

struct Convolution {
    std::vector<int64_t> padding, stride, dilation;
    int mode = 1;
    DataType compute = DataType::fp32;
    int math_type = 0, groups = 1, reorder = 0;
};

struct Dropout {
    float probability = 0;
    void* states = nullptr;
    unsigned long long seed = 0;
};

/// A descriptor whose settings nothing here depends on.
struct Opaque {
    double settings[4] = {};
};

template <class Type>
Status create(Type** descriptor) {
    if (!descriptor) return bad_param_null_pointer;
    *descriptor = new Type;
    return success;
}
template <class Type>
Status destroy(Type* descriptor) {
    delete descriptor;
    return success;
}

}  // namespace attnscope::vgpu::cudnn
