// schema/README.md explains every diagnostic code of the importers, and no code that is not there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>

#include "samples.h"

namespace attnscope::test {
namespace {

std::set<std::string> codes(const std::string& text, const char* pattern) {
    std::set<std::string> found;
    const std::regex expression(pattern);
    for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
        found.insert((*at)[1]);
    return found;
}

TEST(Codes, AreExplainedWhereTheyAreAndNowhereElse) {
    const char* source = std::getenv("ATTNSCOPE_SOURCE_DIR");
    const std::filesystem::path root = source ? source : ".";
    std::set<std::string> written;
    for (const auto& entry : std::filesystem::directory_iterator(root / "collectors/import"))
        if (entry.path().extension() == ".cpp")
            written.merge(codes(read(entry.path()), "\"(import-[a-z0-9-]+)\""));
    const std::string text = read(root / "schema/README.md");
    const size_t begin = text.find("## Imported runs"), end = text.find("\n## ", begin + 1);
    const std::set<std::string> explained = codes(text.substr(begin, end - begin), "`(import-[a-z0-9-]+)`");
    ASSERT_GT(written.size(), 10U) << "the sources were not found";
    EXPECT_EQ(written, explained);
}

}  // namespace
}  // namespace attnscope::test
