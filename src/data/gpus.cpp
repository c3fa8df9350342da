#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "attnscope/error.h"
#include "attnscope/gpu.h"
#include "gpu_table.h"

namespace attnscope {
namespace {

constexpr int kMostDevices = 64;  // more than any machine has; a typing error, not a wish

struct Table {
    std::vector<TableGpu> entries;
    std::vector<Gpu> gpus;  // the same order
};

Table load() {
    Table table;
    if (const char* path = std::getenv("ATTNSCOPE_GPUS"); path != nullptr && *path != '\0') {
        std::ifstream file(path, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        if (!file || text.empty())
            throw Error(std::string(path) + ": cannot be read (ATTNSCOPE_GPUS names it as the GPU table)");
        table.entries = parse_gpu_table(text, path);
    } else {
        table.entries = parse_gpu_table(kEmbeddedGpuTable, "gpus.tsv");
    }
    for (const TableGpu& entry : table.entries) table.gpus.push_back(entry.gpu);
    return table;
}

const Table& table() {
    static const Table the_table = load();
    return the_table;
}

bool same(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// "H100x2" -> ("H100", 2). The count is only split off behind a known name, so that a name may end in x2
/// itself.
std::pair<const Gpu*, int> one_kind(std::string_view text) {
    if (const Gpu* gpu = find_gpu(text)) return {gpu, 1};
    const size_t cross = text.find_last_of("xX");
    if (cross == std::string_view::npos) return {nullptr, 0};
    int count = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + cross + 1, end, count);
    const Gpu* gpu = find_gpu(text.substr(0, cross));
    if (gpu == nullptr || error != std::errc() || stop != end) return {nullptr, 0};
    return {gpu, count};
}

}  // namespace

const Figure* Gpu::figure(std::string_view key) const {
    for (const Figure& figure : figures)
        if (figure.key == key) return &figure;
    return nullptr;
}

std::optional<double> Gpu::value(std::string_view key) const {
    const Figure* found = figure(key);
    return found == nullptr ? std::nullopt : std::optional<double>(found->value);
}

const std::vector<Gpu>& gpus() {
    return table().gpus;
}

const Gpu* find_gpu(std::string_view name) {
    const Table& all = table();
    for (size_t i = 0; i < all.entries.size(); ++i) {
        const TableGpu& entry = all.entries[i];
        if (same(name, entry.gpu.id) || same(name, entry.gpu.name)) return &all.gpus[i];
        for (const std::string& alias : entry.aliases)
            if (same(name, alias)) return &all.gpus[i];
    }
    return nullptr;
}

std::string known_gpus() {
    std::string names;
    for (const Gpu& gpu : gpus()) names += (names.empty() ? "" : ", ") + gpu.id;
    return names;
}

std::vector<Gpu> parse_virtual_devices(std::string_view text) {
    constexpr std::string_view kPrefix = "virtual:";
    const std::string_view whole = text;
    if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
    std::vector<Gpu> devices;
    while (true) {
        const size_t comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        const auto [gpu, count] = one_kind(part);
        if (gpu == nullptr)
            throw Error("unknown device \"" + std::string(part.substr(0, 80)) + "\"; known: " + known_gpus() +
                        "; several: " + gpus().front().id + "x2");
        if (count < 1 || count > kMostDevices || devices.size() + static_cast<size_t>(count) > kMostDevices)
            throw Error("\"" + std::string(whole.substr(0, 80)) + "\": between 1 and " +
                        std::to_string(kMostDevices) + " virtual devices are possible");
        devices.insert(devices.end(), static_cast<size_t>(count), *gpu);
        if (comma == std::string_view::npos) return devices;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace attnscope
