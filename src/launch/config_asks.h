#pragma once
// The asks of a program's processes for config images (attnscope/counter_files.h). What is read here was
// written by the program under test, so it is checked: plain names, plain files, nothing outside the folder.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::launch {

struct ConfigAsk {
    std::string key, chip, library;  ///< library: absolute path of the libcupti in the process
    uint32_t cupti = 0;
    std::filesystem::path availability;  ///< empty: none
};

/// Keys of the asks that have no answer yet, sorted.
std::vector<std::string> unanswered_asks(const std::filesystem::path& folder);

/// `fault` says what is wrong with it when there is no result.
std::optional<ConfigAsk> read_ask(const std::filesystem::path& folder, const std::string& key,
                                  std::string& fault);

/// Of `<stem>.data`: the keys of the config images that its counter data was made with, each once. Stops at
/// the first damaged record.
std::vector<std::string> config_keys(const std::filesystem::path& data);

/// A regular file's content; nullopt when it is none (a link, a pipe), is larger, or cannot be read.
std::optional<std::string> read_plain_file(const std::filesystem::path& file, size_t limit);

/// Beside, then renamed: a reader never sees half of it. False, with errno, when that fails.
bool write_whole(const std::filesystem::path& file, const std::string& content);

}  // namespace attnscope::launch
