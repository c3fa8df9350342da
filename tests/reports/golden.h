#pragma once
// Outputs as files, to be read in a review. ATTNSCOPE_REGENERATE=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace attnscope::test {

/// `file` is relative to the repository's root.
inline void expect_golden(const std::string& file, const std::string& actual) {
    const char* root = std::getenv("ATTNSCOPE_SOURCE_DIR");
    ASSERT_NE(root, nullptr) << "ATTNSCOPE_SOURCE_DIR is not set";
    const std::string path = std::string(root) + "/" + file;
    const char* regenerate = std::getenv("ATTNSCOPE_REGENERATE");
    if (regenerate && std::string(regenerate) == "1") {
        std::ofstream(path, std::ios::binary) << actual;
        return;
    }
    std::ifstream expected_file(path, std::ios::binary);
    ASSERT_TRUE(expected_file) << path << " is missing";
    std::ostringstream expected;
    expected << expected_file.rdbuf();
    EXPECT_EQ(expected.str(), actual) << "if this is meant, run again with ATTNSCOPE_REGENERATE=1";
}

}  // namespace attnscope::test
