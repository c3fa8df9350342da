#pragma once
// cuDNN 9's documented types and values, as far as the stand-in needs them.
// tests/virtual_gpu/libs_abi_test.cpp compares them with NVIDIA's headers where those are.
#include <cstdint>
#include <string>
#include <vector>

#include "core/api.h"

namespace attnscope::vgpu::cudnn {

enum Status : int {
    success = 0,
    not_initialized = 1001,
    bad_param = 2000,
    bad_param_null_pointer = 2002,
    bad_param_not_finalized = 2004,
    bad_param_size_insufficient = 2006,
    bad_param_attribute_type = 2010,
    bad_param_descriptor_type = 2012,
    not_supported = 3000,
    arch_mismatch = 3007,
    internal_error = 4000,
    host_allocation_failed = 4003,
    execution_failed = 5000
};
const char* status_name(int status);

enum class DataType : int {
    fp32 = 0,
    fp64 = 1,
    fp16 = 2,
    int8 = 3,
    int32 = 4,
    uint8 = 6,
    bf16 = 9,
    int64 = 10,
    boolean = 11,
    fp8_e4m3 = 12,
    fp8_e5m2 = 13
};
const char* name(DataType type);
size_t size_of(DataType type);

/// What is behind a cudnnHandle_t.
struct Context {
    static constexpr uint64_t alive = 0x61747473636e6e31;
    uint64_t magic = alive;
    int device = 0;
    void* stream = nullptr;  ///< CUstream
};
inline bool usable(const Context* context) {
    return context && context->magic == Context::alive;
}

/// The text that cudnnGetLastErrorString gives on this thread; returns the status.
Status fail(Status status, const std::string& message);

/// "[8,16,1024,64]"
std::string shape_text(const std::vector<int64_t>& dimensions);

inline Attribute number(const char* key, int64_t value) {
    return {key, {}, value};
}
inline Attribute text(const char* key, std::string value) {
    return {key, std::move(value), 0};
}

/// Records a call of the non-graph functions on the handle's stream. NULL outputs are left out.
Status record(const Context* context, const char* function, const char* operation,
              std::vector<Attribute> attributes, std::vector<const void*> outputs);

}  // namespace attnscope::vgpu::cudnn
