#include "core_support.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "attnscope/binary.h"

namespace core_test {

using namespace attnscope::vgpu;

const char* const flash_kernel =
    "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_"
    "traitsILi64ELi128ELi128ELi4ELb0ELb0EN7cutlass10bfloat16_tE"
    "19Flash_kernel_traitsILi64ELi128ELi128ELi4ES3_EELb0ELb0ELb0ELb0ELb0ELb1ELb0ELb0EEEvNS_16Flash_fwd_"
    "paramsE";

std::string name(CUresult result) {
    const char* text = nullptr;
    cuGetErrorName(result, &text);
    return text != nullptr ? text : "result " + std::to_string(result);
}

void Driver::SetUp() {
    ASSERT_CUDA(cuInit(0));
    ASSERT_CUDA(cuDeviceGet(&device_, 0));
    ASSERT_CUDA(cuDevicePrimaryCtxRetain(&context_, device_));
    ASSERT_CUDA(cuCtxSetCurrent(context_));
}
void Driver::TearDown() {
    cuDevicePrimaryCtxRelease(device_);
}

namespace {
struct Section {
    const char* start = nullptr;
    size_t size = 0;
};

Section nv_fatbin() {
    static const Section section = [] {
        const char* folder = std::getenv("ATTNSCOPE_TORCH_LIB");
        const std::string path = std::string(folder != nullptr ? folder : "") + "/libtorch_cuda.so";
        const int file = open(path.c_str(), O_RDONLY);
        struct stat info {};
        if (file < 0 || fstat(file, &info) != 0) return Section{};
        void* memory = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
        close(file);
        const char* bytes = static_cast<const char*>(memory);
        Elf64_Ehdr header;
        std::memcpy(&header, bytes, sizeof header);
        const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes + header.e_shoff);
        const char* names = bytes + sections[header.e_shstrndx].sh_offset;
        for (int i = 0; i < header.e_shnum; i++)
            if (std::strcmp(names + sections[i].sh_name, ".nv_fatbin") == 0)
                return Section{bytes + sections[i].sh_offset, sections[i].sh_size};
        return Section{};
    }();
    return section;
}
}  // namespace

const void* fatbin_with(const std::vector<std::string>& parts, std::string& found) {
    const Section section = nv_fatbin();
    const char* end = section.start + section.size;
    for (const char* at = section.start; at != nullptr && at + 64 < end;) {
        uint32_t magic;
        std::memcpy(&magic, at, sizeof magic);
        if (magic != 0xBA55ED50) {
            at += 8;
            continue;
        }
        attnscope::Fatbin fatbin(at, static_cast<size_t>(end - at), "libtorch_cuda.so");
        if (const auto index = fatbin.select(9, 0)) {
            for (const auto& kernel : fatbin.kernels(*index)) {
                bool all = true;
                for (const std::string& part : parts)
                    all = all && kernel.name.find(part) != std::string::npos;
                if (!all) continue;
                found = kernel.name;
                return at;
            }
        }
        at += fatbin.size_bytes();
    }
    return nullptr;
}

const void* flash_fatbin() {
    static std::string found;
    static const void* fatbin = fatbin_with({flash_kernel}, found);
    return fatbin;
}

namespace {
Ears* ears = nullptr;

template <class List, class Event>
void keep(List Ears::*list, const Event& event) {
    if (ears == nullptr) return;
    std::lock_guard lock(ears->mutex);
    (ears->*list).push_back(event);
}
}  // namespace

Ears::Ears() {
    ears = this;
    static const Hooks hooks = [] {
        Hooks h;
        h.api_enter = [](ApiCall& call) { keep(&Ears::entered, std::string(call.function)); };
        h.kernel = [](const KernelEvent& e) { keep(&Ears::kernels, e); };
        h.copy = [](const CopyEvent& e) { keep(&Ears::copies, e); };
        h.set = [](const MemsetEvent& e) { keep(&Ears::sets, e); };
        h.synchronised = [](const SyncEvent& e) { keep(&Ears::synchronisations, e); };
        return h;
    }();
    set_hooks(&hooks);
    AttnscopeVgpuObserver observer{};
    observer.size = sizeof observer;
    observer.uncomputed_read = [](void*, const AttnscopeUncomputedRead* read) {
        keep(&Ears::reads,
             Read{read->bytes, read->cause, read->returned, read->location != nullptr ? read->location : ""});
    };
    observer.diagnostic = [](void*, const AttnscopeVgpuDiagnostic* d) {
        keep(&Ears::diagnostics, std::string(d->code));
    };
    observer.library_call = [](void*, const AttnscopeLibraryCall* c) {
        keep(&Ears::library_calls, std::string(c->function));
    };
    observer.assumed_figure = [](void*, int32_t, const char* key) { keep(&Ears::assumed, std::string(key)); };
    attnscopeVgpuSetObserver(&observer);
    // What happened before is told now; the tests look at what comes.
    std::lock_guard lock(mutex);
    reads.clear();
    diagnostics.clear();
    library_calls.clear();
}

Ears::~Ears() {
    set_hooks(nullptr);
    attnscopeVgpuSetObserver(nullptr);
    ears = nullptr;
}

}  // namespace core_test
