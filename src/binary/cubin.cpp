// A cubin is an ELF file. Per kernel K it has
//   a symbol K of type FUNC with STO_CUDA_ENTRY, in section .text.K
//   .nv.info.K      attributes of the kernel: {u8 format, u8 attribute, u16 value or size, bytes...}
//   .nv.shared.K    no bytes, its size is the static shared memory (on sm_90 and later with the system's
//   1,024)
// and once .nv.info, whose attributes name the kernel by its symbol's index, and .nv.constant3, the user's
// constants. NVIDIA documents none of it: names as cuobjdump -elf prints them, layout checked against
// cuobjdump -res-usage.
#include "cubin.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace attnscope {
namespace binary {
namespace {

enum class Attribute : uint8_t {
    max_threads = 0x05,
    externs = 0x0f,
    required_threads = 0x10,  // EIATTR_REQNTID
    frame_size = 0x11,
    min_stack_size = 0x12,
    parameter = 0x17,  // EIATTR_KPARAM_INFO
    register_count = 0x2f,
    ctas_per_cluster = 0x3d,
    explicit_cluster = 0x3e,
    parameter_v2 = 0x45,
    annotations = 0x55,
};

constexpr uint8_t kSizedValue = 4;        // EIFMT_SVAL: the 16-bit word is the size of what follows
constexpr uint8_t kEntry = 0x10;          // STO_CUDA_ENTRY in st_other: a kernel, not a device function
constexpr uint8_t kFunction = 2;          // STT_FUNC
constexpr uint32_t kSymbolTable = 2;      // SHT_SYMTAB
constexpr uint64_t kSystemShared = 1024;  // reserved for each CTA on sm_90 and later, counted in .nv.shared.K
constexpr uint32_t kMaxThreads = 1024;

/// Calls visit(attribute, value bytes) for each attribute of a .nv.info section.
template <class Visit>
void for_each_attribute(const View& info, Visit visit) {
    uint64_t at = 0;
    while (at < info.size()) {
        const auto format = info.at<uint8_t>(at);
        const auto attribute = static_cast<Attribute>(info.at<uint8_t>(at + 1));
        const auto size = info.at<uint16_t>(at + 2);
        at += 4;
        if (format != kSizedValue) {
            visit(attribute, View({}, info.origin()));
            continue;
        }
        visit(attribute, View(info.slice(at, size), info.origin()));
        at += size;
    }
}

uint32_t product(const View& three) {
    uint64_t result = 1;
    for (uint64_t i = 0; i < 3; ++i) {
        result *= three.at<uint32_t>(i * 4);
        if (result > std::numeric_limits<uint32_t>::max())
            three.damaged("a block of threads is absurdly large");
    }
    return static_cast<uint32_t>(result);
}

/// How many threads a CTA may have by the SM's 65,536 registers: they are handed out to warps in units of
/// 256, and warps come in fours, one for each of the SM's partitions (cuda_occupancy.h,
/// cudaOccMaxBlocksPerSMRegsLimit).
uint32_t max_threads_by_registers(uint32_t registers) {
    const uint32_t per_warp = (registers * 32 + 255) / 256 * 256;
    const uint32_t warps = per_warp == 0 ? 32 : 65536 / per_warp / 4 * 4;
    return std::min(kMaxThreads, warps * 32);
}

/// What the driver reports, found by comparing CUPTI's records on H100 with the cubins: at least 16, and 32
/// where the kernel calls one of the driver's functions (CALL.ABS to __assertfail, vprintf, malloc).
/// EIATTR_EXTERNS lists those: in the first 14,729 kernels of libtorch_cuda.so for sm_90 it stands exactly
/// where the disassembly has a CALL.ABS.
uint32_t registers_as_reported(uint32_t in_cubin, bool calls_driver) {
    return std::max(in_cubin, calls_driver ? 32U : 16U);
}

struct Draft {
    KernelResources kernel;
    bool calls_driver = false;
    bool has_cluster = false;
    uint32_t cluster[3] = {0, 0, 0};
    std::vector<std::pair<uint32_t, KernelParameter>> parameters;  // with their ordinals
};

void read_parameter(const View& value, bool v2, Draft& draft) {
    KernelParameter parameter;
    const uint32_t ordinal = value.at<uint16_t>(4);
    parameter.offset = value.at<uint16_t>(6);
    const auto packed = value.at<uint32_t>(8);
    // The other bits: alignment of what a pointer points at, its space, the constant bank.
    parameter.size = v2 ? packed & 0xffff : packed >> 18;
    draft.parameters.emplace_back(ordinal, parameter);
}

void read_kernel_info(const View& info, Draft& draft) {
    for_each_attribute(info, [&](Attribute attribute, const View& value) {
        switch (attribute) {
            case Attribute::max_threads:
            case Attribute::required_threads:
                draft.kernel.max_threads = product(value);
                draft.kernel.launch_bounded = true;
                break;
            case Attribute::externs:
                draft.calls_driver = value.size() >= 4;
                break;
            case Attribute::ctas_per_cluster:
                for (uint64_t i = 0; i < 3; ++i) draft.cluster[i] = value.at<uint32_t>(i * 4);
                break;
            case Attribute::explicit_cluster:
                draft.has_cluster = true;
                break;
            case Attribute::parameter:
                read_parameter(value, false, draft);
                break;
            case Attribute::parameter_v2:
                read_parameter(value, true, draft);
                break;
            default:
                break;
        }
    });
}

uint32_t as_bytes(const Section& section, const View& view) {
    if (section.size > std::numeric_limits<uint32_t>::max()) view.damaged("a section is absurdly large");
    return static_cast<uint32_t>(section.size);
}

void finish(Draft& draft) {
    KernelResources& kernel = draft.kernel;
    kernel.registers = registers_as_reported(kernel.cubin_registers, draft.calls_driver);
    if (!kernel.launch_bounded) kernel.max_threads = max_threads_by_registers(kernel.registers);
    if (draft.has_cluster || draft.cluster[0] > 1 || draft.cluster[1] > 1 || draft.cluster[2] > 1)
        std::copy(std::begin(draft.cluster), std::end(draft.cluster), std::begin(kernel.required_cluster));
    std::sort(draft.parameters.begin(), draft.parameters.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [ordinal, parameter] : draft.parameters) kernel.parameters.push_back(parameter);
}

}  // namespace

int cubin_sm(const Elf& elf) {
    // CUDA 13 moved the number when it changed the ELF's OS/ABI from 0x33 to 0x41.
    constexpr uint8_t kOldAbi = 0x33;
    return static_cast<int>((elf.os_abi() == kOldAbi ? elf.flags() : elf.flags() >> 8) & 0xff);
}

std::vector<KernelResources> read_cubin(const Elf& elf) {
    const View& view = elf.view();
    if (elf.machine() != kMachineCuda)
        throw Error(std::string(view.origin()) + ": an ELF file, but not device code (a cubin)");
    const bool reserves_shared = cubin_sm(elf) >= 90;

    std::unordered_map<std::string_view, Draft*> by_name;
    std::vector<Draft> drafts;
    std::vector<Symbol> symbols;
    for (const Section& section : elf.sections())
        if (section.type == kSymbolTable && section.name == ".symtab") symbols = elf.symbols(section);
    const auto is_kernel = [](const Symbol& symbol) {
        return (symbol.info & 0xf) == kFunction && (symbol.other & kEntry) != 0 && !symbol.name.empty();
    };
    drafts.reserve(static_cast<size_t>(std::count_if(symbols.begin(), symbols.end(), is_kernel)));
    std::vector<Draft*> by_symbol(symbols.size(), nullptr);
    for (size_t i = 0; i < symbols.size(); ++i) {
        if (!is_kernel(symbols[i]) || by_name.contains(symbols[i].name)) continue;
        Draft& draft = drafts.emplace_back();
        draft.kernel.name = symbols[i].name;
        by_name.emplace(symbols[i].name, &draft);
        by_symbol[i] = &draft;
    }

    uint32_t constants = 0;
    const auto kernel_of = [&](std::string_view section, std::string_view prefix) -> Draft* {
        if (!section.starts_with(prefix)) return nullptr;
        const auto found = by_name.find(section.substr(prefix.size()));
        return found == by_name.end() ? nullptr : found->second;
    };
    for (const Section& section : elf.sections()) {
        if (section.name == ".nv.info") {
            for_each_attribute(elf.content(section), [&](Attribute attribute, const View& value) {
                if (attribute != Attribute::register_count && attribute != Attribute::frame_size) return;
                const auto symbol = value.at<uint32_t>(0);
                Draft* draft = symbol < by_symbol.size() ? by_symbol[symbol] : nullptr;
                if (draft == nullptr) return;  // a device function
                const auto number = value.at<uint32_t>(4);
                (attribute == Attribute::register_count ? draft->kernel.cubin_registers
                                                        : draft->kernel.local_bytes) = number;
            });
        } else if (section.name == ".nv.constant3") {
            constants = as_bytes(section, view);
        } else if (Draft* draft = kernel_of(section.name, ".nv.info.")) {
            read_kernel_info(elf.content(section), *draft);
        } else if (Draft* shared = kernel_of(section.name, ".nv.shared.")) {
            const uint32_t bytes = as_bytes(section, view);
            const bool reserved = reserves_shared && bytes >= kSystemShared;
            shared->kernel.static_shared_bytes =
                reserved ? bytes - static_cast<uint32_t>(kSystemShared) : bytes;
        }
    }

    std::vector<KernelResources> kernels;
    kernels.reserve(drafts.size());
    for (Draft& draft : drafts) {
        if (draft.kernel.cubin_registers > 255) view.damaged("a kernel of more than 255 registers");
        finish(draft);
        draft.kernel.constant_bytes = constants;
        kernels.push_back(std::move(draft.kernel));
    }
    return kernels;
}

std::vector<uint32_t> spill_offsets(const View& info) {
    // Pairs {u32 what, u32 offset}; nvdisasm calls 1 "SpillRefill". Over 1,500 cubins of libtorch_cuda.so
    // there is nothing else in it, and each offset is that of an STL or LDL.
    constexpr uint32_t kSpillRefill = 1;
    std::vector<uint32_t> offsets;
    for_each_attribute(info, [&](Attribute attribute, const View& value) {
        if (attribute != Attribute::annotations) return;
        for (uint64_t at = 0; value.holds(at, 8) && value.at<uint32_t>(at) == kSpillRefill; at += 8)
            offsets.push_back(value.at<uint32_t>(at + 4));
    });
    return offsets;
}

}  // namespace binary

std::vector<KernelResources> read_cubin(const void* image, size_t bytes, std::string_view origin) {
    const binary::Bytes span(static_cast<const std::byte*>(image), bytes);
    return binary::read_cubin(binary::Elf(binary::View(span, origin)));
}

}  // namespace attnscope
