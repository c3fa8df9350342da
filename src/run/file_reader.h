#pragma once
// The state of reading one file: records in the order of the file, resolved when all of it is read.
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "attnscope/run.h"
#include "record_file.h"
#include "records.h"

namespace attnscope::run_reader {

class FileReader {
  public:
    FileReader(const std::filesystem::path& path, Process& process) : path_(path), out_(process) {}

    void read(std::FILE* file);

  private:
    void take(Record& r);
    void take_process(Record& r);
    void take_library(Record& r);
    void take_device(Record& r);
    void take_name(Record& r);
    void take_range(Record& r);
    void take_range_end(Record& r);
    void take_launch(Record& r, LaunchKind kind);
    void take_kernel(Record& r, Launch& launch);
    void take_library_call(Record& r, Launch& launch);
    void take_operation(Record& r);
    void take_choice(Record& r);
    void resolve_operations();
    void take_read(Record& r);
    void take_diagnostic(Record& r);
    void take_end(Record& r);
    void resolve();
    void sort_launches();
    /// Sets the index where the id is known already; else it is looked up when all of the file is read.
    void refer(uint32_t Launch::*field, const std::unordered_map<uint64_t, uint32_t>& index,
               std::optional<uint64_t> id, const char* what);
    uint32_t look_up(const std::unordered_map<uint64_t, uint32_t>& index, std::optional<uint64_t> id,
                     const char* what);
    void check_end(bool saw_end_last);
    void add(DiagnosticLevel level, std::string code, std::string message, std::string remedy,
             uint64_t count = 1) {
        out_.diagnostics.push_back({level, std::move(code), std::move(message), std::move(remedy), count});
    }
    void report(const Tally& tally, DiagnosticLevel level, const char* code, const std::string& what,
                const char* remedy) {
        tally.report(out_.diagnostics, out_.file, level, code, what, remedy);
    }

    const std::filesystem::path& path_;
    Process& out_;
    uint64_t line_ = 0;
    bool saw_process_ = false;
    // Ids as the file gives them, resolved to indices when all of it is read: records come in the order in
    // which CUPTI's buffers are handed over, not in that of the program.
    std::unordered_map<uint64_t, uint32_t> name_index_, range_index_, operation_index_;
    std::vector<std::optional<uint64_t>> range_parent_, mark_range_, read_range_, operation_parent_,
        operation_forward_, choice_operation_;
    /// Of launches, whose records may come before what they refer to.
    struct Reference {
        size_t launch;
        uint32_t Launch::*field;
        const std::unordered_map<uint64_t, uint32_t>* index;
        uint64_t id;
        const char* what;
    };
    std::vector<Reference> references_;
    std::vector<std::pair<uint64_t, std::optional<uint64_t>>> range_ends_;
    std::unordered_map<std::string, uint32_t> copy_kind_index_;
    Tally duplicate_, unknown_id_, incomplete_;
};

}  // namespace attnscope::run_reader
