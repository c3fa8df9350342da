// Batch normalisation of the non-graph functions.
#include "cudnn/descriptors.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cudnn;

namespace {

Status no_space(size_t* bytes) {
    if (!bytes) return bad_param;
    *bytes = 0;
    return success;
}

Status normalise(const Context* handle, const char* function, const char* operation, const Tensor* x,
                 std::vector<const void*> outputs) {
    if (!usable(handle)) return not_initialized;
    if (!x) return bad_param_null_pointer;
    return record(handle, function, operation, {text("shape_x", shape_of(x)), text("type", name(x->type))},
                  std::move(outputs));
}

}  // namespace

ATTNSCOPE_EXPORT Status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(Context*, int, int,
                                                                                 const Tensor*, const Tensor*,
                                                                                 const Tensor*, const Tensor*,
                                                                                 const void*, size_t* bytes) {
    return no_space(bytes);
}
ATTNSCOPE_EXPORT Status cudnnGetBatchNormalizationBackwardExWorkspaceSize(Context*, int, int, const Tensor*,
                                                                          const Tensor*, const Tensor*,
                                                                          const Tensor*, const Tensor*,
                                                                          const Tensor*, const void*,
                                                                          size_t* bytes) {
    return no_space(bytes);
}
ATTNSCOPE_EXPORT Status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(Context*, int, int, const void*,
                                                                             const Tensor*, size_t* bytes) {
    return no_space(bytes);
}

ATTNSCOPE_EXPORT Status cudnnBatchNormalizationForwardInference(Context* h, int, const void*, const void*,
                                                                const Tensor* x, const void*, const Tensor*,
                                                                void* y, const Tensor*, const void*,
                                                                const void*, const void*, const void*,
                                                                double) {
    return normalise(h, __func__, "batch_norm_inference", x, {y});
}
ATTNSCOPE_EXPORT Status cudnnBatchNormalizationForwardTraining(Context* h, int, const void*, const void*,
                                                               const Tensor* x, const void*, const Tensor*,
                                                               void* y, const Tensor*, const void*,
                                                               const void*, double, void* running_mean,
                                                               void* running_variance, double,
                                                               void* saved_mean, void* saved_inverse) {
    return normalise(h, __func__, "batch_norm_forward", x,
                     {y, running_mean, running_variance, saved_mean, saved_inverse});
}
ATTNSCOPE_EXPORT Status cudnnBatchNormalizationForwardTrainingEx(
    Context* h, int, int, const void*, const void*, const Tensor* x, const void*, const Tensor*, const void*,
    const Tensor*, void* y, const Tensor*, const void*, const void*, double, void* running_mean,
    void* running_variance, double, void* saved_mean, void* saved_inverse, const void*, void*, size_t,
    void* reserve, size_t) {
    return normalise(h, __func__, "batch_norm_forward", x,
                     {y, running_mean, running_variance, saved_mean, saved_inverse, reserve});
}
ATTNSCOPE_EXPORT Status cudnnBatchNormalizationBackward(Context* h, int, const void*, const void*,
                                                        const void*, const void*, const Tensor* x,
                                                        const void*, const Tensor*, const void*,
                                                        const Tensor*, void* dx, const Tensor*, const void*,
                                                        void* d_scale, void* d_bias, double, const void*,
                                                        const void*) {
    return normalise(h, __func__, "batch_norm_backward", x, {dx, d_scale, d_bias});
}
ATTNSCOPE_EXPORT Status cudnnBatchNormalizationBackwardEx(
    Context* h, int, int, const void*, const void*, const void*, const void*, const Tensor* x, const void*,
    const Tensor*, const void*, const Tensor*, const void*, const Tensor*, void* dz, const Tensor*, void* dx,
    const Tensor*, const void*, const void*, void* d_scale, void* d_bias, double, const void*, const void*,
    const void*, void*, size_t, void*, size_t) {
    return normalise(h, __func__, "batch_norm_backward", x, {dx, dz, d_scale, d_bias});
}
