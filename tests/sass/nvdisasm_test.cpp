// Our reading of machine code beside NVIDIA's, over whole cubins of libtorch_cuda.so: every instruction's
// mnemonic, the padding, the exponentials. ATTNSCOPE_SASS_CUBINS says how many cubins of each architecture.
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "attnscope/sass.h"
#include "elf.h"
#include "library.h"
#include "opcodes.h"

namespace attnscope {
namespace {

struct Printed {
    std::string opcode;  // with modifiers: MUFU.EX2
    bool branches_to_itself = false;
};

std::string environment(const char* name, const std::string& below) {
    const char* root = std::getenv(name);
    return root != nullptr && *root != '\0' ? root + below : std::string();
}

size_t cubins_wanted() {
    const char* asked = std::getenv("ATTNSCOPE_SASS_CUBINS");
    return asked != nullptr ? std::strtoul(asked, nullptr, 10) : 3;
}

class Nvdisasm : public testing::TestWithParam<std::pair<int, bool>> {
  protected:
    void SetUp() override {
        tool_ = environment("ATTNSCOPE_CUDA_ROOT", "/bin/nvdisasm");
        library_ = environment("ATTNSCOPE_TORCH_ROOT", "/lib/libtorch_cuda.so");
        if (!std::filesystem::exists(tool_)) GTEST_SKIP() << "no nvdisasm (ATTNSCOPE_CUDA_ROOT)";
        if (!std::filesystem::exists(library_))
            GTEST_SKIP() << "no LibTorch with CUDA (ATTNSCOPE_TORCH_ROOT)";
        cubin_ = std::filesystem::temp_directory_path() / ("attnscope-nvdisasm-" + std::to_string(getpid()));
    }
    void TearDown() override { std::filesystem::remove(cubin_); }

    /// Kernel -> its instructions, as nvdisasm prints them.
    std::map<std::string, std::vector<Printed>> ask(const std::vector<std::byte>& image) {
        std::ofstream(cubin_, std::ios::binary)
            .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
        std::string text;
        FILE* pipe = popen(("'" + tool_ + "' -json " + cubin_ + " 2>/dev/null").c_str(), "r");
        if (pipe == nullptr) return {};
        std::vector<char> buffer(1 << 16);
        for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
            text.append(buffer.data(), got);
        pclose(pipe);
        simdjson::dom::parser parser;
        std::map<std::string, std::vector<Printed>> kernels;
        std::string kernel;
        for (const simdjson::dom::element function : parser.parse(text).at(1).get_array()) {
            // A device function stands in its kernel's section, behind the code, and is printed right after
            // it.
            const uint64_t start = function["start"];
            if (start == 0) kernel = std::string_view(function["function-name"]);
            auto& list = kernels[kernel];
            EXPECT_EQ(list.size() * 16, start) << kernel;
            for (const simdjson::dom::element instruction : function["sass-instructions"].get_array()) {
                Printed one;
                one.opcode = std::string(std::string_view(instruction["opcode"]));
                std::string_view operands;
                char self[32];
                std::snprintf(self, sizeof self, "0x%zx", list.size() * 16);
                if (one.opcode == "BRA" && instruction["operands"].get(operands) == simdjson::SUCCESS)
                    one.branches_to_itself = operands == self;
                list.push_back(std::move(one));
            }
        }
        return kernels;
    }
    std::string tool_, library_, cubin_;
};

/// Cubins of variables alone have none, and nvdisasm prints none.
bool holds_code(const std::vector<std::byte>& image) {
    const binary::Elf elf(binary::View(image, "cubin"));
    return std::any_of(elf.sections().begin(), elf.sections().end(),
                       [](const binary::Section& s) { return s.name.starts_with(".text.") && s.size > 0; });
}

struct Tally {
    size_t kernels = 0, instructions = 0, different = 0;
};

void compare(const KernelCode& code, const std::vector<Printed>& printed, const std::string& kernel,
             Tally& tally) {
    const sass::Family* family = sass::family_of(code.target.sm);
    ASSERT_NE(family, nullptr);
    ASSERT_EQ(code.bytes.size(), printed.size() * 16) << kernel;
    size_t code_end = printed.size();
    while (code_end > 0 && printed[code_end - 1].opcode == "NOP") --code_end;
    if (code_end > 0 && printed[code_end - 1].branches_to_itself) --code_end;
    uint64_t exponentials = 0;
    for (size_t i = 0; i < printed.size(); ++i) {
        sass::Word word;
        std::memcpy(&word, code.bytes.data() + i * 16, 16);
        const uint16_t index = family->find(word);
        const std::string ours = index == sass::Family::kUnknown ? "unknown" : family->mnemonic(index).name;
        const std::string theirs = printed[i].opcode.substr(0, printed[i].opcode.find('.'));
        exponentials += i < code_end && printed[i].opcode.starts_with("MUFU.EX2");
        if (printed[i].opcode == "BRA" && printed[i].branches_to_itself) {
            EXPECT_TRUE(sass::branches_to_itself(word, code.target.sm)) << kernel << " at " << i * 16;
        }
        if (ours != theirs && ++tally.different < 10)
            ADD_FAILURE() << kernel << " at " << i * 16 << ": nvdisasm says " << printed[i].opcode << ", we "
                          << ours;
    }
    const InstructionMix mix = instruction_mix(code, "test");
    EXPECT_EQ(mix.total, code_end) << kernel;
    EXPECT_EQ(mix.padding, printed.size() - code_end) << kernel;
    EXPECT_EQ(mix.exponentials, exponentials) << kernel;
    EXPECT_EQ(mix.unknown, 0U) << kernel;
    uint64_t sum = 0;
    for (const InstructionCount& entry : mix.by_mnemonic) sum += entry.count;
    EXPECT_EQ(sum, mix.total) << kernel;
    ++tally.kernels;
    tally.instructions += printed.size();
}

TEST_P(Nvdisasm, EveryInstructionIsEqual) {
    const auto& [sm_asked, specific_asked] = GetParam();
    const auto sm = sm_asked;  // clang 14 captures no structured bindings
    const auto specific = specific_asked;
    // Cubins spread over the library, of sizes that nvdisasm prints in seconds.
    std::vector<std::vector<std::byte>> images;
    size_t seen = 0;
    const size_t stride = specific ? 1 : 37, wanted = cubins_wanted();
    constexpr size_t kLargest = 3 << 20;
    binary::for_each_fatbin(library_, [&](const Fatbin& fatbin) {
        for (size_t i = 0; i < fatbin.targets().size() && images.size() < wanted; ++i) {
            const CubinTarget& target = fatbin.targets()[i];
            if (target.sm != sm || target.arch_specific != specific) continue;
            if (seen++ % stride != 0) continue;
            std::vector<std::byte> image = fatbin.image(i);
            if (image.size() <= kLargest && holds_code(image)) images.push_back(std::move(image));
        }
    });
    ASSERT_FALSE(images.empty());
    Tally tally;
    for (const std::vector<std::byte>& image : images) {
        const auto printed = ask(image);
        ASSERT_FALSE(printed.empty()) << "nvdisasm printed nothing";
        const binary::Elf elf(binary::View(image, "cubin"));
        for (const auto& [kernel, instructions] : printed) {
            const binary::Section* section = elf.section(".text." + kernel);
            ASSERT_NE(section, nullptr) << kernel;
            const binary::View content = elf.content(*section);
            KernelCode code;
            code.target = {sm, specific, false};
            code.bytes.assign(content.bytes().begin(), content.bytes().end());
            compare(code, instructions, kernel, tally);
        }
    }
    EXPECT_EQ(tally.different, 0U);
    RecordProperty("kernels", static_cast<int>(tally.kernels));
    std::printf("sm_%d%s: %zu cubins, %zu kernels, %zu instructions compared, %zu different\n", sm,
                specific ? "a" : "", images.size(), tally.kernels, tally.instructions, tally.different);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Nvdisasm,
                         testing::Values(std::pair(75, false), std::pair(80, false), std::pair(86, false),
                                         std::pair(90, false), std::pair(90, true), std::pair(100, false),
                                         std::pair(100, true), std::pair(103, true), std::pair(120, false)));

}  // namespace
}  // namespace attnscope
