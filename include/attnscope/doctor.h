#pragma once
// What is wrong with this machine, and the remedy. Looks only: nothing is written, no setting changed, and
// whatever can crash or hang (the driver, NVML, CUPTI) is asked in a process of its own with a limit.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::doctor {

/// What attnscope can be used for.
enum class Use {
    prediction,  ///< the virtual GPU
    records,     ///< kernel records (CUPTI's Activity API) of a real GPU
    counters,    ///< hardware counters of a real GPU
};

enum class State {
    fail,     ///< stands in the way of what is wanted
    warn,     ///< stands in the way of something else, or spoils results
    unknown,  ///< could not be found out; `seen` says why
    ok,
};

struct Finding {
    std::string check;        ///< "permission", one or two words
    State state = State::ok;  ///< fail exactly where `blocks` holds what is wanted
    std::string seen;         ///< one sentence without its full stop; may quote the machine (not escaped)
    std::string remedy;       ///< what to do; empty where nothing is to be done
    std::vector<Use> blocks;  ///< what cannot be done until it is mended
};

struct Request {
    /// What the machine shall be usable for; nullopt: counters where there is an NVIDIA device, else
    /// prediction.
    std::optional<Use> wanted;
    std::vector<std::string> program;  ///< the program to collect from, looked at but not run; may be empty
};

struct Diagnosis {
    Use wanted = Use::prediction;
    std::vector<Use> usable;        ///< what nothing that was seen stands in the way of
    std::vector<Finding> findings;  ///< the worst first, else in the order of the checks
    std::string verdict;            ///< one sentence without its full stop

    bool usable_as_wanted() const;
};

/// Of this machine. Takes at most the sum of its probes' limits (about three minutes where everything hangs).
Diagnosis diagnose(const Request& request = {});

/// A table and the verdict. Printable ASCII only; `width` is the terminal's, long words are not broken.
std::string render_text(const Diagnosis& diagnosis, size_t width = 80);
/// {"schema":"attnscope-doctor","version":"1.0",...} (tests/doctor/doctor.schema.json); ASCII.
std::string render_json(const Diagnosis& diagnosis);

const char* to_string(Use use);      ///< "prediction", "records", "counters"
const char* to_string(State state);  ///< "fail", "warn", "unknown", "ok"

}  // namespace attnscope::doctor
