#pragma once
// What every format implements: one file a format, one row in table.cpp.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/run.h"
#include "bytes.h"

namespace attnscope::importer {

/// The file or archive member that is being read.
struct Input {
    std::string name;            ///< for messages: "trace.json.gz", "a.tar.gz: rank0.json"
    std::filesystem::path path;  ///< on disk; empty when the bytes come out of something else
    ByteWindow& bytes;           ///< unwrapped
};

/// What importers fill. A Process is a process of the program that was profiled.
struct Imported {
    std::vector<Process> processes;
    std::vector<Diagnostic> diagnostics;  ///< about a file as a whole
    std::string counters_range;           ///< "kernel", "nvtx": what counter values belong to; empty: none
    bool replayed = false;                ///< kernels may have been replayed to count
};

struct Format {
    const char* id;
    const char* title;  ///< "PyTorch profiler (Kineto) trace"
    /// By content alone; `head` is the first bytes, up to kHead.
    bool (*recognises)(std::string_view head);
    /// Throws Error where there is nothing to import.
    void (*read)(Input& input, Imported& out);
};

/// In the order in which they are tried.
const std::vector<Format>& formats();

/// One source as import_files() reads a file; `path` is where it lies on disk (SQLite reads no streams).
/// Bytes are read `block` at a time.
Run import_source(ByteSource& source, const std::string& name, const std::filesystem::path& path,
                  size_t block);

/// What a file is that no format recognises, and what to do: "this is a Git LFS pointer, ...".
std::string look_alike(std::string_view head, std::string_view name);

/// How much of a file recognition sees.
inline constexpr size_t kHead = size_t{256} << 10;

/// How often something was wrong, and where first; becomes one diagnostic.
struct Count {
    uint64_t count = 0;
    std::string first;
    void add(std::string where) {
        if (count++ == 0) first = std::move(where);
    }
    void report(std::vector<Diagnostic>& out, DiagnosticLevel level, const char* code, std::string message,
                const char* remedy) const {
        if (count > 0)
            out.push_back({level, code, std::move(message) + (first.empty() ? "" : "; first at " + first),
                           remedy, count});
    }
};

}  // namespace attnscope::importer
