// The machine code of single kernels, out of files of hundreds of MB.
#include <unordered_map>

#include "attnscope/binary.h"
#include "attnscope/error.h"
#include "cubin.h"
#include "elf.h"
#include "file.h"
#include "library.h"

namespace attnscope {
namespace {

using binary::Elf;
using binary::MappedFile;
using binary::Section;
using binary::View;

constexpr std::string_view kCode = ".text.";
constexpr std::string_view kInfo = ".nv.info.";

/// One cubin's sections by the kernel that they belong to.
class OpenCubin {
  public:
    /// `image` must outlive the object.
    OpenCubin(binary::Bytes image, std::string_view origin) : elf_(View(image, origin)) {
        if (elf_.machine() != binary::kMachineCuda)
            throw Error(std::string(origin) + ": an ELF file, but not device code (a cubin)");
        for (const Section& section : elf_.sections()) {
            if (section.name.starts_with(kCode))
                code_.try_emplace(section.name.substr(kCode.size()), &section);
            else if (section.name.starts_with(kInfo))
                info_.try_emplace(section.name.substr(kInfo.size()), &section);
        }
    }
    int sm() const { return binary::cubin_sm(elf_); }
    const std::unordered_map<std::string_view, const Section*>& kernels() const { return code_; }

    std::optional<KernelCode> code(std::string_view kernel) const {
        const auto found = code_.find(kernel);
        if (found == code_.end()) return std::nullopt;
        KernelCode code;
        const View content = elf_.content(*found->second);
        code.bytes.assign(content.bytes().begin(), content.bytes().end());
        if (const auto info = info_.find(kernel); info != info_.end())
            code.spills = binary::spill_offsets(elf_.content(*info->second));
        return code;
    }

  private:
    Elf elf_;
    std::unordered_map<std::string_view, const Section*> code_, info_;
};

}  // namespace

struct DeviceCode::Impl {
    struct Chosen {
        std::optional<Fatbin> fatbin;  ///< none: the file itself is the cubin
        size_t index = 0;
        CubinTarget target;
    };

    Impl(std::string file_path, int major, int minor) : path(std::move(file_path)), file(path) {
        const size_t fatbins = binary::walk_file(View(file.bytes(), path), [&](Fatbin&& fatbin) {
            const auto index = fatbin.select(major, minor);
            if (!index) return;
            const CubinTarget target = fatbin.targets()[*index];
            chosen.push_back({std::move(fatbin), *index, target});
        });
        if (fatbins > 0 || !Elf::looks_like_elf(file.bytes())) return;
        const Elf elf(View(file.bytes(), path));
        const int sm = binary::cubin_sm(elf);
        if (elf.machine() == binary::kMachineCuda && binary::runs_on(sm, major, minor))
            chosen.push_back({std::nullopt, 0, {sm, false, false}});
    }

    const OpenCubin& open(uint32_t number) {
        if (cubin && current == number) return *cubin;
        cubin.reset();  // it points into the image
        image.clear();
        const Chosen& one = chosen.at(number);
        if (one.fatbin) image = one.fatbin->image(one.index);
        cubin.emplace(one.fatbin ? binary::Bytes(image) : file.bytes(), path);
        current = number;
        return *cubin;
    }

    std::string path;
    MappedFile file;
    std::vector<Chosen> chosen;
    std::unordered_map<std::string, uint32_t> cubin_of;  ///< of the kernels in the first `scanned` cubins
    uint32_t scanned = 0;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::vector<std::byte> image;
    std::optional<OpenCubin> cubin;  ///< number `current`
    uint32_t current = 0;
};

DeviceCode::DeviceCode(const std::string& path, int major, int minor)
    : impl_(std::make_unique<Impl>(path, major, minor)) {}
DeviceCode::~DeviceCode() = default;
DeviceCode::DeviceCode(DeviceCode&&) noexcept = default;
DeviceCode& DeviceCode::operator=(DeviceCode&&) noexcept = default;

std::optional<KernelCode> DeviceCode::find(std::string_view kernel) {
    const std::string name(kernel);
    auto known = impl_->cubin_of.find(name);
    while (known == impl_->cubin_of.end() && impl_->scanned < impl_->chosen.size()) {
        if (std::chrono::steady_clock::now() >= impl_->deadline)
            throw Error(impl_->path + ": not searched to its end: the time for it was over");
        const uint32_t number = impl_->scanned++;
        for (const auto& [found, section] : impl_->open(number).kernels())
            impl_->cubin_of.try_emplace(std::string(found), number);
        known = impl_->cubin_of.find(name);
    }
    if (known == impl_->cubin_of.end()) return std::nullopt;
    return at(known->second, kernel);
}

void DeviceCode::search_until(std::chrono::steady_clock::time_point deadline) {
    impl_->deadline = deadline;
}

std::optional<KernelCode> DeviceCode::at(uint32_t cubin, std::string_view kernel) {
    if (cubin >= impl_->chosen.size()) return std::nullopt;
    std::optional<KernelCode> code = impl_->open(cubin).code(kernel);
    if (code) code->target = impl_->chosen[cubin].target;
    return code;
}

}  // namespace attnscope
