#pragma once
// What a request for counters comes to on this ground, settled before the program starts.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attnscope/launch.h"
#include "attnscope/run.h"
#include "config_server.h"

namespace attnscope::launch {

struct ChipPlan {
    std::string chip;
    std::vector<std::string> names;  ///< vendor names asked for on this chip
    size_t passes = 0;
};

struct CounterSetup {
    bool asked = false;    ///< the user wants counters
    bool on = false;       ///< the program collects them
    bool fixture = false;  ///< virtual ground: a fixture file feeds values
    std::string request;   ///< "core,memory"
    std::string range = "kernel";
    bool replay = false;
    std::vector<ChipPlan> chips;
    std::vector<Diagnostic> diagnostics;
    std::vector<std::string> lines;  ///< what the user is told before the program starts

    std::vector<std::string> metrics() const;  ///< of all chips, each once
    /// What switches the injection library's counters on.
    std::vector<std::pair<std::string, std::string>> environment() const;
};

/// Throws Error for what cannot be asked for: an unknown range or metric, more passes than one without
/// replay. A machine that cannot plan is no error: counters are off then, and a diagnostic says why.
CounterSetup set_up_counters(const CollectRequest& request, const GroundChoice& ground);

/// What makes the config images while the program runs. `setup` outlives it, and takes diagnostics.
MakeConfig config_maker(CounterSetup& setup, std::string tool);

/// The helper program of an installation; empty, CounterHost's own default, where `libraries` is empty.
std::string helper_program(const std::string& libraries);

/// What CounterHost is to be asked with: the first file that is there of the list in ATTNSCOPE_CUPTI; empty,
/// its own default, where that holds no list.
std::string named_libcupti();

/// Adds it, or counts it where an equal one is there.
void add_diagnostic(std::vector<Diagnostic>& all, Diagnostic diagnostic);

}  // namespace attnscope::launch
