// cublasLtMatmul and its heuristic. Which algorithm a real GPU would take is not known: the heuristic returns
// one result, whose state is success, since LibTorch falls back to another route (a copy of the bias and
// cublasGemmEx) when it gets none.
#include <algorithm>

#include "core/api.h"
#include "cublas/context.h"
#include "cublas/lt.h"
#include "cublas/record.h"
#include "symbols/export.h"

namespace attnscope::vgpu::cublas {

const char* epilogue_name(uint32_t epilogue) {
    switch (epilogue) {
        case 1:
            return "none";
        case 2:
            return "relu";
        case 2 | 128:
            return "relu_aux";
        case 4:
            return "bias";
        case 2 | 4:
            return "relu_bias";
        case 2 | 4 | 128:
            return "relu_aux_bias";
        case 8 | 128:
            return "drelu";
        case 8 | 16 | 128:
            return "drelu_bias_gradient";
        case 32:
            return "gelu";
        case 32 | 128:
            return "gelu_aux";
        case 32 | 4:
            return "gelu_bias";
        case 32 | 4 | 128:
            return "gelu_aux_bias";
        case 64 | 128:
            return "dgelu";
        case 64 | 16 | 128:
            return "dgelu_bias_gradient";
        case 256:
            return "bias_gradient_a";
        case 512:
            return "bias_gradient_b";
        default:
            return "unknown";
    }
}

namespace {

struct Sizes {
    int64_t m, n, k, batch;
};

/// Status invalid_value where the layouts do not fit each other.
Status sizes_of(const LtMatmul& matmul, const LtLayout& a, const LtLayout& b, const LtLayout& d,
                Sizes& sizes) {
    auto rows = [](const LtLayout& layout, Operation operation) {
        return static_cast<int64_t>(operation == Operation::none ? layout.rows : layout.columns);
    };
    auto columns = [](const LtLayout& layout, Operation operation) {
        return static_cast<int64_t>(operation == Operation::none ? layout.columns : layout.rows);
    };
    sizes = {rows(a, matmul.transpose_a), columns(b, matmul.transpose_b), columns(a, matmul.transpose_a),
             d.batch};
    if (rows(b, matmul.transpose_b) != sizes.k || static_cast<int64_t>(d.rows) != sizes.m ||
        static_cast<int64_t>(d.columns) != sizes.n)
        return invalid_value;
    for (const LtLayout* layout : {&a, &b, &d}) {
        auto smallest = static_cast<int64_t>(layout->order == 1 ? layout->columns : layout->rows);
        if (layout->order <= 1 && layout->leading < std::max<int64_t>(1, smallest)) return invalid_value;
        if (layout->batch < 0) return invalid_value;
    }
    return success;
}

bool is_fp8(DataType type) {
    return type == DataType::fp8_e4m3 || type == DataType::fp8_e5m2;
}

/// Products of 8-bit floats need Tensor Cores that take them: compute capability 8.9 and up.
bool supported_on_device(int ordinal, const LtLayout& a) {
    const Gpu& gpu = device(ordinal);
    if (is_fp8(a.type)) return gpu.major * 10 + gpu.minor >= 89;
    if (a.type == DataType::fp4_e2m1) return gpu.major >= 10;
    return true;
}

}  // namespace
}  // namespace attnscope::vgpu::cublas

using namespace attnscope::vgpu::cublas;

ATTNSCOPE_EXPORT Status cublasLtMatmulAlgoGetHeuristic(Context* handle, const LtMatmul* matmul,
                                                       const LtLayout* a, const LtLayout* b,
                                                       const LtLayout* c, const LtLayout* d,
                                                       const LtPreference* preference, int requested,
                                                       LtHeuristic* results, int* returned) {
    if (!usable(handle)) return not_initialized;
    if (!matmul || !a || !b || !c || !d || !preference || !results || !returned || requested <= 0)
        return invalid_value;
    *returned = 0;
    Sizes sizes;
    if (Status status = sizes_of(*matmul, *a, *b, *d, sizes); status != success) return status;
    if (!supported_on_device(attnscope::vgpu::current_device(), *a)) return not_supported;
    results[0] = {};
    results[0].state = success;
    *returned = 1;
    return success;
}

ATTNSCOPE_EXPORT Status cublasLtMatmulAlgoCheck(Context* handle, const LtMatmul* matmul, const LtLayout* a,
                                                const LtLayout* b, const LtLayout* c, const LtLayout* d,
                                                const void* algorithm, LtHeuristic* result) {
    if (!usable(handle)) return not_initialized;
    if (!matmul || !a || !b || !c || !d || !algorithm || !result) return invalid_value;
    Sizes sizes;
    if (Status status = sizes_of(*matmul, *a, *b, *d, sizes); status != success) return status;
    result->workspace_bytes = 0;
    result->waves = 0;
    result->state = success;
    return success;
}

ATTNSCOPE_EXPORT Status cublasLtMatmul(Context* handle, const LtMatmul* matmul, const void* alpha,
                                       const void* a, const LtLayout* layout_a, const void* b,
                                       const LtLayout* layout_b, const void* beta, const void*,
                                       const LtLayout* layout_c, void* d, const LtLayout* layout_d,
                                       const void*, void*, size_t, void* stream) {
    if (!usable(handle)) return not_initialized;
    if (!matmul || !layout_a || !layout_b || !layout_c || !layout_d || !alpha || !beta) return invalid_value;
    Sizes sizes;
    if (Status status = sizes_of(*matmul, *layout_a, *layout_b, *layout_d, sizes); status != success)
        return status;
    if (!supported_on_device(attnscope::vgpu::current_device(), *layout_a)) return not_supported;
    if (sizes.m == 0 || sizes.n == 0 || sizes.batch == 0) return success;
    if (!d || (sizes.k > 0 && (!a || !b))) return invalid_value;

    std::vector<attnscope::vgpu::Attribute> attributes{
        number("m", sizes.m),
        number("n", sizes.n),
        number("k", sizes.k),
        number("batch", sizes.batch),
        text("type_a", name(layout_a->type)),
        text("type_b", name(layout_b->type)),
        text("type_c", name(layout_d->type)),
        text("compute_type", name(matmul->compute, layout_a->type, default_math)),
        text("transpose_a", name(matmul->transpose_a)),
        text("transpose_b", name(matmul->transpose_b)),
        number("lda", layout_a->leading),
        number("ldb", layout_b->leading),
        number("ldc", layout_d->leading),
        text("epilogue", epilogue_name(matmul->epilogue)),
        number("bias", matmul->bias != nullptr)};
    if (sizes.batch > 1) {
        attributes.push_back(number("stride_a", layout_a->batch_stride));
        attributes.push_back(number("stride_b", layout_b->batch_stride));
        attributes.push_back(number("stride_c", layout_d->batch_stride));
    }
    if (layout_a->order == 1) attributes.push_back(text("order", "row"));
    if (matmul->scale_a || matmul->scale_b || matmul->scale_d) attributes.push_back(number("scaled", 1));
    if (matmul->fast_accumulation) attributes.push_back(number("fast_accumulation", 1));

    std::vector<const void*> outputs{d};
    constexpr uint32_t auxiliary = 128, gradients = 8 | 64, bias_gradients = 16 | 256 | 512;
    // A forward epilogue writes the auxiliary buffer, a backward one reads it.
    if ((matmul->epilogue & auxiliary) && !(matmul->epilogue & gradients) && matmul->aux)
        outputs.push_back(matmul->aux);
    if ((matmul->epilogue & bias_gradients) && matmul->bias) outputs.push_back(matmul->bias);
    if (matmul->amax_d) outputs.push_back(matmul->amax_d);
    if (matmul->aux_amax) outputs.push_back(matmul->aux_amax);
    attnscope::vgpu::issue_library_call(
        stream, {"cuBLASLt", "cublasLtMatmul", "gemm", std::move(attributes), std::move(outputs)});
    return success;
}
