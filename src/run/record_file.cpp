#include "record_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "line_source.h"

namespace attnscope::run_reader {

void Tally::report(std::vector<Diagnostic>& out, const std::string& file, DiagnosticLevel level,
                   const char* code, const std::string& what, const char* remedy) const {
    if (count == 0) return;
    out.push_back({level, code, file + ": " + std::to_string(count) + " " + what + " (first: " + first + ")",
                   remedy, count});
}

FileEnd read_records(std::FILE* file, const std::string& name, std::vector<Diagnostic>& diagnostics,
                     const char* remedy, const std::function<void(Record&, uint64_t line)>& take) {
    LineSource source(file);
    simdjson::dom::parser parser;
    Record record;
    LineSource::Line line;
    FileEnd end;
    Tally broken, wrong_type;
    while (source.next(line)) {
        ++end.lines;
        const bool blank = !line.oversized && std::all_of(line.text, line.text + line.length, [](char c) {
            return c == ' ' || c == '\t' || c == '\r';
        });
        if (blank) continue;
        if (!line.oversized && record.parse(parser, line.text, line.length)) {
            end.end_is_last = record.type() == "end";
            take(record, end.lines);
            if (!record.wrong_key().empty())
                wrong_type.add(end.lines,
                               "\"" + record.wrong_key() + "\" of \"" + std::string(record.type()) + "\"");
        } else if (!line.complete) {
            end.end_is_last = false;
            diagnostics.push_back({DiagnosticLevel::data_loss, "cut-tail",
                                   name + ", line " + std::to_string(end.lines) +
                                       ": the file ends in the middle of a record; its last " +
                                       std::to_string(line.length) + " bytes are lost",
                                   remedy, 1});
        } else {
            broken.add(end.lines, line.oversized ? "longer than 64 MiB" : "");
        }
    }
    if (source.read_error())
        diagnostics.push_back(
            {DiagnosticLevel::data_loss, "read-error",
             name + ": reading failed after line " + std::to_string(end.lines) + ": " + std::strerror(errno),
             "copy the run to a healthy disk and read it there", 1});
    const std::string changed =
        std::string("the file was changed or damaged after it was written: ") + remedy;
    broken.report(diagnostics, name, DiagnosticLevel::data_loss, "broken-line",
                  "lines are not JSON objects and were skipped", changed.c_str());
    wrong_type.report(diagnostics, name, DiagnosticLevel::warning, "wrong-type",
                      "records hold a field of a wrong type or range, taken as absent",
                      "record the run again with this version of attnscope");
    return end;
}

Diagnostic diagnostic_of(Record& r) {
    const std::string_view word = r.text("severity").value_or("");
    const DiagnosticLevel level = word == "info"        ? DiagnosticLevel::info
                                  : word == "error"     ? DiagnosticLevel::error
                                  : word == "data_loss" ? DiagnosticLevel::data_loss
                                                        : DiagnosticLevel::warning;
    return {level, std::string(r.text("code").value_or("")), std::string(r.text("message").value_or("")),
            std::string(r.text("remedy").value_or("")), r.u64("count").value_or(1)};
}

}  // namespace attnscope::run_reader
