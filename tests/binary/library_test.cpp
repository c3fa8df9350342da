// Files on disk: libraries, programs, fatbins, cubins and what is none of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "attnscope/binary.h"
#include "attnscope/error.h"
#include "library.h"
#include "make_fatbin.h"

namespace attnscope {
namespace {

class Library : public testing::Test {
  protected:
    Library()
        : folder_(std::filesystem::temp_directory_path() /
                  ("attnscope-library-test-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~Library() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string& name, const test::Buffer& bytes) {
        const std::string path = folder_ / name;
        std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return path;
    }
    /// This test program with device code in it, as nvcc would have linked it.
    std::string program_with(const test::Buffer& fatbins) {
        const std::string section = write("section", fatbins), out = folder_ / "program";
        const std::string command =
            "objcopy --add-section .nv_fatbin=" + section + " /proc/self/exe " + out + " 2>/dev/null";
        // The shell's /proc/self/exe is the shell: name our own.
        const std::string self = std::filesystem::read_symlink("/proc/self/exe");
        std::string real = command;
        real.replace(real.find("/proc/self/exe"), 14, self);
        return std::system(real.c_str()) == 0 ? out : std::string();
    }
    std::filesystem::path folder_;
};

test::Buffer cubin(int sm) {
    return test::read_file(test::fixture_path("kernels_sm_" + std::to_string(sm) + ".cubin"));
}

std::string failure(const std::string& path) {
    try {
        read_kernels(path, 9, 0);
    } catch (const Error& e) {
        EXPECT_EQ(e.exit(), Exit::bad_input);
        return e.what();
    }
    return "";
}

TEST_F(Library, EveryFatbinOfAProgramIsRead) {
    test::Buffer section =
        test::make_fatbin({{2, 80, test::kPlain, cubin(80), 64}, {2, 90, test::kZstd, cubin(90), 64}});
    section.resize((section.size() + 7) / 8 * 8 + 24);  // zeros between two of them
    const test::Buffer second =
        test::make_fatbin({{2, 90, test::kLz4, cubin(90), 112}, {1, 90, test::kPlain, test::Buffer(50), 64}});
    section.insert(section.end(), second.begin(), second.end());
    const std::string path = program_with(section);
    if (path.empty()) GTEST_SKIP() << "objcopy (binutils) is not installed";
    const BinaryKernels hopper = read_kernels(path, 9, 0);
    EXPECT_EQ(hopper.fatbins, 2U);
    EXPECT_EQ(hopper.kernels.size(), 14U);
    EXPECT_EQ(hopper.architectures, (std::vector<int>{80, 90}));
    EXPECT_TRUE(hopper.has_ptx);
    EXPECT_EQ(read_kernels(path, 8, 9).kernels.size(), 7U);
    EXPECT_TRUE(read_kernels(path, 7, 0).kernels.empty());
    EXPECT_TRUE(links_static_cuda_runtime(path)) << "device code, and no libcudart among its needs";
}

TEST_F(Library, ProgramsWithoutDeviceCode) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    EXPECT_EQ(read_kernels(self, 9, 0).fatbins, 0U);
    EXPECT_TRUE(read_kernels(self, 9, 0).architectures.empty());
    EXPECT_FALSE(links_static_cuda_runtime(self));
    const auto needed = needed_libraries(self);
    EXPECT_NE(std::find(needed.begin(), needed.end(), "libc.so.6"), needed.end());
}

TEST_F(Library, BareFatbinsAndCubins) {
    const std::string fatbin = write("a.fatbin", test::make_fatbin({{2, 90, test::kZstd, cubin(90), 64}}));
    EXPECT_EQ(read_kernels(fatbin, 9, 0).kernels.size(), 7U);
    EXPECT_EQ(read_kernels(fatbin, 8, 0).kernels.size(), 0U);
    const std::string bare = write("a.cubin", cubin(100));
    EXPECT_EQ(read_kernels(bare, 10, 0).kernels.size(), 7U);
    EXPECT_EQ(read_kernels(bare, 10, 0).architectures, std::vector<int>{100});
    EXPECT_EQ(read_kernels(bare, 9, 0).kernels.size(), 0U);
}

TEST_F(Library, WhatIsNoLibraryIsNamed) {
    EXPECT_NE(failure(folder_ / "absent.so").find("absent.so: cannot be opened"), std::string::npos);
    EXPECT_NE(failure(folder_).find("not a regular file"), std::string::npos);
    EXPECT_NE(failure(write("empty.so", {})).find("empty.so: the file is empty"), std::string::npos);
    const std::string script = write("script.py", {'#', '!', '/', 'b', 'i', 'n'});
    EXPECT_NE(failure(script).find("neither an ELF library or program"), std::string::npos);
    EXPECT_TRUE(needed_libraries(script).empty());
    EXPECT_FALSE(links_static_cuda_runtime(script));
}

}  // namespace
}  // namespace attnscope
