// read_cubin on cubins that nvcc 13.0 made of fixtures/kernels.cu. Right values: what cuobjdump -res-usage of
// CUDA 13.0 prints for the same files (REG, STACK, SHARED without the system's 1,024), and the source's own
// declarations.
#include <gtest/gtest.h>

#include <algorithm>

#include "attnscope/binary.h"
#include "attnscope/error.h"
#include "make_fatbin.h"

namespace attnscope {
namespace {

class Cubin : public testing::TestWithParam<int> {
  protected:
    void SetUp() override {
        const std::string path = test::fixture_path("kernels_sm_" + std::to_string(GetParam()) + ".cubin");
        image_ = test::read_file(path);
        ASSERT_FALSE(image_.empty()) << path;
        kernels_ = read_cubin(image_.data(), image_.size(), path);
    }
    const KernelResources& kernel(const std::string& name) {
        const auto found =
            std::find_if(kernels_.begin(), kernels_.end(), [&](const auto& k) { return k.name == name; });
        if (found == kernels_.end()) throw std::runtime_error("no kernel " + name);
        return *found;
    }
    test::Buffer image_;
    std::vector<KernelResources> kernels_;
};

TEST_P(Cubin, HasEveryKernelOfTheSource) {
    EXPECT_EQ(kernels_.size(), 7U);
}

TEST_P(Cubin, RegistersAreCuobjdumpsAndTheDriversMinimumIs16) {
    const uint32_t expected = GetParam() == 80 ? 8 : 10;
    EXPECT_EQ(kernel("plain").cubin_registers, expected);
    EXPECT_EQ(kernel("plain").registers, 16U);
    EXPECT_EQ(kernel("framed").cubin_registers, 33U);
    EXPECT_EQ(kernel("framed").registers, 33U);
}

TEST_P(Cubin, KernelsThatCallTheDriverHave32Registers) {
    EXPECT_EQ(kernel("calls_driver").cubin_registers, 24U);
    EXPECT_EQ(kernel("calls_driver").registers, 32U);
}

TEST_P(Cubin, StaticSharedMemoryIsWithoutTheSystemsPart) {
    EXPECT_EQ(kernel("bounded").static_shared_bytes, 2048U);
    EXPECT_EQ(kernel("dynamic").static_shared_bytes, 0U);
    EXPECT_EQ(kernel("plain").static_shared_bytes, 0U);
}

TEST_P(Cubin, TheStackFrameIsLocalMemory) {
    EXPECT_EQ(kernel("framed").local_bytes, 128U);
    EXPECT_EQ(kernel("plain").local_bytes, 0U);
}

TEST_P(Cubin, LaunchBoundsAndTheirAbsence) {
    EXPECT_TRUE(kernel("bounded").launch_bounded);
    EXPECT_EQ(kernel("bounded").max_threads, 256U);
    EXPECT_FALSE(kernel("plain").launch_bounded);
    EXPECT_EQ(kernel("plain").max_threads, 1024U);
}

TEST_P(Cubin, ParametersInDeclarationOrder) {
    const auto& bounded = kernel("bounded").parameters;  // float*, int, double
    ASSERT_EQ(bounded.size(), 3U);
    EXPECT_EQ(bounded[0].offset, 0U);
    EXPECT_EQ(bounded[0].size, 8U);
    EXPECT_EQ(bounded[1].offset, 8U);
    EXPECT_EQ(bounded[1].size, 4U);
    EXPECT_EQ(bounded[2].offset, 16U);
    EXPECT_EQ(bounded[2].size, 8U);
}

TEST_P(Cubin, ParametersOfMoreThan4096Bytes) {
    const auto& large = kernel("large_parameters").parameters;  // Block<5000>, float*, char, Block<3>
    ASSERT_EQ(large.size(), 4U);
    const uint32_t offsets[] = {0, 20000, 20008, 20012}, sizes[] = {20000, 8, 1, 12};
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(large[i].offset, offsets[i]) << i;
        EXPECT_EQ(large[i].size, sizes[i]) << i;
    }
}

TEST_P(Cubin, UserConstants) {
    EXPECT_EQ(kernel("plain").constant_bytes, 400U);
}

TEST_P(Cubin, RequiredClusters) {
    if (GetParam() < 90) GTEST_SKIP() << "no clusters before sm_90";
    EXPECT_EQ(kernel("clustered").required_cluster[0], 2U);
    EXPECT_EQ(kernel("clustered").required_cluster[1], 1U);
    EXPECT_EQ(kernel("clustered").required_cluster[2], 1U);
    EXPECT_EQ(kernel("plain").required_cluster[0], 0U);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Cubin, testing::Values(80, 90, 100));

TEST(CubinErrors, NameTheFileAndTheCause) {
    const auto message = [](const std::string& bytes) -> std::string {
        try {
            read_cubin(bytes.data(), bytes.size(), "some.cubin");
        } catch (const Error& e) {
            return e.what();
        }
        return "no error";
    };
    EXPECT_EQ(message("not an ELF file at all").rfind("some.cubin: not an ELF file", 0), 0U);
    EXPECT_NE(message("\x7f"
                      "ELF")
                  .find("damaged"),
              std::string::npos);
    EXPECT_NE(message("").find("not an ELF file"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
