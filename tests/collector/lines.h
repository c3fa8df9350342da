#pragma once
// JSON Lines read with a library that shares nothing with the writer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace attnscope::test {

inline std::vector<nlohmann::json> parse_lines(const std::string& text) {
    std::vector<nlohmann::json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        auto json = nlohmann::json::parse(line, nullptr, false);
        EXPECT_TRUE(json.is_object()) << line;
        if (json.is_object()) lines.push_back(std::move(json));
    }
    return lines;
}

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<nlohmann::json> of_type(const std::vector<nlohmann::json>& lines,
                                           const std::string& type) {
    std::vector<nlohmann::json> found;
    for (const auto& line : lines)
        if (line.value("type", "") == type) found.push_back(line);
    return found;
}

inline std::vector<std::filesystem::path> process_files(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    return files;
}

}  // namespace attnscope::test
