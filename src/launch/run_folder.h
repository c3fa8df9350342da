#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "attnscope/launch.h"
#include "attnscope/run.h"
#include "counter_setup.h"
#include "spawn.h"

namespace attnscope::launch {

/// The run's folder and its run.json. Nothing is left of it when the program was never started.
class RunFolder {
  public:
    /// Throws Error when the folder cannot be used: not writable, not empty and not a run, a run without
    /// `replace`. The references outlive it.
    RunFolder(const CollectRequest& request, const GroundChoice& ground, const CounterSetup& counters);
    ~RunFolder();
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;

    const std::string& path() const { return path_; }  ///< absolute

    /// What the program's next run collects: "activity", "counters".
    void begin(const std::string& collection);
    /// Once one run of the program is over. The first that did not succeed gives the run's exit code.
    void ended(const Ended& ended);
    /// How the run stands; `diagnostics` are the launcher's own. Never throws: what went wrong, "" when
    /// nothing.
    std::string write(const std::vector<Diagnostic>& diagnostics = {});

    const Ended& result() const { return result_; }
    size_t process_files() const;

  private:
    void write_or_throw(const std::vector<Diagnostic>& diagnostics) const;

    std::string path_;
    const CollectRequest& request_;
    const GroundChoice& ground_;
    const CounterSetup& counters_;
    std::string started_, ended_;  ///< ended_: empty while a run of the program is on
    bool kept_ = false;            ///< the program ran
    std::vector<std::string> collections_;
    Ended result_;
    std::string first_created_;  ///< the outermost folder that did not exist before
};

}  // namespace attnscope::launch
