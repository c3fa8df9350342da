// Which files carry device code: an ELF file with a section .nv_fatbin that holds something; whatever else a
// path may lead to is none.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "loaded.h"

namespace attnscope::collector {
namespace {

namespace fs = std::filesystem;

/// An ELF file with one section of this name and size, and the table of names.
std::string elf(const std::string& section, uint64_t size) {
    const std::string names = std::string(1, '\0') + section + '\0';
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident,
                "\x7f"
                "ELF\x02\x01\x01",
                7);
    header.e_shoff = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shstrndx = 2;
    Elf64_Shdr sections[3]{};
    sections[1].sh_name = 1;
    sections[1].sh_size = size;
    sections[2].sh_offset = sizeof header + sizeof sections;
    sections[2].sh_size = names.size();
    std::string text(sizeof header + sizeof sections, '\0');
    std::memcpy(text.data(), &header, sizeof header);
    std::memcpy(text.data() + sizeof header, sections, sizeof sections);
    return text + names;
}

class DeviceCode : public testing::Test {
  protected:
    std::string path_ = fs::temp_directory_path() / ("attnscope-device-code-" + std::to_string(getpid()));
    void TearDown() override { fs::remove(path_); }
    bool carries(const std::string& bytes) {
        std::ofstream(path_, std::ios::binary) << bytes;
        return carries_device_code(path_);
    }
};

TEST_F(DeviceCode, IsAFilledFatbinSection) {
    EXPECT_TRUE(carries(elf(".nv_fatbin", 16)));
    EXPECT_FALSE(carries(elf(".nv_fatbin", 0)));
    EXPECT_FALSE(carries(elf(".nv_fatbin2", 16)));
    EXPECT_FALSE(carries(elf(".text", 16)));
}

TEST_F(DeviceCode, IsNotInWhatIsNoLibrary) {
    EXPECT_FALSE(carries(""));
    EXPECT_FALSE(carries("#!/bin/sh\n"));
    EXPECT_FALSE(carries_device_code("/proc/self/exe"));
    EXPECT_FALSE(carries_device_code("/nowhere"));
    EXPECT_FALSE(carries_device_code("/tmp"));
    fs::remove(path_);
    ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    EXPECT_FALSE(carries_device_code(path_)) << "and it does not wait for a writer";
}

TEST_F(DeviceCode, DamagedFilesHaveAnAnswer) {
    const std::string whole = elf(".nv_fatbin", 16);
    std::mt19937_64 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes = whole;
        for (int edits = 0; edits < 3; ++edits) {
            const uint64_t values[] = {0, 1, 0xffff, ~0ULL, 1ULL << 63, random()};
            const size_t width = size_t{1} << random() % 4;
            std::memcpy(bytes.data() + random() % (bytes.size() - width), &values[random() % 6], width);
        }
        if (random() % 4 == 0) bytes.resize(random() % bytes.size());
        carries(bytes);
    }
}

TEST_F(DeviceCode, OfLibTorch) {
    const char* root = std::getenv("ATTNSCOPE_TORCH_ROOT");
    const std::string lib = std::string(root != nullptr ? root : "") + "/lib/";
    if (!fs::exists(lib + "libtorch_cuda.so")) GTEST_SKIP() << "no LibTorch with CUDA (ATTNSCOPE_TORCH_ROOT)";
    EXPECT_TRUE(carries_device_code(lib + "libtorch_cuda.so"));
    EXPECT_FALSE(carries_device_code(lib + "libtorch_cpu.so"));
}

}  // namespace
}  // namespace attnscope::collector
