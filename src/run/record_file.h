#pragma once
// The lines of one JSON Lines file as records, and what is wrong with them as diagnostics: the same for every
// file of a run.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "attnscope/run.h"
#include "records.h"

namespace attnscope::run_reader {

/// How often something was wrong, and where first.
struct Tally {
    uint64_t count = 0;
    std::string first;
    void add(uint64_t line, std::string what = {}) {
        if (count++ == 0) first = "line " + std::to_string(line) + (what.empty() ? "" : ": " + what);
    }
    /// Nothing when it never was.
    void report(std::vector<Diagnostic>& out, const std::string& file, DiagnosticLevel level,
                const char* code, const std::string& what, const char* remedy) const;
};

struct FileEnd {
    uint64_t lines = 0;
    bool end_is_last = false;  ///< the last record is `end`
};

/// `remedy` is for what was lost: what brings it back.
FileEnd read_records(std::FILE* file, const std::string& name, std::vector<Diagnostic>& diagnostics,
                     const char* remedy, const std::function<void(Record&, uint64_t line)>& take);

/// severity, code, message, remedy, count.
Diagnostic diagnostic_of(Record& record);

}  // namespace attnscope::run_reader
