#pragma once
// A result appears whole or not at all: written beside its place, then renamed.
#include <filesystem>
#include <string_view>

namespace attnscope::cli {

/// Throws Error when `file` cannot become a file: it is a folder, or there is no folder to put it in.
void check_output_file(const std::filesystem::path& file);

/// Throws Error; then `file` is as it was before.
void write_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace attnscope::cli
