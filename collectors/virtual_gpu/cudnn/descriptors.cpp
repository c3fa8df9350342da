#include "cudnn/descriptors.h"

#include <algorithm>

#include "symbols/export.h"

using namespace attnscope::vgpu::cudnn;

namespace {

constexpr int max_dimensions = 8;  // CUDNN_DIM_MAX

void pack(Tensor& tensor) {
    tensor.strides.assign(tensor.dimensions.size(), 1);
    for (size_t i = tensor.dimensions.size(); i-- > 1;)
        tensor.strides[i - 1] = tensor.strides[i] * tensor.dimensions[i];
}

/// CUDNN_TENSOR_NHWC is 1: the second dimension is innermost.
void pack_channels_last(Tensor& tensor) {
    size_t rank = tensor.dimensions.size();
    tensor.strides.assign(rank, 1);
    int64_t stride = tensor.dimensions[1];
    for (size_t i = rank; i-- > 2;) {
        tensor.strides[i] = stride;
        stride *= tensor.dimensions[i];
    }
    tensor.strides[0] = stride;
}

Status set_packed(Tensor* tensor, int format, DataType type, std::vector<int64_t> dimensions) {
    if (!tensor) return bad_param_null_pointer;
    if (std::any_of(dimensions.begin(), dimensions.end(), [](int64_t d) { return d <= 0; })) return bad_param;
    tensor->type = type;
    tensor->format = format;
    tensor->dimensions = std::move(dimensions);
    if (format == 1 && tensor->dimensions.size() > 2)
        pack_channels_last(*tensor);
    else
        pack(*tensor);
    return success;
}

template <class Target>
void copy_out(const std::vector<int64_t>& source, int requested, Target* target) {
    if (!target) return;
    for (size_t i = 0; i < source.size() && static_cast<int>(i) < requested; ++i)
        target[i] = static_cast<Target>(source[i]);
}

}  // namespace

ATTNSCOPE_EXPORT Status cudnnCreateTensorDescriptor(Tensor** tensor) {
    return create(tensor);
}
ATTNSCOPE_EXPORT Status cudnnDestroyTensorDescriptor(Tensor* tensor) {
    return destroy(tensor);
}
ATTNSCOPE_EXPORT Status cudnnSetTensorNdDescriptor(Tensor* tensor, DataType type, int rank,
                                                   const int* dimensions, const int* strides) {
    if (!tensor || !dimensions || !strides) return bad_param_null_pointer;
    if (rank < 1) return bad_param;
    if (rank > max_dimensions)
        return fail(not_supported, "cudnnSetTensorNdDescriptor: more than 8 dimensions");
    if (std::any_of(dimensions, dimensions + rank, [](int d) { return d <= 0; })) return bad_param;
    tensor->type = type;
    tensor->dimensions.assign(dimensions, dimensions + rank);
    tensor->strides.assign(strides, strides + rank);
    return success;
}
ATTNSCOPE_EXPORT Status cudnnSetTensorNdDescriptorEx(Tensor* tensor, int format, DataType type, int rank,
                                                     const int* dimensions) {
    if (!dimensions || rank < 1 || rank > max_dimensions) return bad_param;
    return set_packed(tensor, format, type, {dimensions, dimensions + rank});
}
ATTNSCOPE_EXPORT Status cudnnSetTensor4dDescriptor(Tensor* tensor, int format, DataType type, int n, int c,
                                                   int h, int w) {
    return set_packed(tensor, format, type, {n, c, h, w});
}
ATTNSCOPE_EXPORT Status cudnnSetTensor4dDescriptorEx(Tensor* tensor, DataType type, int n, int c, int h,
                                                     int w, int n_stride, int c_stride, int h_stride,
                                                     int w_stride) {
    Status status = set_packed(tensor, 0, type, {n, c, h, w});
    if (status == success) tensor->strides = {n_stride, c_stride, h_stride, w_stride};
    return status;
}
ATTNSCOPE_EXPORT Status cudnnGetTensorNdDescriptor(const Tensor* tensor, int requested, DataType* type,
                                                   int* rank, int* dimensions, int* strides) {
    if (!tensor) return bad_param_null_pointer;
    if (type) *type = tensor->type;
    if (rank) *rank = static_cast<int>(tensor->dimensions.size());
    copy_out(tensor->dimensions, requested, dimensions);
    copy_out(tensor->strides, requested, strides);
    return success;
}
ATTNSCOPE_EXPORT Status cudnnGetTensorSizeInBytes(const Tensor* tensor, size_t* bytes) {
    if (!tensor || !bytes) return bad_param_null_pointer;
    int64_t last = 1;
    for (size_t i = 0; i < tensor->dimensions.size(); ++i)
        last += (tensor->dimensions[i] - 1) * tensor->strides[i];
    *bytes = static_cast<size_t>(last) * size_of(tensor->type);
    return success;
}

ATTNSCOPE_EXPORT Status cudnnCreateFilterDescriptor(Tensor** filter) {
    return create(filter);
}
ATTNSCOPE_EXPORT Status cudnnDestroyFilterDescriptor(Tensor* filter) {
    return destroy(filter);
}
ATTNSCOPE_EXPORT Status cudnnSetFilterNdDescriptor(Tensor* filter, DataType type, int format, int rank,
                                                   const int* dimensions) {
    if (!dimensions || rank < 3 || rank > max_dimensions) return bad_param;
    return set_packed(filter, format, type, {dimensions, dimensions + rank});
}
ATTNSCOPE_EXPORT Status cudnnSetFilter4dDescriptor(Tensor* filter, DataType type, int format, int k, int c,
                                                   int h, int w) {
    return set_packed(filter, format, type, {k, c, h, w});
}
ATTNSCOPE_EXPORT Status cudnnGetFilterNdDescriptor(const Tensor* filter, int requested, DataType* type,
                                                   int* format, int* rank, int* dimensions) {
    if (!filter) return bad_param_null_pointer;
    if (type) *type = filter->type;
    if (format) *format = filter->format;
    if (rank) *rank = static_cast<int>(filter->dimensions.size());
    copy_out(filter->dimensions, requested, dimensions);
    return success;
}

ATTNSCOPE_EXPORT Status cudnnCreateConvolutionDescriptor(Convolution** convolution) {
    return create(convolution);
}
ATTNSCOPE_EXPORT Status cudnnDestroyConvolutionDescriptor(Convolution* convolution) {
    return destroy(convolution);
}
ATTNSCOPE_EXPORT Status cudnnSetConvolutionNdDescriptor(Convolution* convolution, int rank,
                                                        const int* padding, const int* stride,
                                                        const int* dilation, int mode, DataType compute) {
    if (!convolution || !padding || !stride || !dilation) return bad_param_null_pointer;
    if (rank < 1 || rank > max_dimensions) return bad_param;
    convolution->padding.assign(padding, padding + rank);
    convolution->stride.assign(stride, stride + rank);
    convolution->dilation.assign(dilation, dilation + rank);
    convolution->mode = mode;
    convolution->compute = compute;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnSetConvolutionMathType(Convolution* convolution, int math_type) {
    if (!convolution) return bad_param_null_pointer;
    convolution->math_type = math_type;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnSetConvolutionGroupCount(Convolution* convolution, int groups) {
    if (!convolution) return bad_param_null_pointer;
    convolution->groups = groups;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnGetConvolutionGroupCount(const Convolution* convolution, int* groups) {
    if (!convolution || !groups) return bad_param_null_pointer;
    *groups = convolution->groups;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnSetConvolutionReorderType(Convolution* convolution, int reorder) {
    if (!convolution) return bad_param_null_pointer;
    convolution->reorder = reorder;
    return success;
}

ATTNSCOPE_EXPORT Status cudnnCreateDropoutDescriptor(Dropout** dropout) {
    return create(dropout);
}
ATTNSCOPE_EXPORT Status cudnnDestroyDropoutDescriptor(Dropout* dropout) {
    return destroy(dropout);
}
/// How large the generator's states are depends on cuDNN and the device; no memory is needed where nothing is
/// drawn.
ATTNSCOPE_EXPORT Status cudnnDropoutGetStatesSize(Context* handle, size_t* bytes) {
    if (!usable(handle) || !bytes) return bad_param;
    *bytes = 0;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnRestoreDropoutDescriptor(Dropout* dropout, Context* handle, float probability,
                                                      void* states, size_t, unsigned long long seed) {
    if (!dropout || !usable(handle)) return bad_param;
    *dropout = {probability, states, seed};
    return success;
}
ATTNSCOPE_EXPORT Status cudnnSetDropoutDescriptor(Dropout* dropout, Context* handle, float probability,
                                                  void* states, size_t bytes, unsigned long long seed) {
    Status status = cudnnRestoreDropoutDescriptor(dropout, handle, probability, states, bytes, seed);
    if (status != success || !states) return status;
    return record(handle, "cudnnSetDropoutDescriptor", "dropout_states", {}, {states});
}
ATTNSCOPE_EXPORT Status cudnnGetDropoutDescriptor(const Dropout* dropout, Context* handle, float* probability,
                                                  void** states, unsigned long long* seed) {
    if (!dropout || !usable(handle)) return bad_param;
    if (probability) *probability = dropout->probability;
    if (states) *states = dropout->states;
    if (seed) *seed = dropout->seed;
    return success;
}
