// The rest of what LibTorch calls: pooling, activations, CTC loss and the spatial transformer.
#include "cudnn/descriptors.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cudnn;

#define OPAQUE(Name)                                                             \
    ATTNSCOPE_EXPORT Status cudnnCreate##Name##Descriptor(Opaque** descriptor) { \
        return create(descriptor);                                               \
    }                                                                            \
    ATTNSCOPE_EXPORT Status cudnnDestroy##Name##Descriptor(Opaque* descriptor) { \
        return destroy(descriptor);                                              \
    }
OPAQUE(Activation)
OPAQUE(Pooling)
OPAQUE(CTCLoss)
OPAQUE(SpatialTransformer)

ATTNSCOPE_EXPORT Status cudnnSetActivationDescriptor(Opaque* d, int, int, double) {
    return d ? success : bad_param_null_pointer;
}
ATTNSCOPE_EXPORT Status cudnnSetPooling2dDescriptor(Opaque* d, int, int, int, int, int, int, int, int) {
    return d ? success : bad_param_null_pointer;
}
ATTNSCOPE_EXPORT Status cudnnSetPoolingNdDescriptor(Opaque* d, int, int, int, const int*, const int*,
                                                    const int*) {
    return d ? success : bad_param_null_pointer;
}
ATTNSCOPE_EXPORT Status cudnnSetCTCLossDescriptor(Opaque* d, DataType) {
    return d ? success : bad_param_null_pointer;
}
ATTNSCOPE_EXPORT Status cudnnSetCTCLossDescriptorEx(Opaque* d, DataType, int, int) {
    return d ? success : bad_param_null_pointer;
}
ATTNSCOPE_EXPORT Status cudnnSetCTCLossDescriptor_v8(Opaque* d, DataType, int, int, int) {
    return d ? success : bad_param_null_pointer;
}
ATTNSCOPE_EXPORT Status cudnnSetCTCLossDescriptor_v9(Opaque* d, DataType, int, int, int) {
    return d ? success : bad_param_null_pointer;
}
ATTNSCOPE_EXPORT Status cudnnSetSpatialTransformerNdDescriptor(Opaque* d, int, DataType, int, const int*) {
    return d ? success : bad_param_null_pointer;
}

ATTNSCOPE_EXPORT Status cudnnPoolingForward(Context* h, const Opaque*, const void*, const Tensor* x,
                                            const void*, const void*, const Tensor* y, void* output) {
    if (!usable(h)) return not_initialized;
    return record(h, __func__, "pooling_forward",
                  {text("shape_x", shape_of(x)), text("shape_y", shape_of(y))}, {output});
}
ATTNSCOPE_EXPORT Status cudnnPoolingBackward(Context* h, const Opaque*, const void*, const Tensor* y,
                                             const void*, const Tensor*, const void*, const Tensor* x,
                                             const void*, const void*, const Tensor*, void* dx) {
    if (!usable(h)) return not_initialized;
    return record(h, __func__, "pooling_backward",
                  {text("shape_x", shape_of(x)), text("shape_y", shape_of(y))}, {dx});
}

ATTNSCOPE_EXPORT Status cudnnGetCTCLossWorkspaceSize(Context*, const Tensor*, const Tensor*, const int*,
                                                     const int*, const int*, int, const Opaque*,
                                                     size_t* bytes) {
    if (!bytes) return bad_param;
    *bytes = 0;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnGetCTCLossWorkspaceSize_v8(Context*, int, const Opaque*, const Tensor*,
                                                        const Tensor*, size_t* bytes) {
    if (!bytes) return bad_param;
    *bytes = 0;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnCTCLoss(Context* h, const Tensor* probabilities, const void*, const int*,
                                     const int*, const int*, void* costs, const Tensor*, void* gradients, int,
                                     const Opaque*, void*, size_t) {
    if (!usable(h)) return not_initialized;
    return record(h, __func__, "ctc_loss", {text("shape_x", shape_of(probabilities))}, {costs, gradients});
}
ATTNSCOPE_EXPORT Status cudnnCTCLoss_v8(Context* h, int, const Opaque*, const Tensor* probabilities,
                                        const void*, const int*, const int*, const int*, void* costs,
                                        const Tensor*, void* gradients, size_t, void*) {
    if (!usable(h)) return not_initialized;
    return record(h, __func__, "ctc_loss", {text("shape_x", shape_of(probabilities))}, {costs, gradients});
}

ATTNSCOPE_EXPORT Status cudnnSpatialTfGridGeneratorForward(Context* h, const Opaque*, const void*,
                                                           void* grid) {
    if (!usable(h)) return not_initialized;
    return record(h, __func__, "affine_grid_forward", {}, {grid});
}
ATTNSCOPE_EXPORT Status cudnnSpatialTfGridGeneratorBackward(Context* h, const Opaque*, const void*,
                                                            void* d_theta) {
    if (!usable(h)) return not_initialized;
    return record(h, __func__, "affine_grid_backward", {}, {d_theta});
}
ATTNSCOPE_EXPORT Status cudnnSpatialTfSamplerForward(Context* h, const Opaque*, const void*, const Tensor* x,
                                                     const void*, const void*, const void*, const Tensor*,
                                                     void* y) {
    if (!usable(h)) return not_initialized;
    return record(h, __func__, "grid_sample_forward", {text("shape_x", shape_of(x))}, {y});
}
ATTNSCOPE_EXPORT Status cudnnSpatialTfSamplerBackward(Context* h, const Opaque*, const void*, const Tensor* x,
                                                      const void*, const void*, const Tensor*, void* dx,
                                                      const void*, const Tensor*, const void*, const void*,
                                                      const void*, void* d_grid) {
    if (!usable(h)) return not_initialized;
    return record(h, __func__, "grid_sample_backward", {text("shape_x", shape_of(x))}, {dx, d_grid});
}
