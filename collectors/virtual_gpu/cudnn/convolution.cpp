// Convolutions of the non-graph functions. Algorithms are cuDNN's to choose: one is offered, with no
// workspace.
#include "cudnn/descriptors.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cudnn;
using attnscope::vgpu::Attribute;

namespace {

/// cudnnConvolutionFwdAlgoPerf_t and its two siblings.
struct Performance {
    int algorithm;
    Status status;
    float milliseconds;
    size_t workspace;
    int deterministic;
    int math_type;
    int reserved[3];
};

Status choose(const Context* handle, const Convolution* convolution, int requested, int* returned,
              Performance* results) {
    if (!usable(handle) || !convolution || !returned || !results || requested < 1) return bad_param;
    results[0] = {1, success, 0.0f, 0, 1, convolution->math_type,
                  {}};  // 1 is the precomputed implicit GEMM, or ALGO_1
    *returned = 1;
    return success;
}

Status no_workspace(size_t* bytes) {
    if (!bytes) return bad_param;
    *bytes = 0;
    return success;
}

Status convolve(const Context* handle, const char* function, const char* operation, const Tensor* x,
                const Tensor* w, const Convolution* convolution, const Tensor* y, void* output) {
    if (!usable(handle)) return not_initialized;
    if (!x || !w || !convolution || !y || !output) return bad_param_null_pointer;
    return record(
        handle, function, operation,
        {text("shape_x", shape_of(x)), text("shape_w", shape_of(w)), text("shape_y", shape_of(y)),
         text("type", name(x->type)), text("padding", shape_text(convolution->padding)),
         text("stride", shape_text(convolution->stride)), text("dilation", shape_text(convolution->dilation)),
         number("groups", convolution->groups)},
        {output});
}

}  // namespace

ATTNSCOPE_EXPORT Status cudnnGetConvolutionForwardAlgorithm_v7(Context* h, const Tensor*, const Tensor*,
                                                               const Convolution* convolution, const Tensor*,
                                                               int requested, int* returned,
                                                               Performance* results) {
    return choose(h, convolution, requested, returned, results);
}
ATTNSCOPE_EXPORT Status cudnnFindConvolutionForwardAlgorithmEx(Context* h, const Tensor*, const void*,
                                                               const Tensor*, const void*,
                                                               const Convolution* convolution, const Tensor*,
                                                               void*, int requested, int* returned,
                                                               Performance* results, void*, size_t) {
    return choose(h, convolution, requested, returned, results);
}
ATTNSCOPE_EXPORT Status cudnnGetConvolutionForwardWorkspaceSize(Context*, const Tensor*, const Tensor*,
                                                                const Convolution*, const Tensor*, int,
                                                                size_t* bytes) {
    return no_workspace(bytes);
}
ATTNSCOPE_EXPORT Status cudnnConvolutionForward(Context* h, const void*, const Tensor* x, const void*,
                                                const Tensor* w, const void*, const Convolution* convolution,
                                                int, void*, size_t, const void*, const Tensor* y,
                                                void* output) {
    return convolve(h, __func__, "convolution_forward", x, w, convolution, y, output);
}
ATTNSCOPE_EXPORT Status cudnnConvolutionBiasActivationForward(Context* h, const void*, const Tensor* x,
                                                              const void*, const Tensor* w, const void*,
                                                              const Convolution* convolution, int, void*,
                                                              size_t, const void*, const Tensor*, const void*,
                                                              const Tensor*, const void*, const void*,
                                                              const Tensor* y, void* output) {
    return convolve(h, __func__, "convolution_bias_activation_forward", x, w, convolution, y, output);
}

ATTNSCOPE_EXPORT Status cudnnGetConvolutionBackwardDataAlgorithm_v7(Context* h, const Tensor*, const Tensor*,
                                                                    const Convolution* convolution,
                                                                    const Tensor*, int requested,
                                                                    int* returned, Performance* results) {
    return choose(h, convolution, requested, returned, results);
}
ATTNSCOPE_EXPORT Status cudnnFindConvolutionBackwardDataAlgorithmEx(
    Context* h, const Tensor*, const void*, const Tensor*, const void*, const Convolution* convolution,
    const Tensor*, void*, int requested, int* returned, Performance* results, void*, size_t) {
    return choose(h, convolution, requested, returned, results);
}
ATTNSCOPE_EXPORT Status cudnnGetConvolutionBackwardDataWorkspaceSize(Context*, const Tensor*, const Tensor*,
                                                                     const Convolution*, const Tensor*, int,
                                                                     size_t* bytes) {
    return no_workspace(bytes);
}
ATTNSCOPE_EXPORT Status cudnnConvolutionBackwardData(Context* h, const void*, const Tensor* w, const void*,
                                                     const Tensor* dy, const void*,
                                                     const Convolution* convolution, int, void*, size_t,
                                                     const void*, const Tensor* dx, void* output) {
    return convolve(h, __func__, "convolution_backward_data", dx, w, convolution, dy, output);
}

ATTNSCOPE_EXPORT Status cudnnGetConvolutionBackwardFilterAlgorithm_v7(Context* h, const Tensor*,
                                                                      const Tensor*,
                                                                      const Convolution* convolution,
                                                                      const Tensor*, int requested,
                                                                      int* returned, Performance* results) {
    return choose(h, convolution, requested, returned, results);
}
ATTNSCOPE_EXPORT Status cudnnFindConvolutionBackwardFilterAlgorithmEx(
    Context* h, const Tensor*, const void*, const Tensor*, const void*, const Convolution* convolution,
    const Tensor*, void*, int requested, int* returned, Performance* results, void*, size_t) {
    return choose(h, convolution, requested, returned, results);
}
ATTNSCOPE_EXPORT Status cudnnGetConvolutionBackwardFilterWorkspaceSize(Context*, const Tensor*, const Tensor*,
                                                                       const Convolution*, const Tensor*, int,
                                                                       size_t* bytes) {
    return no_workspace(bytes);
}
ATTNSCOPE_EXPORT Status cudnnConvolutionBackwardFilter(Context* h, const void*, const Tensor* x, const void*,
                                                       const Tensor* dy, const void*,
                                                       const Convolution* convolution, int, void*, size_t,
                                                       const void*, const Tensor* dw, void* output) {
    return convolve(h, __func__, "convolution_backward_filter", x, dw, convolution, dy, output);
}
ATTNSCOPE_EXPORT Status cudnnConvolutionBackwardBias(Context* h, const void*, const Tensor* dy, const void*,
                                                     const void*, const Tensor*, void* output) {
    if (!usable(h)) return not_initialized;
    return record(h, __func__, "convolution_backward_bias", {text("shape_y", shape_of(dy))}, {output});
}
