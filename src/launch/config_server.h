#pragma once
// Answers the program's processes, while they run, with config images: a thread beside the program.
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "attnscope/run.h"
#include "config_asks.h"

namespace attnscope::launch {

/// Why a process gets no config image: a diagnostic's parts.
struct Refusal {
    std::string code, message, remedy;
};

/// Writes the config image to the file, beside, then renamed; or says why not. May throw Error.
using MakeConfig =
    std::function<std::optional<Refusal>(const ConfigAsk&, const std::filesystem::path& config)>;

class ConfigServer {
  public:
    /// Makes `folder` and starts; a folder that cannot be made is a diagnostic, and nothing is answered.
    ConfigServer(std::filesystem::path folder, MakeConfig make);
    ~ConfigServer();
    ConfigServer(const ConfigServer&) = delete;
    ConfigServer& operator=(const ConfigServer&) = delete;

    /// After the program's end: answers what is still asked, leaves `closed`, ends the thread.
    void close();
    /// Of the server itself; what was refused is the asking process's to tell. Call after close().
    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

  private:
    void serve();
    void answer_all();
    std::optional<Refusal> answer(const std::string& key);
    void lost(const std::string& what, int error);

    const std::filesystem::path folder_;
    const MakeConfig make_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool closing_ = false;
    std::set<std::string> done_;  ///< keys that were answered, also where the answer could not be written
    std::vector<Diagnostic> diagnostics_;
    std::thread thread_;
};

}  // namespace attnscope::launch
