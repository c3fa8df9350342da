#pragma once
// What an evaluation counts. It lies in memory shared with the child processes, so it is plain data.
#include <cstdint>

#include "counters_file.h"
#include "evaluate.h"

namespace attnscope::cupti_host {

/// Images without values, by why.
enum class Trouble : uint8_t {
    unjoined,     ///< another number of ranges than of kernels
    dropped,      ///< CUPTI dropped ranges
    graph_order,  ///< a graph whose kernels have no one order
    no_config,    ///< its config file is missing or damaged
    damaged,      ///< its bytes differ from their checksum
    foreign,      ///< made by the virtual GPU's CUPTI, evaluated by NVIDIA's
    refused,      ///< CUPTI answered an error
    crashed,      ///< CUPTI crashed or hung on it
    count
};

struct Case {
    uint64_t count = 0;
    // The first one, for the message.
    uint64_t id = 0, expected = 0, found = 0;
    int result = 0;  ///< CUptiResult, or the signal
    bool of_range = false;
};

struct Tally {
    uint64_t next = 0;   ///< index of the image that is being evaluated: where another child goes on
    uint64_t bytes = 0;  ///< of the output, whole lines
    Evaluation done;
    uint64_t metrics = 0;  ///< metric records written
    Case cases[static_cast<int>(Trouble::count)];
    uint64_t unread = 0;       ///< bytes of the data file that are no records
    bool damaged = false;      ///< ... not because it was cut short
    uint32_t other_cupti = 0;  ///< a config was made by this version, not by the one that evaluates
    bool finished = false;

    void add(Trouble why, const Case& first) {
        Case& entry = cases[static_cast<int>(why)];
        const uint64_t before = entry.count;
        if (before == 0) entry = first;
        entry.count = before + 1;
    }
};

/// The tally's diagnostics, severest first.
void write_diagnostics(const HostApi& api, const Tally& tally, LineWriter& lines);

}  // namespace attnscope::cupti_host
