#pragma once
// Theoretical occupancy: how many CTAs of a kernel fit on one SM, and what stops the next one.
// Source of the rules: cuda_occupancy.h of the CUDA Toolkit 13.0, with the opt-in shared memory limit
// (FUNC_SHMEM_LIMIT_OPTIN); a test compares both over a sweep of more than 100,000 inputs.
#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

struct Gpu;

/// The limits of one SM. All per SM unless said.
struct SmLimits {
    int major = 0, minor = 0;
    uint32_t warp_size = 32;
    uint32_t max_threads = 0;
    uint32_t max_ctas = 0;
    uint32_t registers = 0;
    uint32_t registers_per_cta = 0;
    uint32_t shared_bytes = 0;
    uint32_t shared_bytes_per_cta_optin = 0;
    uint32_t shared_bytes_reserved_per_cta = 0;
    uint32_t max_threads_per_cta = 1024;
};
SmLimits sm_limits(const Gpu& gpu);

struct KernelShape {
    uint32_t registers = 0;             ///< per thread
    uint32_t threads = 0;               ///< per CTA
    uint32_t static_shared_bytes = 0;   ///< per CTA
    uint32_t dynamic_shared_bytes = 0;  ///< per CTA
};

enum class Limiter { registers, shared_memory, warps, ctas };
const char* to_string(Limiter limiter);

struct Occupancy {
    bool launchable = false;  ///< false: one CTA does not fit; `reason` says why
    std::string reason;
    uint32_t ctas_per_sm = 0;
    uint32_t warps_per_sm = 0;
    uint32_t max_warps_per_sm = 0;
    double fraction = 0;            ///< warps_per_sm / max_warps_per_sm
    std::vector<Limiter> limiters;  ///< all that tie for the fewest CTAs, in the order of the enumeration
    uint32_t ctas_by_registers = 0, ctas_by_shared_memory = 0, ctas_by_warps = 0, ctas_by_ctas = 0;
};
Occupancy theoretical_occupancy(const SmLimits& sm, const KernelShape& kernel);

}  // namespace attnscope
