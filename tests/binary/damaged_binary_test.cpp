// Damaged and hostile device code gives Error or a result, never a crash, a hang or a read outside (the
// sanitizers watch in an ATTNSCOPE_SANITIZE build). ATTNSCOPE_FUZZ_ROUNDS asks for more rounds than a test
// run does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "attnscope/binary.h"
#include "attnscope/error.h"
#include "make_fatbin.h"

namespace attnscope {
namespace {

using test::Buffer;

size_t rounds(size_t by_default) {
    const char* asked = std::getenv("ATTNSCOPE_FUZZ_ROUNDS");
    return asked != nullptr ? std::strtoul(asked, nullptr, 10) : by_default;
}

/// A copy on the heap of exactly this size, so that a sanitizer sees the first byte read beyond it.
template <class Read>
void survives(const Buffer& bytes, Read read) {
    const auto exact = std::make_unique<char[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    try {
        read(exact.get(), bytes.size());
    } catch (const Error& e) {
        ASSERT_NE(std::string(e.what()).find("fuzz"), std::string::npos) << e.what();
    }
}

void read_as_cubin(const char* bytes, size_t size) {
    read_cubin(bytes, size, "fuzz");
}

void read_as_fatbin(const char* bytes, size_t size) {
    const Fatbin fatbin(bytes, size, "fuzz");
    for (size_t i = 0; i < fatbin.targets().size(); ++i) fatbin.kernels(i);
    fatbin.select(9, 0);
}

/// Numbers that tend to break arithmetic on offsets and sizes.
uint64_t nasty(std::mt19937_64& random, uint64_t size) {
    const uint64_t values[] = {0,          1,          7,     size - 1,     size,
                               size + 1,   0x7f,       0xff,  0xffff,       0x7fffffff,
                               0xffffffff, 1ULL << 62, ~0ULL, ~0ULL - size, 0x8000000000000000ULL,
                               random()};
    return values[random() % std::size(values)];
}

void mutate(Buffer& bytes, std::mt19937_64& random) {
    const size_t edits = 1 + random() % 4;
    for (size_t i = 0; i < edits && !bytes.empty(); ++i) {
        // Half of the edits go where the structure is: the first and the last kilobytes hold headers and
        // tables.
        size_t at = random() % bytes.size();
        if (random() % 2 == 0)
            at = random() % 2 == 0 ? at % std::min<size_t>(bytes.size(), 512)
                                   : bytes.size() - 1 - at % std::min<size_t>(bytes.size(), 4096);
        const uint64_t value = nasty(random, bytes.size());
        const size_t width = size_t{1} << (random() % 4);
        if (at + width <= bytes.size()) std::memcpy(bytes.data() + at, &value, width);
        if (random() % 16 == 0) bytes.resize(random() % (bytes.size() + 1));
    }
}

template <class Read>
void fuzz(const Buffer& seed, size_t count, Read read) {
    for (size_t i = 0; i < count; ++i) {
        std::mt19937_64 random(i);  // a failure names its round and repeats
        Buffer bytes = seed;
        mutate(bytes, random);
        SCOPED_TRACE("round " + std::to_string(i));
        survives(bytes, read);
    }
}

TEST(Damaged, CubinsOfAllArchitectures) {
    for (const char* name : {"kernels_sm_80.cubin", "kernels_sm_90.cubin", "kernels_sm_100.cubin"}) {
        const Buffer seed = test::read_file(test::fixture_path(name));
        ASSERT_FALSE(seed.empty());
        fuzz(seed, rounds(10000), read_as_cubin);
    }
}

TEST(Damaged, CubinsCutAtEveryPlaceOfTheirTables) {
    Buffer bytes = test::read_file(test::fixture_path("kernels_sm_90.cubin"));
    while (bytes.size() > 16) {
        bytes.resize(bytes.size() - 13);
        survives(bytes, read_as_cubin);
    }
}

TEST(Damaged, FatbinsOfAllCompressions) {
    const Buffer cubin = test::read_file(test::fixture_path("kernels_sm_80.cubin"));
    const Buffer seed = test::make_fatbin({{2, 80, test::kZstd, cubin, 64},
                                           {2, 90, test::kLz4, cubin, 112},
                                           {1, 90, test::kPlain, Buffer(99, 'p'), 64}});
    fuzz(seed, rounds(4000), read_as_fatbin);
}

TEST(Damaged, FilesOfEveryKind) {
    const Buffer cubin = test::read_file(test::fixture_path("kernels_sm_90.cubin"));
    const Buffer program = test::read_file("/proc/self/exe");
    const std::string path = "fuzz-" + std::to_string(getpid()) + ".bin";
    Buffer head(program.begin(),
                program.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(program.size(), 1 << 20)));
    for (const Buffer& seed : {cubin, test::make_fatbin({{2, 90, test::kZstd, cubin, 64}}), head}) {
        for (size_t i = 0; i < std::min<size_t>(rounds(200), 20000); ++i) {
            std::mt19937_64 random(i);
            Buffer bytes = seed;
            mutate(bytes, random);
            std::ofstream(path, std::ios::binary)
                .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            const auto tolerated = [](auto call) {
                try {
                    call();
                } catch (const Error&) {
                }
            };
            tolerated([&] { read_kernels(path, 9, 0); });
            tolerated([&] { needed_libraries(path); });
            tolerated([&] { links_static_cuda_runtime(path); });
        }
    }
    std::remove(path.c_str());
}

}  // namespace
}  // namespace attnscope
