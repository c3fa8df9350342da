// The rules are those of cuda_occupancy.h (CUDA Toolkit 13.0) for compute capability 7.0 and later, where an
// SM has four partitions, registers are handed out to warps, and a kernel may opt in to more than 48 KiB of
// shared memory.
#include "attnscope/occupancy.h"

#include <algorithm>
#include <limits>

#include "attnscope/error.h"
#include "attnscope/gpu.h"

namespace attnscope {
namespace {

constexpr uint32_t kPartitions = 4;       // of an SM, each with a quarter of the registers
constexpr uint32_t kRegisterUnit = 256;   // registers are given to a warp in units of
constexpr uint32_t kMostRegisters = 256;  // per thread, as the header has it (the instruction set: 255)
constexpr uint64_t kNoLimit = std::numeric_limits<int32_t>::max();

uint64_t round_up(uint64_t value, uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

/// Shared memory is given to a CTA in units of 128 bytes since Ampere, 256 before.
uint64_t shared_unit(const SmLimits& sm) {
    return sm.major >= 8 ? 128 : 256;
}

uint32_t as_count(uint64_t value) {
    return static_cast<uint32_t>(std::min(value, kNoLimit));
}

std::string number(uint64_t value) {
    return std::to_string(value);
}

}  // namespace

SmLimits sm_limits(const Gpu& gpu) {
    const auto need = [&](const char* key) {
        const auto value = gpu.value(key);
        if (!value || *value < 0 || *value > std::numeric_limits<uint32_t>::max())
            throw Error("the GPU table says nothing usable of " + std::string(key) + " for " + gpu.id +
                        ", which occupancy needs; add the row");
        return static_cast<uint32_t>(*value);
    };
    SmLimits sm;
    sm.major = gpu.major;
    sm.minor = gpu.minor;
    sm.warp_size = need("warp_size");
    sm.max_threads = need("max_threads_per_multiprocessor");
    sm.max_ctas = need("max_blocks_per_multiprocessor");
    sm.registers = need("max_registers_per_multiprocessor");
    sm.registers_per_cta = need("max_registers_per_block");
    sm.shared_bytes = need("max_shared_memory_per_multiprocessor");
    sm.shared_bytes_per_cta_optin = need("max_shared_memory_per_block_optin");
    sm.shared_bytes_reserved_per_cta = need("reserved_shared_memory_per_block");
    sm.max_threads_per_cta = need("max_threads_per_block");
    if (sm.warp_size == 0 || sm.max_threads < sm.warp_size)
        throw Error("the GPU table's warp_size or max_threads_per_multiprocessor is wrong for " + gpu.id);
    return sm;
}

const char* to_string(Limiter limiter) {
    switch (limiter) {
        case Limiter::registers:
            return "registers";
        case Limiter::shared_memory:
            return "shared memory";
        case Limiter::warps:
            return "warps";
        case Limiter::ctas:
            return "CTAs";
    }
    return "";
}

Occupancy theoretical_occupancy(const SmLimits& sm, const KernelShape& kernel) {
    Occupancy result;
    result.max_warps_per_sm = sm.max_threads / sm.warp_size;
    if (kernel.threads == 0) {
        result.reason = "a CTA needs at least one thread";
        return result;
    }
    const uint64_t warps = (uint64_t{kernel.threads} + sm.warp_size - 1) / sm.warp_size;

    // Warps.
    const uint64_t by_warps = kernel.threads > sm.max_threads_per_cta ? 0 : result.max_warps_per_sm / warps;

    // CTAs: the hardware's slots.
    const uint64_t by_ctas = sm.max_ctas;

    // Registers. The launch check counts a CTA's warps in fours, as if it filled the partitions evenly.
    const uint64_t per_warp = round_up(uint64_t{kernel.registers} * sm.warp_size, kRegisterUnit);
    uint64_t by_registers = kNoLimit;
    const uint64_t checked = per_warp * round_up(warps, kPartitions);
    if (kernel.registers > kMostRegisters || checked > sm.registers_per_cta)
        by_registers = 0;
    else if (per_warp > 0)
        by_registers = sm.registers / kPartitions / per_warp * kPartitions / warps;

    // Shared memory: static + dynamic + what the system reserves for each CTA, with the opt-in limit.
    const uint64_t asked = uint64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes;
    const uint64_t allocated = round_up(asked + sm.shared_bytes_reserved_per_cta, shared_unit(sm));
    const uint64_t most = uint64_t{sm.shared_bytes_per_cta_optin} + sm.shared_bytes_reserved_per_cta;
    uint64_t by_shared = kNoLimit;
    if (allocated > most)
        by_shared = 0;
    else if (allocated > 0)
        by_shared = sm.shared_bytes / allocated;

    result.ctas_by_registers = as_count(by_registers);
    result.ctas_by_shared_memory = as_count(by_shared);
    result.ctas_by_warps = as_count(by_warps);
    result.ctas_by_ctas = as_count(by_ctas);
    const uint64_t fewest = std::min({by_registers, by_shared, by_warps, by_ctas});
    if (by_registers == fewest) result.limiters.push_back(Limiter::registers);
    if (by_shared == fewest) result.limiters.push_back(Limiter::shared_memory);
    if (by_warps == fewest) result.limiters.push_back(Limiter::warps);
    if (by_ctas == fewest) result.limiters.push_back(Limiter::ctas);
    result.ctas_per_sm = as_count(fewest);
    result.warps_per_sm = as_count(fewest * warps);
    result.fraction = static_cast<double>(result.warps_per_sm) / result.max_warps_per_sm;
    result.launchable = fewest > 0;
    if (by_warps == 0)
        result.reason =
            number(kernel.threads) + " threads, but a CTA has at most " + number(sm.max_threads_per_cta);
    else if (by_registers == 0)
        result.reason = number(kernel.registers) + " registers x " + number(kernel.threads) +
                        " threads do not fit a CTA's " + number(sm.registers_per_cta) + " registers";
    else if (by_shared == 0)
        result.reason = number(asked) + " bytes of shared memory, but a CTA has at most " +
                        number(sm.shared_bytes_per_cta_optin);
    return result;
}

}  // namespace attnscope
