// Instruction mixes of known kernels. Right values: facts/attention.md and nvdisasm.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "attnscope/error.h"
#include "attnscope/sass.h"
#include "opcodes.h"

namespace attnscope {
namespace {

std::string environment(const char* name, const std::string& below) {
    const char* root = std::getenv(name);
    return root != nullptr && *root != '\0' ? root + below : std::string();
}

std::string fixture(int sm) {
    return environment("ATTNSCOPE_SOURCE_DIR", "/tests/binary/fixtures/kernels_sm_") + std::to_string(sm) +
           ".cubin";
}

/// Flash forward for head dimension 64, bf16, of torch 2.11.0; the four booleans are dropout, causal, local,
/// alibi, then even lengths and head dimension, softcap, returned softmax.
std::string flash64(const std::string& booleans) {
    std::string name =
        "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_"
        "traitsILi64ELi128ELi128ELi4ELb0ELb0EN7cutlass"
        "10bfloat16_tE19Flash_kernel_traitsILi64ELi128ELi128ELi4ES3_EE";
    for (const char b : booleans) name += std::string("Lb") + b + "E";
    return name + "EEvNS_16Flash_fwd_paramsE";
}

class LibTorch : public testing::Test {
  protected:
    void SetUp() override {
        library_ = environment("ATTNSCOPE_TORCH_ROOT", "/lib/libtorch_cuda.so");
        if (!std::filesystem::exists(library_))
            GTEST_SKIP() << "no LibTorch with CUDA (ATTNSCOPE_TORCH_ROOT)";
    }
    std::string library_;
};

// The right values: causal, even lengths and head dimension is what S 2048 launches.
TEST_F(LibTorch, FlashForwardOnHopper) {
    const KernelMix answer = instruction_mix(library_, flash64("01001100"), 9, 0);
    ASSERT_TRUE(answer.mix) << answer.absent;
    const InstructionMix& mix = *answer.mix;
    EXPECT_EQ(mix.sm, 90);
    EXPECT_EQ(mix.count("HMMA"), 512U);
    EXPECT_EQ(mix.count("HGMMA"), 0U);
    EXPECT_EQ(mix.count("MUFU"), 273U);
    EXPECT_EQ(mix.count("LDL"), 37U);
    EXPECT_EQ(mix.count("STL"), 35U);
    EXPECT_EQ(mix.unknown, 0U);
    EXPECT_EQ(mix.tensor(), 512U);
    EXPECT_EQ(tensor_sentence(mix), "uses mma.sync (512 HMMA), not wgmma");
    // cuobjdump -elf lists 72 SpillRefill annotations for it.
    EXPECT_EQ(local_memory_sentence(mix),
              "register spills: 35 stores and 37 loads, all of its accesses to local memory");
    EXPECT_EQ(tensor_words(mix), "512 HMMA");
}

TEST_F(LibTorch, AnsweredInMillisecondsOnceOpen) {
    KernelMixes mixes(library_, 9, 0);
    ASSERT_TRUE(mixes.of(flash64("01001100")).mix);
    const auto begin = std::chrono::steady_clock::now();
    for (const char* flags : {"01000100", "01000000"}) EXPECT_TRUE(mixes.of(flash64(flags)).mix) << flags;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 1) << "about 1 ms where this was written";
    RecordProperty("microseconds", static_cast<int>(took.count() * 1e6));
}

TEST_F(LibTorch, ResourcesAndMixesAreOfTheSameCubin) {
    const BinaryKernels all = read_kernels(library_, 8, 0);
    KernelMixes mixes(library_, 8, 0);
    size_t asked = 0;
    for (size_t i = 0; i < all.kernels.size(); i += 997, ++asked) {
        const KernelMix direct = mixes.of(all.kernels[i]);
        ASSERT_TRUE(direct.mix) << direct.absent;
        EXPECT_GT(direct.mix->count("EXIT"), 0U) << all.kernels[i].name;
        // The stack frame is there for what is loaded and stored: no local bytes, no access (the reverse does
        // not hold: a frame can serve a call alone).
        if (direct.mix->count(InstructionClass::local_load) > 0) {
            EXPECT_GT(all.kernels[i].local_bytes, 0U) << all.kernels[i].name;
        }
    }
    EXPECT_GT(asked, 20U);
}

TEST_F(LibTorch, AbsentWithAReason) {
    EXPECT_NE(instruction_mix(library_, "_Z6nobodyv", 9, 0)
                  .absent.find("holds no code of \"_Z6nobodyv\" for sm_90"),
              std::string::npos);
    EXPECT_NE(instruction_mix(library_, flash64("01001100"), 7, 0).absent.find("for sm_70"),
              std::string::npos);
}

TEST(Mix, OfAFixture) {
    // nvdisasm -c kernels_sm_90.cubin: `clustered` is 9 instructions, of which the last branches to itself,
    // and 15 NOPs.
    const KernelMix answer = instruction_mix(fixture(90), "clustered", 9, 0);
    ASSERT_TRUE(answer.mix) << answer.absent;
    EXPECT_EQ(answer.mix->total, 8U);
    EXPECT_EQ(answer.mix->padding, 16U);
    EXPECT_EQ(answer.mix->count("EXIT"), 1U);
    EXPECT_EQ(answer.mix->count("NOP"), 0U) << "padding is not code";
    EXPECT_EQ(tensor_sentence(*answer.mix), "no tensor instruction");
    EXPECT_EQ(local_memory_sentence(*answer.mix), "");
    EXPECT_EQ(tensor_words(*answer.mix), "none");
}

TEST(Mix, LocalArraysAreNoSpills) {
    const KernelMix answer = instruction_mix(fixture(90), "framed", 9, 0);
    ASSERT_TRUE(answer.mix) << answer.absent;
    ASSERT_GT(answer.mix->count("LDL") + answer.mix->count("STL"), 0U)
        << "tests/binary/fixtures/kernels.cu: an array";
    EXPECT_EQ(answer.mix->spill_loads + answer.mix->spill_stores, 0U);
    EXPECT_EQ(local_memory_sentence(*answer.mix).rfind("local memory (arrays or spilled registers): ", 0),
              0U);
}

TEST(Mix, FilesThatCannotBeRead) {
    EXPECT_NE(instruction_mix("/nonexistent.so", "plain", 9, 0).absent.find("cannot be opened"),
              std::string::npos);
    EXPECT_NE(instruction_mix("/etc/passwd", "plain", 9, 0).absent.find("neither an ELF"), std::string::npos);
    EXPECT_NE(instruction_mix("/proc/self/exe", "plain", 9, 0).absent.find("holds no code"),
              std::string::npos);
    EXPECT_NE(instruction_mix(fixture(90), "plain", 8, 0).absent.find("for sm_80"), std::string::npos);
}

KernelCode made_of(int sm, const std::vector<std::pair<uint64_t, uint64_t>>& words) {
    KernelCode code;
    code.target.sm = sm;
    code.bytes.resize(words.size() * 16);
    for (size_t i = 0; i < words.size(); ++i) std::memcpy(code.bytes.data() + i * 16, &words[i], 16);
    return code;
}

TEST(Mix, UnknownOpcodesForbidNegativeClaims) {
    ASSERT_EQ(sass::family_of(90)->find({0xfff, 0}), sass::Family::kUnknown);
    const InstructionMix mix = instruction_mix(
        made_of(90, {{0x7fff, 0}, {0x7fff, 1}, {0x000000000000794d, 0x000fea0003800000}}), "test");
    EXPECT_EQ(mix.total, 3U);
    EXPECT_EQ(mix.unknown, 2U);
    EXPECT_EQ(mix.unknown_opcodes, std::vector<uint16_t>{0xfff});
    EXPECT_EQ(mix.count("EXIT"), 1U);
    EXPECT_EQ(mix.count(InstructionClass::unknown), 2U);
    EXPECT_EQ(tensor_sentence(mix),
              "no tensor instruction among the known ones; 2 of 3 instructions are not known");
    EXPECT_EQ(tensor_words(mix), "?");
}

TEST(Mix, ArchitecturesWithoutATable) {
    for (const int sm : {0, 50, 70, 95, 130, 999}) {
        try {
            instruction_mix(made_of(sm, {{0, 0}}), "file");
            ADD_FAILURE() << sm;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find("file: the instructions of sm_" + std::to_string(sm)),
                      std::string::npos)
                << e.what();
        }
    }
    for (const int sm : {75, 80, 86, 89, 90, 100, 103, 120, 121})
        EXPECT_NE(sass::family_of(sm), nullptr) << sm;
}

TEST(Mix, CodeWithoutInstructionsAndCodeCutShort) {
    EXPECT_EQ(instruction_mix(made_of(90, {}), "test").total, 0U);
    KernelCode cut = made_of(90, {{0, 0}});
    cut.bytes.resize(13);
    EXPECT_THROW(instruction_mix(cut, "test"), Error);
}

// The table's own form.
TEST(OpcodeTable, RefusesWhatItDoesNotUnderstand) {
    const auto complaint = [](const std::string& text) -> std::string {
        try {
            sass::parse_opcode_table(text, "t");
        } catch (const Error& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_EQ(complaint("# only a remark\n0x949\tX\t90\n"), "");
    EXPECT_NE(complaint("0x949\tX\n").find("t, line 1: expected opcode"), std::string::npos);
    EXPECT_NE(complaint("949\tX\t90\n").find("expected opcode"), std::string::npos);
    EXPECT_NE(complaint("0x1000\tX\t90\n").find("12 bits"), std::string::npos);
    EXPECT_NE(complaint("0xzz\tX\t90\n").find("not a number"), std::string::npos);
    EXPECT_NE(complaint("0x949\tX\t90\n0x949\tY\t90\n").find("line 2: an opcode is given twice"),
              std::string::npos);
    EXPECT_NE(complaint("0x949\tX\t90\t128=1\n").find("63=0"), std::string::npos);
}

TEST(OpcodeTable, TellsVariantsApart) {
    const auto families =
        sass::parse_opcode_table("0x5ea\tH\t100\t63=0 72=0\n0x5ea\tI\t100\t63=0 72=1\n", "t");
    ASSERT_EQ(families.size(), 1U);
    const sass::Family& family = families[0];
    EXPECT_EQ(family.mnemonic(family.find({0x5ea, 0})).name, "H");
    EXPECT_EQ(family.mnemonic(family.find({0x5ea, 0x100})).name, "I");
    EXPECT_EQ(family.find({0x80000000000005ea, 0}), sass::Family::kUnknown);
}

TEST(OpcodeTable, KnowsEveryArchitecturesTensorInstructions) {
    const auto has = [](int sm, const std::string& name) {
        const sass::Family& family = *sass::family_of(sm);
        for (uint16_t i = 0; i < family.size(); ++i)
            if (family.mnemonic(i).name == name) return true;
        return false;
    };
    for (const int sm : {75, 80, 90, 100, 120})
        for (const char* name : {"HMMA", "IMMA", "MUFU", "FFMA", "LDL", "STL", "LDG", "STG", "LDSM", "BAR"})
            EXPECT_TRUE(has(sm, name)) << name << " on sm_" << sm;
    EXPECT_TRUE(has(90, "HGMMA"));
    EXPECT_FALSE(has(80, "HGMMA"));
    EXPECT_TRUE(has(80, "LDGSTS"));
    EXPECT_FALSE(has(75, "LDGSTS"));
    EXPECT_TRUE(has(90, "UTMALDG"));
    EXPECT_TRUE(has(100, "UTCHMMA"));
    EXPECT_TRUE(has(120, "QMMA"));
}

}  // namespace
}  // namespace attnscope
