#pragma once
// One JSON Lines file -> one Process.
#include <filesystem>

#include "attnscope/run.h"

namespace attnscope::run_reader {

/// Throws Error when the file cannot be opened or is of a newer major version.
Process read_process(const std::filesystem::path& file);

/// Throws Error when `version` ("2.0") is of a greater major than this reader's; `where` names the file.
void refuse_newer(std::string_view version, const std::string& where);

/// "real" -> Ground::real ...; nullopt for an unknown word.
std::optional<Ground> ground_of(std::string_view word);

}  // namespace attnscope::run_reader
