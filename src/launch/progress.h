#pragma once
// How far a run is, while the program runs: a line on standard error, for whoever sits in front of it.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace attnscope::launch {

/// "kernel 12 of 31, pass 1 of 1, about 9 s left"; without `of` the elapsed time in place of what is left. No
/// `passes`: nothing is counted.
std::string progress_words(uint64_t kernels, std::optional<uint64_t> of, size_t passes, double elapsed_s);

/// Kernel records in the processes' files of a run's folder, as they are appended. Files that were there at
/// the start are another run's.
class KernelCount {
  public:
    explicit KernelCount(std::filesystem::path folder);
    uint64_t update();  ///< reads what is new; what cannot be read counts nothing

  private:
    struct Position {
        uint64_t read = 0;
        std::string tail;  ///< the end of what was read: a record may begin in it
    };
    void add(const std::filesystem::path& file, Position& position);

    std::filesystem::path folder_;
    std::set<std::string> before_;
    std::map<std::string, Position> positions_;
    uint64_t kernels_ = 0;
};

/// Shows the words above twice a second from the first kernel on, as long as it lives, then takes them away.
/// Does nothing unless standard error is a terminal that can go back on its line (TERM is not dumb).
class Progress {
  public:
    Progress(const std::filesystem::path& folder, std::optional<uint64_t> of, size_t passes);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Kernels that were recorded; nothing where nothing was shown.
    std::optional<uint64_t> kernels() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace attnscope::launch
