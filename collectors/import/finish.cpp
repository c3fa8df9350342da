#include "finish.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <initializer_list>
#include <unordered_set>

#include "attnscope/gpu.h"
#include "cupti/json_line.h"

namespace attnscope::importer {
int64_t sort_launches(Process& process, Launches& launches, std::vector<std::optional<uint64_t>>& external) {
    int64_t first = INT64_MAX;
    uint64_t last_correlation = 0, without = 0;
    for (const TimedLaunch& l : launches) {
        if (l.start) first = std::min(first, *l.start);
        if (l.launch.correlation == kNoCorrelation)
            ++without;
        else
            last_correlation = std::max(last_correlation, l.launch.correlation);
    }
    // Where each stands is sorted, not the launches themselves: they are large.
    struct Place {
        uint64_t correlation;
        int64_t start;
        size_t at;
        auto operator<=>(const Place&) const = default;
    };
    std::vector<Place> order;
    order.reserve(launches.size());
    for (const TimedLaunch& l : launches)
        order.push_back({l.launch.correlation, l.start.value_or(INT64_MAX), order.size()});
    std::sort(order.begin(), order.end());
    if (without > 0) {
        for (const Place& place : order)
            if (place.correlation == kNoCorrelation)
                launches[place.at].launch.correlation = ++last_correlation;
        process.diagnostics.push_back(
            {DiagnosticLevel::info, "import-no-correlation",
             process.file + ": launches without a correlation id stand behind the others, in the order of "
                            "their start, and have no operation",
             "", without});
    }
    const int64_t shift = first > 0 ? 0 : 1 - first;
    process.launches.reserve(launches.size());
    for (const Place& place : order) {
        TimedLaunch& l = launches[place.at];
        if (l.start && l.end && *l.start + shift > 0) {
            l.launch.start_ns = static_cast<uint64_t>(*l.start + shift);
            l.launch.end_ns = static_cast<uint64_t>(*l.end + shift);
        }
        external.push_back(l.external);
        process.launches.push_back(std::move(l.launch));
    }
    launches.clear();
    return shift;
}

void close(Process& process) {
    uint64_t held[4] = {};
    for (const Launch& launch : process.launches) ++held[static_cast<size_t>(launch.kind)];
    process.end = EndCounts{held[0], held[1], held[2], held[3], 0};
    process.ground = Ground::imported;
    for (Device& device : process.devices) device.ground = Ground::imported;
}

std::string copy_kind(std::string_view text) {
    constexpr std::string_view known[] = {"HtoD", "DtoH", "DtoD", "HtoH", "PtoP",
                                          "AtoD", "DtoA", "AtoA", "AtoH", "HtoA"};
    for (const std::string_view kind : known)
        if (text.find(kind) != std::string_view::npos) return std::string(kind);
    constexpr std::pair<std::string_view, const char*> long_words[] = {{"Host-to-Device", "HtoD"},
                                                                       {"Device-to-Host", "DtoH"},
                                                                       {"Device-to-Device", "DtoD"},
                                                                       {"Host-to-Host", "HtoH"},
                                                                       {"Peer-to-Peer", "PtoP"}};
    for (const auto& [word, kind] : long_words)
        if (text.find(word) != std::string_view::npos) return kind;
    return {};
}

std::string copy_kind(uint64_t kind) {
    // CUpti_ActivityMemcpyKind, CUPTI 13.0.
    constexpr const char* names[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
    return kind < std::size(names) ? names[kind] : "";
}

void set_copy_kind(Process& process, Launch& launch, const std::string& kind) {
    if (kind.empty()) return;
    const auto found = std::find(process.copy_kinds.begin(), process.copy_kinds.end(), kind);
    launch.copy_kind = static_cast<uint32_t>(found - process.copy_kinds.begin());
    if (found == process.copy_kinds.end()) process.copy_kinds.push_back(kind);
}

namespace {

bool is_amd(const Device& device) {
    if (device.warp_size == 64U) return true;
    for (const char* word : {"AMD", "Instinct", "Radeon", "gfx"})
        if (device.name.find(word) != std::string::npos) return true;
    return false;
}

/// A GPU of the same compute capability, for the figures that its architecture fixes.
const Gpu* same_capability(const Device& device) {
    if (!device.major || !device.minor) return nullptr;
    for (const Gpu& gpu : gpus())
        if (gpu.major == static_cast<int>(*device.major) && gpu.minor == static_cast<int>(*device.minor))
            return &gpu;
    return nullptr;
}

}  // namespace

void complete_device(Device& d, std::vector<Diagnostic>& diagnostics) {
    if (is_amd(d)) return;
    const Gpu* named = d.name.empty() ? nullptr : find_gpu(d.name);
    if (named && d.major && d.minor &&
        (named->major != static_cast<int>(*d.major) || named->minor != static_cast<int>(*d.minor)))
        named = nullptr;
    const Gpu* gpu = named ? named : same_capability(d);
    if (!gpu) return;
    std::string taken;
    const auto fill = [&](auto& figure, const char* key) {
        const auto value = gpu->value(key);
        if (figure || !value || *value < 0) return;
        figure = static_cast<typename std::decay_t<decltype(figure)>::value_type>(*value);
        taken += (taken.empty() ? "" : ", ") + std::string(key);
    };
    // Fixed by the architecture, whatever the model.
    fill(d.warp_size, "warp_size");
    fill(d.max_threads_per_sm, "max_threads_per_multiprocessor");
    fill(d.max_ctas_per_sm, "max_blocks_per_multiprocessor");
    fill(d.max_threads_per_cta, "max_threads_per_block");
    fill(d.registers_per_sm, "max_registers_per_multiprocessor");
    fill(d.registers_per_cta, "max_registers_per_block");
    fill(d.shared_per_sm, "max_shared_memory_per_multiprocessor");
    fill(d.shared_per_cta, "max_shared_memory_per_block");
    fill(d.shared_per_cta_optin, "max_shared_memory_per_block_optin");
    fill(d.shared_reserved_per_cta, "reserved_shared_memory_per_block");
    if (named) {
        fill(d.sm_count, "multiprocessor_count");
        fill(d.l2_bytes, "l2_cache_size");
        fill(d.memory_bytes, "memory_bytes");
        fill(d.dram_bytes_per_second, "dram_bytes_per_second");
        if (d.chip.empty()) d.chip = named->chip;
        if (!d.major) d.major = static_cast<uint32_t>(named->major);
        if (!d.minor) d.minor = static_cast<uint32_t>(named->minor);
    }
    if (taken.empty()) return;
    diagnostics.push_back(
        {DiagnosticLevel::info, "import-device-completed",
         "device " + std::to_string(d.ordinal) + " (" + (d.name.empty() ? "no name" : d.name) +
             "): the file does not give these figures, they are those of " +
             (named ? gpu->id
                    : "compute capability " + std::to_string(gpu->major) + "." + std::to_string(gpu->minor)) +
             " in the GPU table: " + taken,
         "", 1});
}

void add_devices(Process& process, const Launches& launches, std::vector<Device> devices) {
    std::unordered_set<int32_t> used;
    for (const TimedLaunch& l : launches) used.insert(l.launch.device);
    const bool any = std::any_of(devices.begin(), devices.end(),
                                 [&](const Device& d) { return used.contains(d.ordinal); });
    for (Device& d : devices) {
        if ((any && !used.contains(d.ordinal)) || process.devices.size() == kMostDevices) continue;
        complete_device(d, process.diagnostics);
        process.devices.push_back(std::move(d));
    }
}

std::string valid_utf8(std::string text, bool* broken) {
    if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; }))
        return text;
    std::string out;
    for (size_t i = 0; i < text.size();) {
        const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + i;
        size_t skip = 1;
        if (const size_t length = *p < 0x80 ? 1 : collector::utf8_sequence_length(p, text.size() - i, skip)) {
            out.append(text, i, length);
            i += length;
            continue;
        }
        collector::append_utf8(out, 0xFFFD);
        if (broken) *broken = true;
        i += skip;
    }
    return out;
}

}  // namespace attnscope::importer
