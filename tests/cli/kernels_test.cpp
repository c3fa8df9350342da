// attnscope kernels, as a user calls it. Right values: the cubins of tests/binary (cuobjdump's), the issue's
// occupancies.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/command.h"

namespace attnscope {
namespace {

using test::Outcome;

std::string environment(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

Outcome run(const std::string& arguments) {
    return test::typed("kernels " + arguments);
}

std::string fixture(int sm) {
    return environment("ATTNSCOPE_SOURCE_DIR", ".") + "/tests/binary/fixtures/kernels_sm_" +
           std::to_string(sm) + ".cubin";
}

size_t longest_line(const std::string& text) {
    std::istringstream lines(text);
    size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
}

/// Bad input: exit code 2, nothing on stdout, one sentence on stderr.
void refuses(const std::string& arguments, const std::string& words) {
    const Outcome result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_NE(result.err.find(words), std::string::npos) << arguments << " said: " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.err.rfind("attnscope: ", 0), 0U) << result.err;
}

TEST(Kernels, OfAFileAsText) {
    const Outcome result = run(fixture(90) + " --match '^(bounded|plain|clustered)' --device H100-SXM5");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out.rfind("3 of 7 kernels of kernels_sm_90.cubin for H100-SXM5 (sm_90)\n", 0), 0U)
        << result.out;
    EXPECT_NE(result.out.find("clustered cluster 2x1x1"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("256*"), std::string::npos) << "launch bounds are marked";
    EXPECT_NE(result.out.find("100.0%"), std::string::npos)
        << "bounded: 16 registers, 256 threads, 2,048 bytes";
    EXPECT_NE(result.out.find("no block size is known: give it with --block"), std::string::npos);
    EXPECT_LE(longest_line(result.out), 80U) << result.out;
}

TEST(Kernels, OfAFileAsJson) {
    const Outcome result = run(fixture(80) + " --match 'bounded|plain' --device A100 --format json");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json["device"], "A100-SXM4-80GB");
    EXPECT_EQ(json["searched"], 7);
    ASSERT_EQ(json["kernels"].size(), 2U);
    for (const auto& kernel : json["kernels"]) {
        if (kernel["name"] == "plain") {
            EXPECT_TRUE(kernel["occupancy"].is_null()) << "no block is known: absent, not zero";
            EXPECT_FALSE(kernel["launch_bounded"]);
            continue;
        }
        EXPECT_EQ(kernel["name"], "bounded");
        EXPECT_EQ(kernel["registers"], 16);
        EXPECT_EQ(kernel["static_shared_bytes"], 2048);
        EXPECT_EQ(kernel["block"], 256);
        EXPECT_EQ(kernel["occupancy"]["percent"], 100.0);
    }
}

TEST(Kernels, BlockAndDynamicSharedAreTheUsers) {
    const Outcome result =
        run(fixture(90) + " --match dynamic --device H100 --block 128 --dynamic-shared 98304 --format json");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto kernel = nlohmann::json::parse(result.out)["kernels"][0];
    EXPECT_EQ(kernel["occupancy"]["ctas_per_sm"], 2);  // 2 x (96 + 1 KiB) of 228 KiB
    EXPECT_EQ(kernel["occupancy"]["limiters"], nlohmann::json::array({"shared memory"}));
    const Outcome large = run(fixture(90) + " --match bounded --device H100 --block 512");
    EXPECT_NE(large.out.find("does not launch: the kernel allows at most 256 threads"), std::string::npos)
        << large.out;
}

// Right values: nvdisasm -c kernels_sm_90.cubin. `framed` keeps an array in local memory.
TEST(Kernels, InstructionsOfAFile) {
    const Outcome text = run(fixture(90) + " --match 'framed|clustered' --device H100");
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_NE(text.out.find("    local memory: "), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("spills:"), std::string::npos) << "the compiler noted none: " << text.out;
    const Outcome mix = run(fixture(90) + " --match clustered --device H100 --mix");
    EXPECT_NE(mix.out.find("    no tensor instruction\n"), std::string::npos) << mix.out;
    EXPECT_NE(mix.out.find("    8 instructions in its code"), std::string::npos) << mix.out;
    EXPECT_NE(mix.out.find("1 EXIT"), std::string::npos) << mix.out;
    EXPECT_LE(longest_line(mix.out), 80U) << mix.out;
    const Outcome json = run(fixture(90) + " --match clustered --device H100 --mix --format json");
    const auto code = nlohmann::json::parse(json.out)["kernels"][0]["code"];
    EXPECT_EQ(code["instructions"], 8);
    EXPECT_EQ(code["padding"], 16);
    EXPECT_EQ(code["unknown_instructions"], 0);
    EXPECT_EQ(code["mnemonics"]["EXIT"], 1);
    EXPECT_EQ(code["tensor"]["mma_sync"], 0);
    EXPECT_EQ(code["says"], nlohmann::json::array({"no tensor instruction"}));
    uint64_t sum = 0;
    for (const auto& [kind, count] : code["classes"].items()) sum += count.get<uint64_t>();
    EXPECT_EQ(sum, 8U) << "every instruction is of one class";
}

TEST(Kernels, LimitIsSaid) {
    const Outcome result = run(fixture(90) + " --device H100 --limit 2");
    EXPECT_NE(result.out.find("... and 5 more rows; --limit shows them"), std::string::npos) << result.out;
}

// The right values, with the numbers of facts/attention.md.
TEST(Kernels, ByHand) {
    const auto percent = [](const std::string& arguments) {
        const Outcome result = run(arguments + " --format json");
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return nlohmann::json::parse(result.out)["occupancy"]["percent"].get<double>();
    };
    EXPECT_EQ(percent("--registers 255 --shared 49152 --block 128 --device A100"), 12.5);
    EXPECT_EQ(percent("--registers 255 --shared 65536 --block 128 --device H100"), 12.5);
    EXPECT_NEAR(percent("--registers 255 --shared 49152 --block 128 --device RTX-4090"), 16.7, 0.05);
    EXPECT_NEAR(percent("--registers 254 --shared 98304 --block 128 --device RTX-4090"), 8.3, 0.05);
    EXPECT_EQ(percent("--registers 128 --shared 18944 --block 128 --device virtual:H100-SXM5"), 25);
    const Outcome text = run("--registers 255 --shared 49152 --block 128 --device A100");
    EXPECT_NE(text.out.find("12.5%: 2 CTAs/SM, 8 of 64 warps; limited by registers"), std::string::npos)
        << text.out;
    const Outcome refused = run("--registers 255 --block 512 --device A100");
    EXPECT_EQ(refused.exit_code, 0);
    EXPECT_NE(refused.out.find("does not launch: 255 registers x 512 threads"), std::string::npos)
        << refused.out;
}

TEST(Kernels, BadInputIsOneSentenceAndExitCode2) {
    refuses(fixture(90) + " --device H300", "unknown device \"H300\"; known: V100");
    refuses(fixture(90) + " --device V100", "no kernel in it runs on V100 (sm_70); it holds sm_90");
    refuses(fixture(90) + " --device H100 --match '('", "no POSIX extended regular expression");
    refuses(fixture(90) + " --device H100 --match nosuchkernel",
            "matches \"nosuchkernel\" (7 kernels searched");
    refuses("/proc/self/exe --device H100", "carries no CUDA device code");
    refuses("/etc/passwd --device H100", "neither an ELF library or program, nor a fatbin, nor a cubin");
    refuses("/nonexistent.so --device H100", "/nonexistent.so: cannot be opened");
    refuses("--device H100", "without a FILE give --registers and --block");
    refuses("--registers 32 --device H100", "without a FILE give --registers and --block");
    refuses(fixture(90) + " --device H100 --registers 32", "leave them or the FILE out");
    refuses(fixture(90), "--device is required");
    refuses(fixture(90) + " --device H100 --format yaml", "--format");
    refuses("--registers 1 --block 1 --mix --device H100", "need a FILE");
    refuses("--registers 1 --block 1 --match x --device H100", "need a FILE");
}

TEST(Kernels, AHostileFileNameReachesNoTerminal) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("attnscope-\x1b[2J-" + std::to_string(getpid()) + ".cubin");
    std::filesystem::copy_file(fixture(90), path, std::filesystem::copy_options::overwrite_existing);
    const Outcome result = run("'" + path + "' --device H100");
    std::filesystem::remove(path);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
}

struct Flash {
    const char *device, *match, *shared;
    double percent;
};

class LibTorch : public testing::TestWithParam<Flash> {};

// The right values, with registers from the wheel's own cubins.
TEST_P(LibTorch, Occupancy) {
    const std::string library = environment("ATTNSCOPE_TORCH_ROOT", "/nowhere") + "/lib/libtorch_cuda.so";
    if (!std::filesystem::exists(library)) GTEST_SKIP() << "no LibTorch with CUDA (ATTNSCOPE_TORCH_ROOT)";
    const Flash& flash = GetParam();
    const Outcome result = run(library + " --device " + flash.device + " --match '" + flash.match +
                               "' --block 128 --dynamic-shared " + flash.shared + " --format json");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out);
    ASSERT_FALSE(json["kernels"].empty());
    for (const auto& kernel : json["kernels"])
        EXPECT_NEAR(kernel["occupancy"]["percent"].get<double>(), flash.percent, 0.05) << kernel["demangled"];
}

// The right values; the facts' for shared memory.
TEST(LibTorchCode, FlashOnHopper) {
    const std::string library = environment("ATTNSCOPE_TORCH_ROOT", "/nowhere") + "/lib/libtorch_cuda.so";
    if (!std::filesystem::exists(library)) GTEST_SKIP() << "no LibTorch with CUDA (ATTNSCOPE_TORCH_ROOT)";
    const std::string arguments = library +
                                  " --device H100 --match 'flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, "
                                  "128, .*bfloat16_t> >, false, "
                                  "true, false, false, true, true, false, false>'";
    const Outcome text = run(arguments);
    EXPECT_NE(
        text.out.find("\n    head dim 64, tile 128x128, 4 warps; 512 HMMA; spills: 35 stores, 37 loads\n"),
        std::string::npos)
        << text.out;
    EXPECT_LE(longest_line(text.out), 80U) << text.out;
    const Outcome mix = run(arguments + " --mix");
    EXPECT_NE(mix.out.find("uses mma.sync (512 HMMA), not wgmma"), std::string::npos) << mix.out;
    EXPECT_NE(mix.out.find("its tile needs 49,152 bytes of dynamic shared memory"), std::string::npos)
        << mix.out;
    EXPECT_LE(longest_line(mix.out), 80U) << mix.out;
    const Outcome json = run(arguments + " --format json");
    const auto kernels = nlohmann::json::parse(json.out)["kernels"];
    ASSERT_EQ(kernels.size(), 1U);
    const auto& code = kernels[0]["code"];
    EXPECT_EQ(code["tensor"]["mma_sync"], 512);
    EXPECT_EQ(code["tensor"]["wgmma"], 0);
    EXPECT_EQ(code["local_stores"], 35);
    EXPECT_EQ(code["spill_loads"], 37);
    EXPECT_FALSE(code.contains("mnemonics")) << "--mix asks for them";
    EXPECT_EQ(kernels[0]["attention"]["block_queries"], 128);
    EXPECT_EQ(kernels[0]["attention"]["causal"], true);
    EXPECT_EQ(kernels[0]["attention"]["expected_dynamic_shared_bytes"], 49152);
}

// Without dropout (false), causal or not, bf16.
#define FLASH(hd, bm, bn, warps) \
    "flash_fwd_kernel<Flash_fwd_kernel_traits<" hd ", " bm ", " bn ", " warps ", .*bfloat16_t> >, false"
INSTANTIATE_TEST_SUITE_P(
    RightValues, LibTorch,
    testing::Values(Flash{"A100", FLASH("64", "128", "128", "4"), "49152", 12.5},
                    Flash{"H100", FLASH("64", "128", "128", "4"), "49152", 12.5},
                    Flash{"A100", FLASH("128", "128", "64", "4"), "65536", 12.5},
                    Flash{"H100", FLASH("128", "128", "64", "4"), "65536", 12.5},
                    Flash{"RTX-4090", FLASH("64", "128", "128", "4"), "49152", 16.7},
                    Flash{"RTX-4090", FLASH("256", "64", "64", "4"), "98304", 8.3},
                    Flash{"A100", "fmha_cutlassF_bf16_aligned_64x64_rf_sm80", "18944", 25},
                    Flash{"H100", "fmha_cutlassF_bf16_aligned_64x64_rf_sm80", "18944", 25}));

}  // namespace
}  // namespace attnscope
