// What the injection library shows to the program and asks of the machine (DESIGN.md). Read with binutils'
// readelf.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

namespace attnscope {
namespace {

std::string library() {
    return std::string(std::getenv("ATTNSCOPE_BINARY_DIR")) + "/lib/attnscope/libattnscope_injection.so";
}

std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> part;
    while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    if (pipe != nullptr && pclose(pipe) != 0) text.clear();
    return text;
}

std::set<std::string> exported() {
    std::set<std::string> names;
    std::istringstream lines(output_of("readelf -W --dyn-syms " + library()));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string number, value, size, type, bind, visibility, section, name;
        words >> number >> value >> size >> type >> bind >> visibility >> section >> name;
        if (section != "UND" && !name.empty() && (bind == "GLOBAL" || bind == "WEAK" || bind == "UNIQUE"))
            names.insert(name);
    }
    return names;
}

TEST(InjectionLibrary, ExportsItsTwoEntriesAndNothingElse) {
    EXPECT_EQ(exported(), (std::set<std::string>{"InitializeInjection", "InitializeInjectionNvtx2"}));
}

TEST(InjectionLibrary, NeedsTheCLibraryAlone) {
    std::set<std::string> needed;
    std::istringstream lines(output_of("readelf -W -d " + library()));
    for (std::string line; std::getline(lines, line);)
        if (line.find("(NEEDED)") != std::string::npos)
            needed.insert(line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1));
    ASSERT_FALSE(needed.empty());
    for (const std::string& soname : needed)
        EXPECT_TRUE(soname == "libc.so.6" || soname.compare(0, 8, "ld-linux") == 0 || soname == "libm.so.6")
            << soname;
}

TEST(InjectionLibrary, RunsFromGlibc228On) {
    std::istringstream words(output_of("readelf -W -V " + library()));
    int seen = 0;
    for (std::string word; words >> word;) {
        int major = 0, minor = 0;
        if (std::sscanf(word.c_str(), "GLIBC_%d.%d", &major, &minor) != 2) continue;
        ++seen;
        EXPECT_TRUE(major == 2 && minor <= 28) << word;
    }
    EXPECT_GT(seen, 0);
}

TEST(InjectionLibrary, WithoutARunFolderDoesNothing) {
    unsetenv("ATTNSCOPE_RUN_DIR");
    void* handle = dlopen(library().c_str(), RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();
    const auto initialise = reinterpret_cast<int (*)()>(dlsym(handle, "InitializeInjection"));
    ASSERT_NE(initialise, nullptr);
    EXPECT_EQ(initialise(), 1);
    EXPECT_EQ(initialise(), 1);
}

}  // namespace
}  // namespace attnscope
