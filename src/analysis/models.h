#pragma once
// What can be said without running anything: bounds and conventions, with their formulas.
// Sources: bytes per score element are the reads and writes of the kernels that LibTorch 2.11 launches,
// counted one by one; FLOPs by the convention of Dao-AILab/flash-attention,
// benchmarks/benchmark_flash_attention.py.
#include "attnscope/analysis.h"

namespace attnscope {

/// q, k, v read once and the output written once: no implementation of the forward pass can move less.
Value least_bytes(const Workload& workload, Ground ground);
/// Useful floating point operations by the published convention.
Value attention_flops(const Workload& workload, Ground ground);
/// Bytes of the score matrix through device memory, from the kernels that read and write it.
Value score_matrix_bytes(const Implementation& implementation, const Workload& workload, Ground ground);

}  // namespace attnscope
