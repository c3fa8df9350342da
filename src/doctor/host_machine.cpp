#include "host_machine.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "../counters/find_cupti.h"
#include "../launch/program.h"
#include "../launch/surroundings.h"
#include "attnscope/error.h"
#include "checks.h"
#include "probes.h"

namespace attnscope::doctor {

namespace fs = std::filesystem;

fs::path HostMachine::under_root(const std::string& path) const {
    return root_ / fs::path(path).relative_path();
}

std::optional<std::string> HostMachine::read(const std::string& path) const {
    constexpr size_t kMost = 65536;
    std::error_code error;
    if (fs::is_directory(under_root(path), error)) return std::nullopt;
    std::ifstream file(under_root(path), std::ios::binary);
    if (!file) return std::nullopt;
    std::string text(kMost, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
    return text;
}

std::vector<std::string> HostMachine::list(const std::string& folder) const {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(under_root(folder), error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

bool HostMachine::exists(const std::string& path) const {
    std::error_code error;
    return fs::exists(under_root(path), error);
}

bool HostMachine::writable(const std::string& path) const {
    return access(under_root(path).c_str(), R_OK | W_OK) == 0;
}

std::string HostMachine::link_target(const std::string& path) const {
    std::error_code error;
    return fs::read_symlink(under_root(path), error).filename();
}

std::optional<uint64_t> HostMachine::free_bytes(const std::string& folder) const {
    std::error_code error;
    const fs::space_info space = fs::space(under_root(folder), error);
    if (error) return std::nullopt;
    return space.available;
}

std::string HostMachine::environment(const std::string& name) const {
    const char* value = std::getenv(name.c_str());
    return value != nullptr ? value : "";
}

std::string HostMachine::working_folder() const {
    std::error_code error;
    const fs::path folder = fs::current_path(error);
    return error ? "." : folder.string();
}

Installation HostMachine::installation() const {
    Installation own;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    own.folder = (program.parent_path().parent_path() / "lib" / "attnscope").string();
    try {
        launch::find_libraries("", false);
    } catch (const Error& e) {
        own.problem = e.what();
    }
    return own;
}

std::vector<std::string> HostMachine::cupti_places() const {
    std::vector<std::string> files;
    const std::string used = counters::find_cupti();  // or the list that ATTNSCOPE_CUPTI holds
    for (size_t at = 0; at < used.size();) {
        const size_t end = std::min(used.find(':', at), used.size());
        if (end > at) files.push_back(used.substr(at, end - at));
        at = end + 1;
    }
    for (const char* soname : {"libcupti.so.13", "libcupti.so.12"}) files.emplace_back(soname);
    for (const std::string& folder : counters::cupti_folders())
        for (const char* soname : {"libcupti.so.13", "libcupti.so.12"})
            if (const std::string file = folder + '/' + soname; exists(file)) files.push_back(file);
    return files;
}

DriverFacts HostMachine::driver() const {
    return probe_driver();
}

NvmlFacts HostMachine::nvml() const {
    return probe_nvml();
}

CuptiFacts HostMachine::cupti(const std::string& file_or_soname) const {
    return probe_cupti(file_or_soname.find('/') == std::string::npos ? file_or_soname
                                                                     : under_root(file_or_soname).string());
}

std::string HostMachine::program_problem(const std::vector<std::string>& command, bool on_virtual) const {
    try {
        const std::string program = launch::find_program(command.front());
        if (on_virtual) launch::check_for_virtual(program);
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

Diagnosis diagnose(const Request& request) {
    return diagnose(HostMachine(), request);
}

}  // namespace attnscope::doctor
