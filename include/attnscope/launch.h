#pragma once
// Runs a program under the injection library and leaves a run (schema/README.md). Knows no CUDA: the
// libraries do the work.
#include <string>
#include <utility>
#include <vector>

#include "attnscope/error.h"

namespace attnscope {

struct CollectRequest {
    std::vector<std::string> command;  ///< program and arguments; the program is looked up in PATH
    std::string output;  ///< the run's folder; empty: attnscope-run-<UTC time> in the working directory
    std::string device = "auto";  ///< "auto", "real", "virtual", "virtual:H100-SXM5x2"
    std::string uncomputed;  ///< what a read of uncomputed memory gives on a virtual GPU: "0x01", "float:1";
                             ///< empty: zeros
    bool replace = false;    ///< an earlier run in the folder is replaced
    bool quiet = false;  ///< no closing line on stderr; the first line, which says the ground, always comes
    std::vector<std::pair<std::string, std::string>> environment;  ///< set for the program on top of our own
    /// Counters: "none", or sets and metrics separated by commas ("core,memory"). Empty: none. "auto": core
    /// on a real GPU, none on a virtual one.
    std::string counters;
    std::string range = "kernel";  ///< what one value covers: "kernel", "implementation", "nvtx"
    bool replay = false;           ///< kernels may be replayed where the metrics need several passes
    /// "same": one run of the program. "separate": where counters are collected, a second, undisturbed run
    /// with activity records measures time. The program is not started again when it used no CUDA, when
    /// somebody asked for its end (a signal), or when it was killed (SIGKILL); after any other failure it is.
    std::string timing = "same";
    bool output_once = false;  ///< of two runs, the first one's standard output is dropped
    std::string
        libraries;  ///< the folder with the injection library; empty: ../lib/attnscope beside this program
};

struct CollectResult {
    int exit_code = 0;   ///< the program's own, 128+n when signal n ended it
    std::string folder;  ///< the run, absolute
    bool virtual_ground = false;
    size_t process_files = 0;  ///< 0: no process initialised CUDA
};

/// Throws Error where the program was not started (exit() 2 for what the user asked, 125 for the program
/// itself); then nothing is left behind. Signals that come meanwhile are passed on to the program.
CollectResult collect(const CollectRequest& request);

/// Evaluates the raw counter data of a run again; nothing is run. Replaces the values, and what run.json said
/// of an earlier evaluation. Throws Error when the folder is no run, or holds no raw counter data; the exit
/// code is that of `collect --evaluate`: success, or cannot_judge where some data could not be evaluated
/// (said on stderr).
int evaluate_again(const std::string& folder);

/// What `device` means on this machine. Throws Error for an unknown device, and for an NVIDIA device that is
/// there but unusable.
struct GroundChoice {
    bool is_virtual = false;
    std::string virtual_devices;            ///< "H100-SXM5x2", for ATTNSCOPE_VIRTUAL_DEVICES
    std::vector<std::string> device_names;  ///< virtual: ids; real: as the driver names them
    std::vector<std::string> chips;  ///< "GH100", in the order of device_names; "" where it is not known
};
GroundChoice choose_ground(const std::string& device);

/// The virtual GPU that `auto` falls back to.
inline constexpr const char* kDefaultVirtualDevice = "H100-SXM5";

}  // namespace attnscope
