#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "attnscope/launch.h"
#include "spawn.h"

namespace attnscope::launch {

/// The run's folder and its run.json. Nothing is left of it when the program was never started.
class RunFolder {
  public:
    /// Throws Error when the folder cannot be used: not writable, not empty and not a run, a run without
    /// `replace`.
    RunFolder(const CollectRequest& request, const GroundChoice& ground);
    ~RunFolder();
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;

    const std::string& path() const { return path_; }  ///< absolute
    void finish(const Ended& ended);
    size_t process_files() const;

  private:
    void write(const Ended* ended);

    std::string path_;
    const CollectRequest& request_;
    const GroundChoice& ground_;
    std::string started_;
    std::string first_created_;  ///< the outermost folder that did not exist before
    bool finished_ = false;
};

}  // namespace attnscope::launch
