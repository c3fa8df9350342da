// A library or program on disk: the fatbins in it, and what its dynamic section says.
#include <algorithm>
#include <set>

#include "attnscope/binary.h"
#include "cubin.h"
#include "elf.h"
#include "file.h"
#include "library.h"

namespace attnscope {
namespace {

using binary::Bytes;
using binary::Elf;
using binary::MappedFile;
using binary::Section;
using binary::View;

constexpr uint32_t kFatbinMagic = 0xBA55ED50;
constexpr uint32_t kDynamic = 6;          // SHT_DYNAMIC
constexpr uint32_t kDynamicSymbols = 11;  // SHT_DYNSYM
constexpr int64_t kNeeded = 1;            // DT_NEEDED
constexpr size_t kFatbinHeader = 16;

bool starts_fatbin(const View& view, uint64_t at) {
    return view.holds(at, kFatbinHeader) && view.at<uint32_t>(at) == kFatbinMagic;
}

/// The fatbins lie one after another, each aligned to 8 bytes, with zeros between them.
size_t walk(const View& view, const binary::TakeFatbin& take) {
    size_t count = 0;
    uint64_t at = 0;
    while (at < view.size()) {
        if (!starts_fatbin(view, at)) {
            at += 8;
            continue;
        }
        Fatbin fatbin(view.bytes().data() + at, view.size() - static_cast<size_t>(at),
                      std::string(view.origin()));
        ++count;
        at += (fatbin.size_bytes() + 7) / 8 * 8;
        take(std::move(fatbin));
    }
    return count;
}

const Section* find_type(const Elf& elf, uint32_t type) {
    for (const Section& section : elf.sections())
        if (section.type == type) return &section;
    return nullptr;
}

std::vector<std::string> needed(const Elf& elf) {
    std::vector<std::string> names;
    const Section* dynamic = find_type(elf, kDynamic);
    if (dynamic == nullptr || dynamic->link >= elf.sections().size()) return names;
    const View entries = elf.content(*dynamic);
    const View strings = elf.content(elf.sections()[dynamic->link]);
    for (uint64_t at = 0; entries.holds(at, 16); at += 16)
        if (entries.at<int64_t>(at) == kNeeded)
            names.emplace_back(strings.text(entries.at<uint64_t>(at + 8)));
    return names;
}

}  // namespace

namespace binary {

size_t walk_file(const View& view, const TakeFatbin& take) {
    if (starts_fatbin(view, 0)) return walk(view, take);
    if (!Elf::looks_like_elf(view.bytes()))
        throw Error(std::string(view.origin()) +
                    ": neither an ELF library or program, nor a fatbin, nor a cubin");
    const Elf elf(view);
    size_t count = 0;
    for (const Section& section : elf.sections())
        if (section.name == ".nv_fatbin") count += walk(elf.content(section), take);
    return count;
}

size_t for_each_fatbin(const std::string& path, const std::function<void(const Fatbin&)>& visit) {
    const MappedFile file(path);
    return walk_file(View(file.bytes(), path), visit);
}

}  // namespace binary

BinaryKernels read_kernels(const std::string& path, int major, int minor) {
    const MappedFile file(path);
    const View view(file.bytes(), path);
    BinaryKernels out;
    std::set<int> seen;
    uint32_t cubins = 0;
    out.fatbins = binary::walk_file(view, [&](const Fatbin& fatbin) {
        for (const CubinTarget& target : fatbin.targets()) seen.insert(target.sm);
        out.has_ptx |= fatbin.has_ptx();
        const auto chosen = fatbin.select(major, minor);
        if (!chosen) return;
        std::vector<KernelResources> kernels = fatbin.kernels(*chosen);
        for (KernelResources& kernel : kernels) kernel.cubin = cubins;
        ++cubins;
        std::move(kernels.begin(), kernels.end(), std::back_inserter(out.kernels));
    });
    if (out.fatbins == 0 && Elf::looks_like_elf(file.bytes())) {
        const Elf elf(view);
        if (elf.machine() == binary::kMachineCuda) {
            const int sm = binary::cubin_sm(elf);
            seen.insert(sm);
            if (binary::runs_on(sm, major, minor)) out.kernels = binary::read_cubin(elf);
        }
    }
    out.architectures.assign(seen.begin(), seen.end());
    return out;
}

bool links_static_cuda_runtime(const std::string& path) {
    const MappedFile file(path);
    if (!Elf::looks_like_elf(file.bytes())) return false;
    const Elf elf(View(file.bytes(), path));
    if (elf.section(".nv_fatbin") == nullptr) return false;
    for (const std::string& name : needed(elf))
        if (name.starts_with("libcudart.so")) return false;
    // A library that it needs may bring the runtime: the registration is then left undefined.
    if (const Section* table = find_type(elf, kDynamicSymbols))
        for (const binary::Symbol& symbol : elf.symbols(*table))
            if (symbol.section == 0 && symbol.name == "__cudaRegisterFatBinary") return false;
    return true;
}

std::vector<std::string> needed_libraries(const std::string& path) {
    const MappedFile file(path);
    if (!Elf::looks_like_elf(file.bytes())) return {};
    return needed(Elf(View(file.bytes(), path)));
}

}  // namespace attnscope
