// Damaged and hostile cubins and names give an answer or a reason, never a crash, a hang or a read outside
// (the sanitizers watch in an ATTNSCOPE_SANITIZE build). ATTNSCOPE_FUZZ_ROUNDS asks for more rounds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "attnscope/error.h"
#include "attnscope/kernel_name.h"
#include "attnscope/sass.h"
#include "opcodes.h"

namespace attnscope {
namespace {

using Buffer = std::vector<char>;

size_t rounds(size_t by_default) {
    const char* asked = std::getenv("ATTNSCOPE_FUZZ_ROUNDS");
    return asked != nullptr ? std::strtoul(asked, nullptr, 10) : by_default;
}

Buffer fixture(int sm) {
    const char* root = std::getenv("ATTNSCOPE_SOURCE_DIR");
    std::ifstream file(std::string(root != nullptr ? root : ".") + "/tests/binary/fixtures/kernels_sm_" +
                           std::to_string(sm) + ".cubin",
                       std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Damaged : public testing::Test {
  protected:
    Damaged()
        : path_(std::filesystem::temp_directory_path() / ("attnscope-sass-" + std::to_string(getpid()))) {}
    ~Damaged() override { std::filesystem::remove(path_); }
    void ask_all(const Buffer& bytes, int sm) {
        std::ofstream(path_, std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        KernelMixes mixes(path_, sm / 10, sm % 10);
        for (const char* kernel : {"plain", "framed", "calls_driver", "nobody", ""}) {
            const KernelMix answer = mixes.of(kernel);
            ASSERT_EQ(answer.mix.has_value(), answer.absent.empty());
            if (answer.mix) sentences(*answer.mix);
        }
        try {
            for (const KernelResources& kernel : read_kernels(path_, sm / 10, sm % 10).kernels)
                mixes.of(kernel);
        } catch (const Error&) {
        }
    }
    std::string path_;
};

TEST_F(Damaged, Cubins) {
    for (const int sm : {80, 90, 100}) {
        const Buffer seed = fixture(sm);
        ASSERT_FALSE(seed.empty());
        for (size_t i = 0; i < rounds(400); ++i) {
            SCOPED_TRACE("sm_" + std::to_string(sm) + ", round " + std::to_string(i));
            std::mt19937_64 random(i);
            Buffer bytes = seed;
            for (size_t edits = 1 + random() % 4; edits > 0; --edits) {
                const uint64_t values[] = {0, 1, 8, bytes.size(), 0xffffffff, ~0ULL, 1ULL << 63, random()};
                const uint64_t value = values[random() % std::size(values)];
                const size_t width = size_t{1} << random() % 4;
                // The tables stand at both ends.
                const size_t at = random() % 2 == 0 ? random() % bytes.size()
                                                    : bytes.size() - width - random() % (bytes.size() / 4);
                if (at + width <= bytes.size()) std::memcpy(bytes.data() + at, &value, width);
            }
            if (random() % 8 == 0) bytes.resize(1 + random() % bytes.size());
            ask_all(bytes, sm);
        }
    }
}

TEST_F(Damaged, RandomCode) {
    std::mt19937_64 random(7);
    for (size_t i = 0; i < rounds(2000); ++i) {
        KernelCode code;
        const int known[] = {75, 80, 86, 90, 100, 103, 120, 121};
        code.target.sm = known[random() % std::size(known)];
        code.bytes.resize(random() % 40 * 16);
        for (std::byte& b : code.bytes) b = static_cast<std::byte>(random());
        for (size_t s = random() % 8; s > 0; --s)
            code.spills.push_back(static_cast<uint32_t>(random() % 800));
        const InstructionMix mix = instruction_mix(code, "random");
        EXPECT_EQ((mix.total + mix.padding) * 16, code.bytes.size());
        uint64_t sum = mix.unknown;
        for (const InstructionCount& entry : mix.by_mnemonic) sum += entry.count;
        EXPECT_EQ(sum, mix.total);
        EXPECT_LE(mix.spill_loads, mix.count("LDL") + 8);
        sentences(mix);
    }
}

TEST_F(Damaged, Names) {
    const std::string seeds[] = {
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
        "cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, "
        "false, "
        "false, true, true, false, false>(pytorch_flash::Flash_fwd_params)",
        "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_"
        "t, "
        "cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)",
        "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_6_128x64x64_4x1x1_cga1x1x1_kernel0_"
        "0",
        "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
        "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, "
        "cute::tuple<cute::C<128>, cute::C<176>, cute::C<128> >, 128, cutlass::bfloat16_t, float, "
        "cutlass::arch::Sm90, true, false, false, false>, int> > >"};
    const std::string alphabet = "<>(),:_x0123456789 truefalsEIL_Z";
    for (const std::string& seed : seeds)
        for (size_t i = 0; i < rounds(4000); ++i) {
            std::mt19937_64 random(i);
            std::string name = seed;
            for (size_t edits = 1 + random() % 5; edits > 0 && !name.empty(); --edits) {
                const size_t at = random() % name.size();
                switch (random() % 4) {
                    case 0:
                        name.erase(at, 1 + random() % 9);
                        break;
                    case 1:
                        name.insert(at, std::string(1 + random() % 3, alphabet[random() % alphabet.size()]));
                        break;
                    case 2:
                        name.insert(at, "99999999999999999999");
                        break;
                    default:
                        name[at] = static_cast<char>(random());
                }
            }
            if (const auto read = attention_kernel_name(name)) {
                read->tile_words();
                const Value bytes = expected_shared_bytes(*read);
                EXPECT_NE(bytes.number.has_value(), !bytes.absent.empty());
                shared_bytes_differ(*read, random());
            }
        }
    EXPECT_FALSE(attention_kernel_name(std::string(1 << 20, '<')));
    EXPECT_FALSE(attention_kernel_name(""));
}

}  // namespace
}  // namespace attnscope
