// Kernels looked up in the files of a process. Right values: nvdisasm of the fixtures (tests/sass), and the
// flash kernel of libtorch_cuda.so 2.11: 512 HMMA, 273 MUFU, 37 LDL, 35 STL for sm_90.
#include "kernel_code.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "attnscope/sass.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlash =
    "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64ELi128ELi128ELi4ELb0ELb0EN7cutlass"
    "10bfloat16_tE19Flash_kernel_traitsILi64ELi128ELi128ELi4ES3_EELb0ELb1ELb0ELb0ELb1ELb1ELb0ELb0EEEvNS_16"
    "Flash_fwd_paramsE";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::string fixture(int sm) {
    return variable("ATTNSCOPE_SOURCE_DIR") + "/tests/binary/fixtures/kernels_sm_" + std::to_string(sm) +
           ".cubin";
}

class KernelCode : public testing::Test {
  protected:
    fs::path folder_ = fs::temp_directory_path() / ("attnscope-kernel-code-" + std::to_string(getpid()));

    void SetUp() override {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        std::ofstream(folder_ / "run.json")
            << R"({"schema":"attnscope-run","version":"1.1","attnscope":"1","ground":"virtual"})";
    }
    void TearDown() override { fs::remove_all(folder_); }

    /// One process that launched these kernels on a device of this compute capability.
    void process(const std::string& file, const std::string& executable,
                 const std::vector<std::string>& libraries, int major, int minor,
                 const std::vector<std::string>& kernels) {
        std::ofstream out(folder_ / file);
        out << R"({"type":"process","schema":"attnscope-run","version":"1.1","ground":"virtual","host":"h",)"
            << R"("pid":1,"executable":")" << executable << "\"}\n";
        for (const std::string& library : libraries)
            out << R"({"type":"library","name":"l","path":")" << library << "\"}\n";
        out << R"({"type":"device","device":0,"ground":"virtual","compute_major":)" << major
            << R"(,"compute_minor":)" << minor << "}\n";
        int id = 0;
        for (const std::string& kernel : kernels) {
            out << R"({"type":"name","id":)" << ++id << R"(,"name":")" << kernel << "\"}\n";
            out << R"({"type":"kernel","correlation":)" << id << R"(,"name":)" << id << R"(,"device":0})"
                << "\n";
        }
        out << R"({"type":"end","kernels":)" << id << "}\n";
    }

    std::vector<Diagnostic> look_up(std::chrono::milliseconds budget = launch::kCodeBudget) {
        std::vector<Diagnostic> diagnostics = launch::write_kernel_code(folder_, budget);
        run_ = read_run(folder_);
        return diagnostics;
    }
    /// Valid until the next look_up(); empty where the run has no code of it.
    NamedCode code(const std::string& kernel, size_t process = 0) const {
        const Process& p = run_.processes.at(process);
        for (const NamedCode& c : p.code)
            if (p.names.at(c.name) == kernel) return c;
        return {};
    }
    bool absent_for(const std::string& kernel, const std::string& reason) const {
        const NamedCode c = code(kernel);
        EXPECT_NE(c.absent.find(reason), std::string::npos) << c.absent;
        return !c.mix && c.absent.find(reason) != std::string::npos;
    }
    std::string written() const {
        std::ifstream file(folder_ / "code" / "kernels.jsonl");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    attnscope::Run run_;
};

TEST_F(KernelCode, IsFoundInTheExecutableAndInLibraries) {
    process("p.jsonl", "/bin/true", {fixture(90)}, 9, 0, {"clustered", "_Z6nobodyv"});
    EXPECT_TRUE(look_up().empty());
    ASSERT_TRUE(code("clustered").mix) << code("clustered").absent;
    EXPECT_EQ(code("clustered").library, fixture(90));
    EXPECT_EQ(code("clustered").mix->total, 8U);  // nvdisasm -c
    EXPECT_EQ(code("clustered").mix->count("EXIT"), 1U);
    EXPECT_TRUE(absent_for("_Z6nobodyv", "no file that the run names holds code of it"));
    EXPECT_EQ(code("_Z6nobodyv").library, "");
    process("p.jsonl", fixture(90), {}, 9, 0, {"clustered"});
    look_up();
    EXPECT_TRUE(code("clustered").mix);
}

// As the device would load it: code for sm_80 runs on 8.6 and 8.9, and not on 9.0.
TEST_F(KernelCode, IsThatWhichTheDeviceRuns) {
    for (const auto& [major, minor] : {std::pair(8, 0), std::pair(8, 6), std::pair(8, 9)}) {
        process("p.jsonl", fixture(80), {}, major, minor, {"plain"});
        look_up();
        ASSERT_TRUE(code("plain").mix) << code("plain").absent;
        EXPECT_EQ(code("plain").mix->sm, 80);
        EXPECT_EQ(code("plain").minor, static_cast<uint32_t>(minor));
    }
    process("p.jsonl", fixture(80), {}, 9, 0, {"plain"});
    look_up();
    EXPECT_TRUE(absent_for("plain", "compute capability 9.0"));
}

TEST_F(KernelCode, OfAFileThatCannotBeReadIsAbsentAndSaysWhich) {
    process("p.jsonl", "/nowhere/program", {"/proc/self/mem", folder_.string(), fixture(80)}, 9, 0,
            {"plain"});
    EXPECT_TRUE(look_up().empty()) << "no fault of the run";
    EXPECT_TRUE(absent_for("plain", "/nowhere/program"));
}

TEST_F(KernelCode, OfProcessesWithDifferentFilesIsEachOnesOwn) {
    process("a.jsonl", fixture(80), {}, 8, 0, {"plain"});
    process("b.jsonl", "/bin/true", {}, 8, 0, {"plain"});
    look_up();
    ASSERT_EQ(run_.processes.size(), 2U);
    EXPECT_TRUE(code("plain", 0).mix);
    EXPECT_FALSE(code("plain", 1).mix);
    EXPECT_FALSE(code("plain", 1).absent.empty());
}

TEST_F(KernelCode, TakesNoMoreThanItsTime) {
    process("p.jsonl", fixture(90), {}, 9, 0, {"clustered", "plain"});
    const auto diagnostics = look_up(std::chrono::milliseconds(0));
    ASSERT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics[0].code, "code-cut");
    EXPECT_EQ(diagnostics[0].level, DiagnosticLevel::info);
    EXPECT_EQ(diagnostics[0].count, 2U);
    EXPECT_TRUE(absent_for("plain", "in the time"));
}

TEST_F(KernelCode, WritesNothingWithoutKernelsAndReplacesWhatIsThere) {
    process("p.jsonl", fixture(90), {}, 9, 0, {});
    EXPECT_TRUE(look_up().empty());
    EXPECT_FALSE(fs::exists(folder_ / "code"));
    process("p.jsonl", fixture(90), {}, 9, 0, {"clustered"});
    look_up();
    const std::string first = written();
    look_up();
    EXPECT_EQ(written(), first) << "the same files give the same bytes";
    EXPECT_FALSE(fs::exists(folder_ / "code" / "kernels.jsonl.new"));
}

TEST_F(KernelCode, ThatCannotBeWrittenIsADiagnostic) {
    process("p.jsonl", fixture(90), {}, 9, 0, {"clustered"});
    std::ofstream(folder_ / "code") << "a file";
    const auto diagnostics = look_up();
    ASSERT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics[0].code, "code-not-written");
    EXPECT_TRUE(launch::write_kernel_code(folder_ / "gone").empty()) << "no run, no kernel";
}

TEST_F(KernelCode, OfFlashInLibTorch) {
    const std::string library = variable("ATTNSCOPE_TORCH_ROOT") + "/lib/libtorch_cuda.so";
    if (!fs::exists(library)) GTEST_SKIP() << "no LibTorch with CUDA (ATTNSCOPE_TORCH_ROOT)";
    process("p.jsonl", "/bin/true", {library}, 9, 0, {kFlash});
    EXPECT_TRUE(look_up(std::chrono::minutes(5)).empty());
    const NamedCode flash = code(kFlash);
    ASSERT_TRUE(flash.mix) << flash.absent;
    EXPECT_EQ(flash.mix->count("HMMA"), 512U);
    EXPECT_EQ(flash.mix->count("HGMMA"), 0U);
    EXPECT_EQ(flash.mix->count("MUFU"), 273U);
    EXPECT_EQ(flash.mix->count("LDL"), 37U);
    EXPECT_EQ(flash.mix->count("STL"), 35U);
    EXPECT_EQ(flash.mix->spill_stores, 35U);
    EXPECT_EQ(flash.mix->spill_loads, 37U);
}

}  // namespace
}  // namespace attnscope
