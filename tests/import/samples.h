#pragma once
// Real profiler files, kept outside the repository: ../shared/samples beside the checkout, or the folder that
// ATTNSCOPE_SAMPLES names. Their README says what each shows, expected.tsv what an importer must find.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attnscope/run.h"

namespace attnscope::test {

/// nullopt where the folder is not there: such a test skips with kNoSamples.
std::optional<std::filesystem::path> samples();
inline constexpr const char* kNoSamples =
    "no real profiler files: clone beside shared/samples, or name the folder with ATTNSCOPE_SAMPLES";

struct ExpectedFacts {
    std::string file;
    uint64_t kernels = 0, unique_names = 0;
    std::optional<uint64_t> memcpys, memsets;
    std::optional<double> kernel_time_us;
    std::string gpu;  ///< empty: none is named
};
std::vector<ExpectedFacts> expected_facts(const std::filesystem::path& samples);

struct Facts {
    uint64_t kernels = 0, memcpys = 0, memsets = 0;
    uint64_t unique_names = 0;
    double kernel_time_us = 0;
    std::string gpu;  ///< of the first device; empty: none
};
/// Summed over the processes; a name that several have counts once.
Facts facts_of(const Run& run);

/// A folder that is removed with the object.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

void write(const std::filesystem::path& file, std::string_view bytes);
std::string read(const std::filesystem::path& file);

}  // namespace attnscope::test
