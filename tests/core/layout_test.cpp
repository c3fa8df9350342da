// The architecture's arrows (DESIGN.md, "Layout"): cli -> reports, src -> include <- collectors. Read from
// the #include lines.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Include {
    fs::path from;
    int line = 0;
    std::string name;
    bool quoted = false;
};

fs::path root() {
    const char* directory = std::getenv("ATTNSCOPE_SOURCE_DIR");
    return directory ? fs::path(directory) : fs::current_path();
}

/// The layer of a file, from its path: "src/cli" apart from the rest of "src"; what is asked of LibTorch is
/// shared by the extension and the workload.
std::string layer(const fs::path& relative) {
    auto part = relative.begin();
    const std::string first = part->string();
    const std::string second = ++part != relative.end() ? part->string() : "";
    if (first == "src" && second == "cli") return "src/cli";
    if (first == "collectors" && second == "torch") return "collectors/torch";
    return first;
}

std::vector<Include> includes() {
    static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    std::vector<Include> found;
    for (const char* directory : {"include", "src", "reports", "collectors", "examples"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root() / directory)) {
            const std::string extension = entry.path().extension();
            if (extension != ".cpp" && extension != ".h") continue;
            std::ifstream file(entry.path());
            std::string text;
            for (int line = 1; std::getline(file, text); ++line) {
                std::smatch match;
                if (std::regex_search(text, match, pattern))
                    found.push_back({fs::relative(entry.path(), root()), line, match[2], match[1] == "\""});
            }
        }
    }
    return found;
}

/// The file of this repository that a quoted include means; empty when it is none.
fs::path resolve(const Include& include) {
    for (const fs::path& base :
         {(root() / include.from).parent_path(), root() / "include", root() / "src", root() / "reports",
          root() / "collectors", root() / "collectors/torch", root() / "collectors/virtual_gpu", root()})
        if (fs::exists(base / include.name))
            return fs::relative(fs::canonical(base / include.name), fs::canonical(root()));
    return {};
}

std::string place(const Include& include) {
    return include.from.string() + ":" + std::to_string(include.line) + " includes " + include.name;
}

TEST(Layout, ArrowsPointInward) {
    const std::map<std::string, std::set<std::string>> allowed = {
        {"include", {"include"}},
        {"src", {"src", "include"}},
        {"reports", {"reports", "include"}},
        {"collectors", {"collectors", "collectors/torch", "include"}},
        {"src/cli", {"src/cli", "src", "reports", "include"}},
        {"collectors/torch", {"collectors/torch", "include"}},
        {"examples", {"examples", "collectors/torch", "include"}},
    };
    const auto all = includes();
    ASSERT_GT(all.size(), 100U) << "the sources were not found: is ATTNSCOPE_SOURCE_DIR right?";
    for (const Include& include : all) {
        const fs::path target = resolve(include);
        if (!include.quoted || target.empty()) continue;
        EXPECT_TRUE(allowed.at(layer(include.from)).count(layer(target)))
            << place(include) << " (" << target << ")";
    }
}

TEST(Layout, PurePartKnowsNoCuda) {
    const std::regex vendor(R"(^(cuda|cupti|cublas|cudnn|nvperf|generated_|nvtx3/|torch/|ATen/|c10/))");
    for (const Include& include : includes()) {
        const std::string from = layer(include.from);
        if (from == "include" || from == "src" || from == "src/cli" || from == "reports") {
            EXPECT_FALSE(std::regex_search(include.name, vendor)) << place(include);
        }
    }
}

TEST(Layout, PublicHeadersUseStandardHeadersOnly) {
    for (const Include& include : includes()) {
        if (layer(include.from) != "include") continue;
        const bool standard = !include.quoted && include.name.find('/') == std::string::npos &&
                              include.name.find('.') == std::string::npos;
        EXPECT_TRUE(standard || include.name.rfind("attnscope/", 0) == 0) << place(include);
    }
}

TEST(Layout, OnlyCollectorsIncludeCupti) {
    for (const Include& include : includes()) {
        if (include.name.rfind("cupti", 0) == 0 && resolve(include).empty()) {
            EXPECT_EQ(layer(include.from), "collectors") << place(include);
        }
    }
}

}  // namespace
