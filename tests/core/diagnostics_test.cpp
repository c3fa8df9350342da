// schema/README.md explains every diagnostic code, and no code that is not there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

namespace {

fs::path root() {
    const char* directory = std::getenv("ATTNSCOPE_SOURCE_DIR");
    return directory ? fs::path(directory) : fs::current_path();
}

std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::set<std::string> matches(const std::string& text, const char* pattern) {
    const std::regex expression(pattern);
    std::set<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
        found.insert((*at)[1]);
    return found;
}

/// Words with hyphens as whole string literals, in what writes and reads runs.
std::set<std::string> literals() {
    std::set<std::string> found;
    for (const char* directory : {"collectors/cupti", "src/launch", "src/run"})
        for (const auto& entry : fs::recursive_directory_iterator(root() / directory))
            if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
                found.merge(matches(content(entry.path()), "\"([a-z]+(?:-[a-z]+)+)\""));
    return found;
}

std::set<std::string> explained() {
    const std::string text = content(root() / "schema/README.md");
    const size_t begin = text.find("## Diagnostics"), end = text.find("\n## ", begin + 1);
    std::set<std::string> found;
    std::istringstream section(text.substr(begin, end - begin));
    for (std::string line; std::getline(section, line);)
        if (line.rfind("| `", 0) == 0) found.merge(matches(line.substr(0, line.find('|', 1)), "`([a-z-]+)`"));
    return found;
}

/// Not codes: schemas, names of threads and files, values of a setting.
const std::set<std::string> kOthers = {"attnscope-run",        "attnscope-code",  "attnscope-counters",
                                       "attnscope-write",      "attnscope-flush", "build-version",
                                       "range-implementation", "range-nvtx"};

TEST(Diagnostics, EveryCodeIsExplained) {
    const std::set<std::string> table = explained();
    ASSERT_GT(table.size(), 40U) << "schema/README.md was not found, or has no section Diagnostics";
    for (const std::string& word : literals())
        EXPECT_TRUE(table.count(word) || kOthers.count(word)) << word << " is not in schema/README.md";
}

TEST(Diagnostics, NoCodeIsExplainedThatIsNotThere) {
    std::set<std::string> there = literals();
    there.merge(matches(content(root() / "collectors/torch/operation_table.cpp"), "\"([a-z-]+)\""));
    for (const auto& entry : fs::recursive_directory_iterator(root() / "collectors/virtual_gpu"))
        if (entry.path().extension() == ".cpp")
            there.merge(matches(content(entry.path()), "report\\(\"[a-z_]+\", \"([a-z-]+)\""));
    for (const std::string& code : explained()) EXPECT_TRUE(there.count(code)) << code;
}

}  // namespace
