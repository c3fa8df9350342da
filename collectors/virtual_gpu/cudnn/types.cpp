#include "cudnn/types.h"

#include "symbols/answers.h"

namespace attnscope::vgpu::cudnn {
namespace {

constexpr StatusName names[] = {{0, "CUDNN_STATUS_SUCCESS"},
                                {1001, "CUDNN_STATUS_NOT_INITIALIZED"},
                                {1002, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"},
                                {1003, "CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH"},
                                {1004, "CUDNN_STATUS_DEPRECATED"},
                                {1005, "CUDNN_STATUS_LICENSE_ERROR"},
                                {1006, "CUDNN_STATUS_RUNTIME_IN_PROGRESS"},
                                {1007, "CUDNN_STATUS_RUNTIME_FP_OVERFLOW"},
                                {1008, "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"},
                                {2000, "CUDNN_STATUS_BAD_PARAM"},
                                {2001, "CUDNN_STATUS_INVALID_VALUE"},
                                {2002, "CUDNN_STATUS_BAD_PARAM_NULL_POINTER"},
                                {2003, "CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER"},
                                {2004, "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED"},
                                {2005, "CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND"},
                                {2006, "CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT"},
                                {2007, "CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH"},
                                {2008, "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH"},
                                {2009, "CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES"},
                                {2010, "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE"},
                                {2011, "CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH"},
                                {2012, "CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE"},
                                {3000, "CUDNN_STATUS_NOT_SUPPORTED"},
                                {3001, "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN"},
                                {3002, "CUDNN_STATUS_NOT_SUPPORTED_SHAPE"},
                                {3003, "CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE"},
                                {3004, "CUDNN_STATUS_NOT_SUPPORTED_LAYOUT"},
                                {3005, "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER"},
                                {3006, "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART"},
                                {3007, "CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH"},
                                {3008, "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING"},
                                {4000, "CUDNN_STATUS_INTERNAL_ERROR"},
                                {4001, "CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED"},
                                {4002, "CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE"},
                                {4003, "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"},
                                {4004, "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"},
                                {4005, "CUDNN_STATUS_INTERNAL_ERROR_BAD_LAUNCH_PARAM"},
                                {4006, "CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED"},
                                {5000, "CUDNN_STATUS_EXECUTION_FAILED"},
                                {5001, "CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER"},
                                {5002, "CUDNN_STATUS_EXECUTION_FAILED_CUBLAS"},
                                {5003, "CUDNN_STATUS_EXECUTION_FAILED_CUDART"},
                                {5004, "CUDNN_STATUS_EXECUTION_FAILED_CURAND"}};
}  // namespace

const char* status_name(int status) {
    return vgpu::status_name(names, status, "CUDNN_UNKNOWN_STATUS");
}

const char* name(DataType type) {
    switch (type) {
        case DataType::fp32:
            return "fp32";
        case DataType::fp64:
            return "fp64";
        case DataType::fp16:
            return "fp16";
        case DataType::int8:
            return "int8";
        case DataType::int32:
            return "int32";
        case DataType::uint8:
            return "uint8";
        case DataType::bf16:
            return "bf16";
        case DataType::int64:
            return "int64";
        case DataType::boolean:
            return "bool";
        case DataType::fp8_e4m3:
            return "fp8_e4m3";
        case DataType::fp8_e5m2:
            return "fp8_e5m2";
    }
    return "unknown";
}

size_t size_of(DataType type) {
    switch (type) {
        case DataType::fp64:
        case DataType::int64:
            return 8;
        case DataType::fp16:
        case DataType::bf16:
            return 2;
        case DataType::int8:
        case DataType::uint8:
        case DataType::boolean:
        case DataType::fp8_e4m3:
        case DataType::fp8_e5m2:
            return 1;
        default:
            return 4;
    }
}

std::string shape_text(const std::vector<int64_t>& dimensions) {
    std::string result = "[";
    for (size_t i = 0; i < dimensions.size(); ++i) result += (i ? "," : "") + std::to_string(dimensions[i]);
    return result + "]";
}

Status record(const Context* context, const char* function, const char* operation,
              std::vector<Attribute> attributes, std::vector<const void*> outputs) {
    std::erase(outputs, nullptr);
    issue_library_call(context->stream,
                       {"cuDNN", function, operation, std::move(attributes), std::move(outputs)});
    return success;
}

}  // namespace attnscope::vgpu::cudnn
