#include <gtest/gtest.h>

#include "attnscope/binary.h"
#include "attnscope/error.h"
#include "make_fatbin.h"

namespace attnscope {
namespace {

using test::EntrySpec;
using test::make_fatbin;

test::Buffer cubin() {
    return test::read_file(test::fixture_path("kernels_sm_80.cubin"));
}

std::vector<EntrySpec> entries_of(std::initializer_list<std::pair<uint32_t, uint64_t>> targets) {
    std::vector<EntrySpec> entries;
    for (const auto& [sm, flags] : targets)
        entries.push_back({2, sm, test::kPlain | flags, test::Buffer(64), 64});
    return entries;
}

/// The architecture that a device of this compute capability runs: 90 for sm_90, -90 for sm_90a, 0 for none.
int chosen(const test::Buffer& bytes, int major, int minor) {
    const Fatbin fatbin(bytes.data(), bytes.size(), "test");
    const auto index = fatbin.select(major, minor);
    if (!index) return 0;
    const CubinTarget& target = fatbin.targets()[*index];
    return target.arch_specific ? -target.sm : target.sm;
}

// Right values: facts/cupti-without-a-gpu.md (own major, highest minor not above its own) and the CUDA
// programming guide (architecture-specific code runs on exactly its compute capability, family-specific code
// on its family).
TEST(Select, OwnMajorAndTheHighestMinorNotAboveItsOwn) {
    const auto wheel = make_fatbin(entries_of({{75, 0}, {80, 0}, {86, 0}, {90, 0}, {100, 0}, {120, 0}}));
    EXPECT_EQ(chosen(wheel, 7, 5), 75);
    EXPECT_EQ(chosen(wheel, 8, 0), 80);
    EXPECT_EQ(chosen(wheel, 8, 6), 86);
    EXPECT_EQ(chosen(wheel, 8, 9), 86);
    EXPECT_EQ(chosen(wheel, 9, 0), 90);
    EXPECT_EQ(chosen(wheel, 10, 0), 100);
    EXPECT_EQ(chosen(wheel, 10, 3), 100);
    EXPECT_EQ(chosen(wheel, 12, 0), 120);
    EXPECT_EQ(chosen(wheel, 12, 1), 120);
    EXPECT_EQ(chosen(wheel, 7, 0), 0) << "V100: sm_75 is above it";
    EXPECT_EQ(chosen(wheel, 11, 0), 0);
    EXPECT_EQ(chosen(wheel, 6, 1), 0);
}

TEST(Select, ArchitectureSpecificCodeOnExactMatchAlone) {
    const auto both =
        make_fatbin(entries_of({{90, 0}, {90, test::kArchSpecific}, {100, test::kArchSpecific}}));
    EXPECT_EQ(chosen(both, 9, 0), -90);
    EXPECT_EQ(chosen(both, 10, 0), -100);
    EXPECT_EQ(chosen(both, 10, 3), 0);
}

TEST(Select, FamilySpecificCodeOnItsFamily) {
    const auto family = make_fatbin(entries_of({{100, test::kFamilySpecific}}));
    EXPECT_EQ(chosen(family, 10, 0), 100);
    EXPECT_EQ(chosen(family, 10, 3), 100);
    EXPECT_EQ(chosen(family, 12, 0), 0);
}

class Compression : public testing::TestWithParam<uint64_t> {};

TEST_P(Compression, GivesTheCubinBack) {
    // An entry header of 112 bytes as nvcc 13 writes for sm_100, and PTX before the cubin.
    const auto bytes =
        make_fatbin({{1, 80, test::kPlain, test::Buffer(100, 'x'), 64}, {2, 80, GetParam(), cubin(), 112}});
    const Fatbin fatbin(bytes.data(), SIZE_MAX, "test");  // the length is known only from the header
    EXPECT_EQ(fatbin.size_bytes(), bytes.size());
    EXPECT_TRUE(fatbin.has_ptx());
    ASSERT_EQ(fatbin.targets().size(), 1U);
    const std::vector<std::byte> image = fatbin.image(0);
    const test::Buffer original = cubin();
    ASSERT_GE(image.size(), original.size());  // stored entries are padded to 8 bytes
    EXPECT_EQ(std::memcmp(image.data(), original.data(), original.size()), 0);
    EXPECT_EQ(fatbin.kernels(0).size(), 7U);
}
INSTANTIATE_TEST_SUITE_P(All, Compression, testing::Values(test::kPlain, test::kLz4, test::kZstd));

std::string failure(const test::Buffer& bytes) {
    try {
        const Fatbin fatbin(bytes.data(), bytes.size(), "lib.so");
        for (size_t i = 0; i < fatbin.targets().size(); ++i) fatbin.kernels(i);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

TEST(FatbinErrors, EachNamesTheFile) {
    const auto good = make_fatbin({{2, 80, test::kZstd, cubin(), 64}});
    ASSERT_EQ(failure(good), "");
    auto bytes = good;
    bytes[0] = 0;
    EXPECT_NE(failure(bytes).find("lib.so: not a fatbin"), std::string::npos);
    bytes = good;
    bytes.resize(bytes.size() / 2);
    EXPECT_NE(failure(bytes).find("cut short"), std::string::npos);
    bytes = good;
    test::put<uint64_t>(bytes, 16 + 8, 1ULL << 60);
    EXPECT_NE(failure(bytes).find("past its end"), std::string::npos);
    bytes = good;
    test::put<uint64_t>(bytes, 16 + 56, 1ULL << 40);  // the promised size
    EXPECT_NE(failure(bytes).find("impossible size"), std::string::npos);
    bytes = good;
    test::put<uint64_t>(bytes, 16 + 56, cubin().size() + 1);
    EXPECT_NE(failure(bytes).find("does not decompress"), std::string::npos);
    bytes = good;
    test::put<uint32_t>(bytes, 16 + 64, 0xdeadbeef);  // the zstd frame
    EXPECT_NE(failure(bytes).find("does not decompress"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
