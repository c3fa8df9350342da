#pragma once
// Shapes and roofs that the models' tests share.
#include "attnscope/gpu.h"
#include "attnscope/models.h"

namespace attnscope::test {

/// Hugging Face's "Profiling in PyTorch (part 3): attention": bf16, B8 H16 S1024 D64, causal.
inline AttentionShape blog_shape(Pass pass = Pass::forward) {
    AttentionShape s{8, 16, 16, 1024, 1024, 64, "bf16"};
    s.causal = true;
    s.pass = pass;
    return s;
}
inline constexpr double kScores = 134217728;  ///< 8 x 16 x 1024 x 1024
inline constexpr double kTensor = 8388608;    ///< elements of q, of k, of v, of o

/// No roof at all: amounts alone.
inline Roofs no_roofs() {
    Roofs r;
    for (Value* v : {&r.dram, &r.tensor, &r.tf32, &r.fp32, &r.exponentials, &r.l2})
        *v = Value::missing("no GPU in this test");
    return r;
}

inline Prediction amounts(const AttentionShape& shape, Method method) {
    return predict(shape, method, no_roofs(), Ground::virtual_gpu);
}

inline Roofs roofs(const char* gpu, const char* dtype) {
    return roofs_of(*find_gpu(gpu), dtype, Ground::virtual_gpu);
}

}  // namespace attnscope::test
