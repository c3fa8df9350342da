#pragma once
#include <filesystem>

#include "machine.h"

namespace attnscope::doctor {

/// This machine. With a `root` its files are those under that folder (a mounted system, a test's); the probes
/// stay this machine's.
class HostMachine : public Machine {
  public:
    explicit HostMachine(std::filesystem::path root = "/") : root_(std::move(root)) {}

    std::optional<std::string> read(const std::string& path) const override;
    std::vector<std::string> list(const std::string& folder) const override;
    bool exists(const std::string& path) const override;
    bool writable(const std::string& path) const override;
    std::string link_target(const std::string& path) const override;
    std::optional<uint64_t> free_bytes(const std::string& folder) const override;
    std::string environment(const std::string& name) const override;
    std::string working_folder() const override;
    Installation installation() const override;
    std::vector<std::string> cupti_places() const override;
    DriverFacts driver() const override;
    NvmlFacts nvml() const override;
    CuptiFacts cupti(const std::string& file_or_soname) const override;
    std::vector<std::string> chips(const std::string& libcupti) const override;
    PlanFacts plan(const std::string& libcupti, const std::string& chip) const override;
    std::string program_problem(const std::vector<std::string>& command, bool on_virtual) const override;

  private:
    std::filesystem::path under_root(const std::string& path) const;

    std::filesystem::path root_;
};

}  // namespace attnscope::doctor
