#include "collectors/virtual_gpu/core/image.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_set>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/device.h"

namespace attnscope::vgpu {

namespace {
constexpr uint32_t wrapper_magic = 0x466243b1;
constexpr uint32_t fatbin_magic = 0xBA55ED50;

// __fatBinC_Wrapper_t of fatbinary_section.h.
struct Wrapper {
    uint32_t magic;
    uint32_t version;
    const void* data;
    const void* filename_or_fatbins;
};

uint32_t first_word(const void* bytes) {
    uint32_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

bool starts_with(const void* bytes, std::string_view text) {
    return std::strncmp(static_cast<const char*>(bytes), text.data(), text.size()) == 0;
}

// PTX is text: comments, blank lines, ".version".
bool looks_like_ptx(const void* bytes) {
    const char* text = static_cast<const char*>(bytes);
    size_t i = 0;
    while (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') i++;
    return starts_with(text + i, "//") || starts_with(text + i, ".version") || starts_with(text + i, "/*");
}

CUresult no_compiler() {
    report("warning", "no-ptx-compiler",
           "the program loads PTX, which the virtual GPU cannot compile; it was given \"no kernel image is "
           "available\"",
           "build the program with device code for this device, or run it on a real GPU");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/// Device code of other chips only: the program gets the driver's error, the run says what would have been
/// needed.
CUresult no_image(int major, int minor, const std::vector<int>& held) {
    std::string list;
    for (const int sm : held) list += (list.empty() ? "sm_" : ", sm_") + std::to_string(sm);
    const std::string wanted = "sm_" + std::to_string(major) + std::to_string(minor);
    report("error", "no-kernel-image",
           "the program's device code is for " + (list.empty() ? "no chip" : list) +
               ": this virtual GPU is " + wanted + " and has nothing to run",
           "choose a virtual GPU that the program was built for, or build it with code for " + wanted);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}
}  // namespace

CUresult DeviceImage::open(const void* bytes, bool preserved, std::shared_ptr<DeviceImage>& out) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<DeviceImage> image(new DeviceImage());
    if (first_word(bytes) == wrapper_magic) {
        Wrapper wrapper;
        std::memcpy(&wrapper, bytes, sizeof wrapper);
        if (wrapper.data == nullptr) return CUDA_ERROR_INVALID_IMAGE;
        bytes = wrapper.data;
        preserved = true;  // a wrapper is a static object of the program
    }
    const auto* first = static_cast<const std::byte*>(bytes);
    try {
        if (first_word(bytes) == fatbin_magic) {
            image->size_ = Fatbin(bytes, std::numeric_limits<size_t>::max(), "device code").size_bytes();
        } else if (std::memcmp(bytes, "\177ELF", 4) == 0) {
            image->cubin_ = true;
            image->size_ = elf_bytes(first);
            if (image->size_ == 0) return CUDA_ERROR_INVALID_IMAGE;
        } else if (starts_with(bytes, runtime_source_magic)) {
            image->runtime_source_ = true;
            image->size_ = std::strlen(static_cast<const char*>(bytes)) + 1;
        } else {
            return looks_like_ptx(bytes) ? no_compiler() : CUDA_ERROR_INVALID_IMAGE;
        }
    } catch (const std::exception& error) {
        report("warning", "damaged-device-code", error.what(), "rebuild the program");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (!preserved) {
        image->copy_.assign(first, first + image->size_);
        first = image->copy_.data();
    }
    image->bytes_ = first;
    out = std::move(image);
    return CUDA_SUCCESS;
}

CUresult DeviceImage::code(const VirtualDevice& device, const DeviceCode*& out) {
    const int key = device.gpu.major * 10 + device.gpu.minor;
    std::lock_guard lock(mutex_);
    auto [entry, fresh] = read_.try_emplace(key);
    if (fresh) entry->second.result = read(device.gpu.major, device.gpu.minor, entry->second.code);
    out = &entry->second.code;
    return entry->second.result;
}

CUresult DeviceImage::read(int major, int minor, DeviceCode& code) {
    const int sm = major * 10 + minor;
    try {
        if (runtime_source_) {
            code.sm = sm;
            const std::string_view text(reinterpret_cast<const char*>(bytes_), size_ - 1);
            for (size_t start = runtime_source_magic.size(); start < text.size();) {
                const size_t end = std::min(text.find('\n', start), text.size());
                const std::string_view line = text.substr(start, end - start);
                start = end + 1;
                if (line.substr(0, 7) != "kernel ") continue;
                KernelResources kernel;
                kernel.name = line.substr(7);
                code.kernels.push_back(std::move(kernel));
            }
        } else if (cubin_) {
            code.sm = elf_sm(bytes_);
            if (code.sm / 10 != major || code.sm % 10 > minor) return no_image(major, minor, {code.sm});
            code.kernels = read_cubin(bytes_, size_, "device code");
            code.variables = read_variables(bytes_, size_);
        } else {
            const Fatbin fatbin(bytes_, size_, "device code");
            const auto chosen = fatbin.select(major, minor);
            if (!chosen) {
                if (fatbin.has_ptx()) return no_compiler();
                std::vector<int> held;
                for (const CubinTarget& target : fatbin.targets()) held.push_back(target.sm);
                return no_image(major, minor, held);
            }
            code.sm = fatbin.targets()[*chosen].sm;
            const std::vector<std::byte> cubin = fatbin.image(*chosen);
            code.kernels = read_cubin(cubin.data(), cubin.size(), "device code");
            code.variables = read_variables(cubin.data(), cubin.size());
        }
    } catch (const std::exception& error) {
        report("warning", "damaged-device-code", error.what(), "rebuild the program");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    for (const KernelResources& kernel : code.kernels) code.by_name.emplace(kernel.name, &kernel);
    return CUDA_SUCCESS;
}

const char* intern(std::string_view name) {
    static auto* mutex = new std::mutex();
    static auto* names = new std::unordered_set<std::string>();
    std::lock_guard lock(*mutex);
    return names->emplace(name).first->c_str();
}

}  // namespace attnscope::vgpu
