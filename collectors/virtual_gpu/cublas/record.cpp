#include "cublas/record.h"

#include <algorithm>

#include "symbols/primary_context.h"

namespace attnscope::vgpu::cublas {
namespace {

/// The combinations of cublasGemmEx's documented table, without its exotic rows.
bool supported(const Product& p) {
    DataType a = p.a.type, b = p.b.type, c = p.c.type;
    switch (p.compute) {
        case ComputeType::fp16:
        case ComputeType::fp16_pedantic:
            return a == DataType::fp16 && b == a && c == a;
        case ComputeType::int32:
        case ComputeType::int32_pedantic:
            return a == DataType::int8 && b == a && c == DataType::int32;
        case ComputeType::fp64:
        case ComputeType::fp64_pedantic:
        case ComputeType::fp64_emulated:
            return (a == DataType::fp64 || a == DataType::complex128) && b == a && c == a;
        case ComputeType::fp32_fast_fp16:
        case ComputeType::fp32_fast_bf16:
        case ComputeType::fp32_fast_tf32:
        case ComputeType::fp32_emulated_bf16x9:
            return (a == DataType::fp32 || a == DataType::complex64) && b == a && c == a;
        case ComputeType::fp32:
        case ComputeType::fp32_pedantic:
            break;
        default:
            return false;
    }
    if (b != a) return false;
    switch (a) {
        case DataType::fp16:
        case DataType::bf16:
            return c == a || c == DataType::fp32;
        case DataType::int8:
            return c == DataType::fp32;
        case DataType::fp32:
            return c == a;
        case DataType::complex64:
            return c == a;
        default:
            return false;
    }
}

bool leading_dimensions_fit(const Product& p) {
    int64_t rows_a = p.transpose_a == Operation::none ? p.m : p.k;
    int64_t rows_b = p.transpose_b == Operation::none ? p.k : p.n;
    return p.a.leading >= std::max<int64_t>(1, rows_a) && p.b.leading >= std::max<int64_t>(1, rows_b) &&
           p.c.leading >= std::max<int64_t>(1, p.m);
}

}  // namespace

Status create_context(Context** context) {
    if (!context) return invalid_value;
    *context = nullptr;
    if (!ensure_context()) return not_initialized;
    const int ordinal = current_device();
    const Gpu& gpu = device(ordinal);
    if (gpu.major * 10 + gpu.minor < 75) return arch_mismatch;
    *context = new Context;
    (*context)->device = ordinal;
    return success;
}

void destroy_context(Context* context) {
    context->magic = 0;
    delete context;
}

bool valid(Operation operation) {
    return operation == Operation::none || operation == Operation::transpose ||
           operation == Operation::conjugate_transpose;
}

size_t size_of(DataType type) {
    switch (type) {
        case DataType::fp64:
        case DataType::complex64:
            return 8;
        case DataType::complex128:
            return 16;
        case DataType::fp16:
        case DataType::bf16:
            return 2;
        case DataType::int8:
        case DataType::uint8:
        case DataType::fp8_e4m3:
        case DataType::fp8_e5m2:
        case DataType::fp8_ue8m0:
        case DataType::fp4_e2m1:
            return 1;
        default:
            return 4;
    }
}

Status record_product(Context* context, const char* function, const Product& p) {
    if (!usable(context)) return not_initialized;
    if (!valid(p.transpose_a) || !valid(p.transpose_b) || p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0 ||
        !leading_dimensions_fit(p))
        return invalid_value;
    if (!supported(p)) return not_supported;
    if (p.m == 0 || p.n == 0 || p.batch == 0) return success;
    if (!p.alpha || !p.beta || !p.c.data) return invalid_value;
    std::vector<Attribute> attributes{number("m", p.m),
                                      number("n", p.n),
                                      number("k", p.k),
                                      number("batch", p.batch),
                                      text("type_a", name(p.a.type)),
                                      text("type_b", name(p.b.type)),
                                      text("type_c", name(p.c.type)),
                                      text("compute_type", name(p.compute, p.a.type, context->math_mode)),
                                      text("transpose_a", name(p.transpose_a)),
                                      text("transpose_b", name(p.transpose_b)),
                                      number("lda", p.a.leading),
                                      number("ldb", p.b.leading),
                                      number("ldc", p.c.leading)};
    if (p.batching == Batching::strided) {
        attributes.push_back(number("stride_a", p.a.stride));
        attributes.push_back(number("stride_b", p.b.stride));
        attributes.push_back(number("stride_c", p.c.stride));
    }
    std::vector<const void*> outputs;
    if (p.batching == Batching::pointer_arrays)
        attributes.push_back(
            text("batch_layout", "pointers"));  // which memory they name is known to the device alone
    else
        outputs.push_back(p.c.data);
    issue_library_call(context->stream,
                       {"cuBLAS", function, "gemm", std::move(attributes), std::move(outputs)});
    return success;
}

Status record_call(Context* context, const char* function, const char* operation,
                   std::vector<Attribute> attributes, std::vector<const void*> outputs,
                   std::vector<Result> scalar_results) {
    bool to_host = context->pointer_mode == PointerMode::host;
    if (!to_host)
        for (const Result& result : scalar_results) outputs.push_back(result.data);
    issue_library_call(context->stream,
                       {"cuBLAS", function, operation, std::move(attributes), std::move(outputs)});
    if (to_host)
        for (const Result& result : scalar_results)
            report_uncomputed_host_value(result.data, result.bytes, function);
    return success;
}

}  // namespace attnscope::vgpu::cublas
