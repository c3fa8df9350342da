#pragma once
// Random damage to a run's file, for the tests that nothing crashes on it.
#include <random>
#include <string>

namespace attnscope::test {

/// One to eight edits: bytes, values, cuts, repeats.
std::string mutate(std::string text, std::mt19937_64& random);

/// An environment variable as a number, else `otherwise`.
uint64_t from_environment(const char* name, uint64_t otherwise);

}  // namespace attnscope::test
