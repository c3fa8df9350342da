#include "nsight_systems_devices.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_set>

#include "finish.h"

namespace attnscope::importer {
namespace {

/// As NVML prints it; empty for what is none.
std::string uuid_of(std::string text) {
    if (text.starts_with("GPU-")) text.erase(0, 4);
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (text.size() != form.size()) return {};
    for (size_t i = 0; i < form.size(); ++i) {
        const bool hex = std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
        if (form[i] == '-' ? text[i] != '-' : !hex) return {};
        text[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
    }
    return "GPU-" + text;
}

/// GPU -> CUDA's ordinal: CUDA_VISIBLE_DEVICES can make them differ.
std::map<int64_t, uint32_t> ordinals(const Database& database, std::optional<uint64_t> pid) {
    std::map<int64_t, uint32_t> out;
    Rows rows(database, "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"});
    while (rows.next()) {
        const auto gpu = rows.integer(0);
        const auto cuda = rows.small(1);
        const auto of = rows.natural(2);
        if (gpu && cuda && (!pid || !of || *of == *pid)) out.try_emplace(*gpu, *cuda);
    }
    return out;
}

std::optional<uint32_t> positive(std::optional<uint32_t> value) {
    return value == 0U ? std::nullopt : value;
}

}  // namespace

std::vector<Device> nsight_systems_devices(const Database& database, std::optional<uint64_t> pid) {
    enum : size_t {
        id,
        name,
        chip,
        uuid,
        major,
        minor,
        sms,
        warp,
        warps_per_sm,
        ctas_per_sm,
        threads_per_cta,
        registers_per_sm,
        registers_per_cta,
        shared_per_sm,
        shared_per_cta,
        shared_optin,
        l2,
        memory,
        bandwidth,
        clock
    };
    Rows rows(database, "TARGET_INFO_GPU",
              {"id",
               "name",
               "chipName",
               "uuid",
               "computeMajor",
               "computeMinor",
               "smCount",
               "threadsPerWarp",
               "maxWarpsPerSm",
               "maxBlocksPerSm",
               "maxThreadsPerBlock",
               "maxRegistersPerSm",
               "maxRegistersPerBlock",
               "maxShmemPerSm",
               "maxShmemPerBlock",
               "maxShmemPerBlockOptin",
               "l2CacheSize",
               "totalMemory",
               "memoryBandwidth",
               "clockRate"});
    const auto by_gpu = ordinals(database, pid);
    std::vector<Device> out;
    std::unordered_set<int32_t> seen;
    while (rows.next()) {
        const auto gpu = rows.integer(id);
        if (!gpu || *gpu < 0 || *gpu > INT32_MAX) continue;
        const auto mapped = by_gpu.find(*gpu);
        Device d;
        d.ordinal = static_cast<int32_t>(mapped == by_gpu.end() ? *gpu : int64_t{mapped->second});
        if (!seen.insert(d.ordinal).second) continue;
        d.name = valid_utf8(std::string(rows.text(name).value_or("")));
        d.chip = valid_utf8(std::string(rows.text(chip).value_or("")));
        d.uuid = uuid_of(std::string(rows.text(uuid).value_or("")));
        d.major = positive(rows.small(major));
        if (d.major) d.minor = rows.small(minor);
        d.sm_count = positive(rows.small(sms));
        d.warp_size = positive(rows.small(warp));
        if (const auto warps = positive(rows.small(warps_per_sm)); warps && *warps <= 1024)
            d.max_threads_per_sm = *warps * std::min(d.warp_size.value_or(32), 1024U);
        d.max_ctas_per_sm = positive(rows.small(ctas_per_sm));
        d.max_threads_per_cta = positive(rows.small(threads_per_cta));
        d.registers_per_sm = positive(rows.small(registers_per_sm));
        d.registers_per_cta = positive(rows.small(registers_per_cta));
        d.shared_per_sm = positive(rows.small(shared_per_sm));
        d.shared_per_cta = positive(rows.small(shared_per_cta));
        d.shared_per_cta_optin = positive(rows.small(shared_optin));
        d.l2_bytes = rows.natural(l2);
        d.memory_bytes = rows.natural(memory);
        if (const auto b = rows.natural(bandwidth); b && *b > 0) d.dram_bytes_per_second = b;
        if (const auto hz = rows.natural(clock)) d.core_clock_khz = *hz / 1000;
        out.push_back(std::move(d));
    }
    return out;
}

}  // namespace attnscope::importer
