// A fatbin: header {u32 magic, u16 version, u16 header size, u64 size of the entries}, then entries
//   u16 kind (1 PTX, 2 cubin), u16 version, u32 header size, u64 payload size        @0
//   u32 compressed size, u32 ?, u16 minor, u16 major (of the code's format), u32 sm  @16
//   u32 x 2 name, u64 flags                                                          @32
//   u64 ?, u64 uncompressed size                                                     @48
// Layout as fatbinary of CUDA 12 and 13 writes it (undocumented), checked with cuobjdump -lelf.
#include <utility>

#include "attnscope/binary.h"
#include "bytes.h"
#include "decompress.h"

namespace attnscope {
namespace {

using binary::Bytes;
using binary::Compression;
using binary::View;

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr uint16_t kPtx = 1;
constexpr uint16_t kCubin = 2;
constexpr uint64_t kLz4 = 0x2000;
constexpr uint64_t kZstd = 0x8000;
constexpr uint64_t kArchSpecific = 0x100000;    // sm_90a
constexpr uint64_t kFamilySpecific = 0x200000;  // sm_100f
constexpr size_t kSmallestEntry = 64;

struct Entry {
    uint64_t payload = 0;  // offset in the fatbin
    uint64_t stored = 0;   // bytes there
    uint64_t plain = 0;    // bytes once decompressed
    Compression compression = Compression::none;
};

/// sm_100, 101 and 103 are one family, sm_110 and sm_120, 121 others: code for a family runs on its members
/// from its own minor upwards (CUDA programming guide, family-specific features).
bool runs_on_family(const CubinTarget& target, int sm) {
    return target.sm / 10 == sm / 10 && target.sm <= sm;
}

}  // namespace

struct Fatbin::Impl {
    std::string origin;
    Bytes bytes;
    std::vector<CubinTarget> targets;
    std::vector<Entry> entries;
    bool has_ptx = false;

    void add(const View& view, uint64_t at, uint64_t header, uint64_t payload_size) {
        const auto kind = view.at<uint16_t>(at);
        if (kind == kPtx) has_ptx = true;
        if (kind != kCubin) return;
        const auto flags = view.at<uint64_t>(at + 40);
        Entry entry;
        entry.payload = at + header;
        if ((flags & (kLz4 | kZstd)) != 0) {
            entry.compression = (flags & kZstd) != 0 ? Compression::zstd : Compression::lz4;
            entry.stored = view.at<uint32_t>(at + 16);
            entry.plain = view.at<uint64_t>(at + 56);
            if (entry.stored > payload_size) view.damaged("a compressed part is larger than its place");
        } else {
            entry.stored = entry.plain = payload_size;
        }
        CubinTarget target;
        const auto sm = view.at<uint32_t>(at + 28);
        if (sm > 9999) view.damaged("an architecture number is absurd");
        target.sm = static_cast<int>(sm);
        target.arch_specific = (flags & kArchSpecific) != 0;
        target.family_specific = (flags & kFamilySpecific) != 0;
        targets.push_back(target);
        entries.push_back(entry);
    }
};

Fatbin::Fatbin(const void* image, size_t max_bytes, std::string origin) : impl_(std::make_unique<Impl>()) {
    impl_->origin = std::move(origin);
    const auto* first = static_cast<const std::byte*>(image);
    // max_bytes may be SIZE_MAX (a loaded program): only what the header spans is ever touched.
    const View head(Bytes(first, max_bytes < 16 ? max_bytes : 16), impl_->origin);
    if (head.size() < 16 || head.at<uint32_t>(0) != kMagic)
        throw Error(impl_->origin + ": not a fatbin (CUDA device code)");
    const auto header = head.at<uint16_t>(6);
    const auto size = head.at<uint64_t>(8);
    if (header < 16 || header > max_bytes || size > max_bytes - header) head.damaged("a fatbin is cut short");
    impl_->bytes = Bytes(first, header + static_cast<size_t>(size));
    const View view(impl_->bytes, impl_->origin);
    uint64_t at = header;
    while (view.holds(at, kSmallestEntry)) {
        const auto entry_header = view.at<uint32_t>(at + 4);
        const auto payload = view.at<uint64_t>(at + 8);
        if (entry_header < kSmallestEntry || !view.holds(at, entry_header) ||
            !view.holds(at + entry_header, payload))
            view.damaged("an entry of a fatbin reaches past its end");
        impl_->add(view, at, entry_header, payload);
        at += entry_header + payload;
    }
}

Fatbin::~Fatbin() = default;
Fatbin::Fatbin(Fatbin&&) noexcept = default;
Fatbin& Fatbin::operator=(Fatbin&&) noexcept = default;

const std::vector<CubinTarget>& Fatbin::targets() const {
    return impl_->targets;
}
bool Fatbin::has_ptx() const {
    return impl_->has_ptx;
}
size_t Fatbin::size_bytes() const {
    return impl_->bytes.size();
}

std::optional<size_t> Fatbin::select(int major, int minor) const {
    const int sm = major * 10 + minor;
    std::optional<size_t> best;
    int best_rank = -1;
    for (size_t i = 0; i < impl_->targets.size(); ++i) {
        const CubinTarget& target = impl_->targets[i];
        int rank = -1;  // the nearest minor first; at the same one the more specific code
        if (target.arch_specific) {
            if (target.sm == sm) rank = target.sm * 4 + 2;
        } else if (target.family_specific) {
            if (runs_on_family(target, sm)) rank = target.sm * 4 + 1;
        } else if (target.sm / 10 == major && target.sm <= sm) {
            rank = target.sm * 4;
        }
        if (rank > best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    return best;
}

std::vector<std::byte> Fatbin::image(size_t index) const {
    const Entry& entry = impl_->entries.at(index);
    const View view(impl_->bytes, impl_->origin);
    return binary::decompress(View(view.slice(entry.payload, entry.stored), impl_->origin), entry.compression,
                              entry.plain);
}

std::vector<KernelResources> Fatbin::kernels(size_t index) const {
    const std::vector<std::byte> elf = image(index);
    return read_cubin(elf.data(), elf.size(), impl_->origin);
}

}  // namespace attnscope
