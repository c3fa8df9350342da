#pragma once
// Secrets in command lines are never stored (DESIGN.md, law 6). Used by the launcher and inside the program
// under observation.
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// What a secret is replaced by.
inline constexpr std::string_view kRedacted = "***";

/// True for names whose value is a secret: "--hf-token", "AWS_SECRET_ACCESS_KEY", "password". Not
/// "--max-tokens", "--head-dim".
bool names_a_secret(std::string_view name);

/// Replaces the values of secret options ("--token X", "--token=X"), assignments ("HF_TOKEN=X", also inside
/// code and JSON), credentials in URLs, authorization headers, and words that look like a provider's token.
std::vector<std::string> redact_command(const std::vector<std::string>& command);

}  // namespace attnscope
