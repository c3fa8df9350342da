#pragma once
// GPUs as data: every figure with its source. The table is src/data/gpus.tsv, embedded at build,
// replaced by the file that ATTNSCOPE_GPUS names.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// One figure of one GPU. Keys are CUDA's own attribute names (CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT is
/// "multiprocessor_count"), then a few of ours: memory_bytes, dram_bytes_per_second, flops_tensor_bf16, ...
struct Figure {
    std::string key;
    double value = 0;
    std::string unit;
    std::string source;    ///< a document, a public trace, ...
    bool assumed = false;  ///< no source could be found: named in the report when a program asks for it
};

struct Gpu {
    std::string id;    ///< as users name it: "H100-SXM5"
    std::string name;  ///< as the driver names it: "NVIDIA H100 80GB HBM3"
    std::string chip;  ///< as CUPTI names it: "GH100"
    int major = 0;     ///< compute capability
    int minor = 0;
    std::vector<Figure> figures;

    const Figure* figure(std::string_view key) const;  ///< nullptr when the table has none
    std::optional<double> value(std::string_view key) const;
};

const std::vector<Gpu>& gpus();
/// By id, alias ("A100", "H100") or driver name, case-insensitive; nullptr when unknown.
const Gpu* find_gpu(std::string_view name);
/// "V100, T4, A100-SXM4-80GB, ..." for error messages.
std::string known_gpus();

/// "virtual:H100-SXM5x2" or "H100x2" without the prefix -> one Gpu per device. Throws Error with the known
/// names.
std::vector<Gpu> parse_virtual_devices(std::string_view text);

}  // namespace attnscope
