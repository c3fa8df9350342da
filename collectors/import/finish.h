#pragma once
// What every importer does with a Process once its launches are read.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "attnscope/run.h"

namespace attnscope::importer {

/// Correlation of a launch whose record has none, until sort_launches().
inline constexpr uint64_t kNoCorrelation = UINT64_MAX;

/// A launch with the times of its file, which may be 0 or negative.
struct TimedLaunch {
    Launch launch;
    std::optional<int64_t> start, end;  ///< ns, both or neither, within kMostNanoseconds (microseconds.h)
    std::optional<uint64_t> external;   ///< Kineto's "External id"
};

/// Grows without being moved: there are millions, and each is large.
using Launches = std::deque<TimedLaunch>;

/// Moves the launches into `process` in the order of issue (by correlation, those of one graph launch by
/// start), numbers those without correlation, and moves all times by what is returned so that the first is
/// positive: 0 means "not collected" in a run.
int64_t sort_launches(Process& process, Launches& launches, std::vector<std::optional<uint64_t>>& external);

/// Sets `end` to what the process holds, and its ground.
void close(Process& process);

/// Of a process: more are no machine's, and each launch looks through them.
inline constexpr size_t kMostDevices = 256;

/// Adds those of a file's devices that launches ran on (all, where none is), completed from the GPU table.
void add_devices(Process& process, const Launches& launches, std::vector<Device> devices);

/// "HtoD" and the other kinds of the schema, out of "Memcpy HtoD (Pageable -> Device)", "HtoD",
/// "Host-to-Device"; empty when it is none.
std::string copy_kind(std::string_view text);
/// CUpti_ActivityMemcpyKind as a word; empty for unknown ones.
std::string copy_kind(uint64_t cupti_kind);
void set_copy_kind(Process& process, Launch& launch, const std::string& kind);

/// Fills figures that the file does not give from the GPU table: all where the GPU's name is known, else
/// those that are the same for its whole compute capability. Names them in a diagnostic. Not for AMD's GPUs:
/// their compute capability is another numbering.
void complete_device(Device& device, std::vector<Diagnostic>& diagnostics);

/// The bytes as valid UTF-8, each ill-formed part as one U+FFFD; `broken` is set where there was one.
std::string valid_utf8(std::string text, bool* broken = nullptr);

}  // namespace attnscope::importer
