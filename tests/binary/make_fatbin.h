#pragma once
// Fatbins made in memory, in the layout of fatbinary (CUDA 13), with every compression that exists.
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace attnscope::test {

using Buffer = std::vector<char>;

inline std::string fixture_path(const std::string& name) {
    const char* root = std::getenv("ATTNSCOPE_SOURCE_DIR");
    return std::string(root != nullptr ? root : ".") + "/tests/binary/fixtures/" + name;
}

inline Buffer read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
void put(Buffer& buffer, size_t at, T value) {
    if (buffer.size() < at + sizeof(T)) buffer.resize(at + sizeof(T));
    std::memcpy(buffer.data() + at, &value, sizeof(T));
}

constexpr uint64_t kPlain = 0x11, kLz4 = 0x2011, kZstd = 0x8011, kArchSpecific = 0x100000,
                   kFamilySpecific = 0x200000;

struct EntrySpec {
    uint16_t kind = 2;  ///< 1 PTX, 2 cubin
    uint32_t sm = 80;
    uint64_t flags = kPlain;
    Buffer payload;
    uint32_t header = 64;
};

inline Buffer pack(const EntrySpec& spec) {
    if ((spec.flags & 0x8000) != 0) {
        Buffer out(ZSTD_compressBound(spec.payload.size()));
        out.resize(ZSTD_compress(out.data(), out.size(), spec.payload.data(), spec.payload.size(), 3));
        return out;
    }
    if ((spec.flags & 0x2000) != 0) {
        const int size = static_cast<int>(spec.payload.size());
        Buffer out(static_cast<size_t>(LZ4_compressBound(size)));
        out.resize(static_cast<size_t>(
            LZ4_compress_default(spec.payload.data(), out.data(), size, static_cast<int>(out.size()))));
        return out;
    }
    return spec.payload;
}

inline Buffer make_fatbin(const std::vector<EntrySpec>& entries) {
    Buffer fatbin(16);
    for (const EntrySpec& spec : entries) {
        Buffer packed = pack(spec);
        const bool compressed = (spec.flags & 0xa000) != 0;
        const auto stored = static_cast<uint32_t>(packed.size());
        packed.resize((packed.size() + 7) / 8 * 8);
        const size_t at = fatbin.size();
        fatbin.resize(at + spec.header);
        put<uint16_t>(fatbin, at, spec.kind);
        put<uint16_t>(fatbin, at + 2, 0x101);
        put<uint32_t>(fatbin, at + 4, spec.header);
        put<uint64_t>(fatbin, at + 8, packed.size());
        put<uint32_t>(fatbin, at + 16, compressed ? stored : 0);
        put<uint32_t>(fatbin, at + 28, spec.sm);
        put<uint64_t>(fatbin, at + 40, spec.flags);
        put<uint64_t>(fatbin, at + 56, compressed ? spec.payload.size() : 0);
        fatbin.insert(fatbin.end(), packed.begin(), packed.end());
    }
    put<uint32_t>(fatbin, 0, 0xBA55ED50);
    put<uint16_t>(fatbin, 4, 1);
    put<uint16_t>(fatbin, 6, 16);
    put<uint64_t>(fatbin, 8, fatbin.size() - 16);
    return fatbin;
}

}  // namespace attnscope::test
