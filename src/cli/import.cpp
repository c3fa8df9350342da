#include "attnscope/import.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "attnscope/error.h"
#include "command.h"

namespace attnscope::cli {
namespace {

struct Options {
    std::vector<std::string> files;
    std::string output;
    bool replace = false;
};

/// "trace.json.gz" -> "trace-run", in the current folder.
std::string default_output(const std::string& file) {
    std::string name = std::filesystem::path(file).filename().string();
    name.resize(std::min(name.find('.', 1), name.size()));
    return name + "-run";
}

const char* word(DiagnosticLevel level) {
    switch (level) {
        case DiagnosticLevel::info:
            return "note";
        case DiagnosticLevel::warning:
            return "warning";
        case DiagnosticLevel::error:
            return "error";
        case DiagnosticLevel::data_loss:
            return "data loss";
    }
    return "";
}

/// What the report will show at its top as well: nothing is lost silently.
void tell(const std::vector<Diagnostic>& diagnostics) {
    for (const Diagnostic& d : diagnostics)
        if (d.level != DiagnosticLevel::info)
            std::cerr << "attnscope: " << word(d.level) << ": " << d.message
                      << (d.remedy.empty() ? "" : ": " + d.remedy) << '\n';
}

int run(const Options& o) {
    const std::vector<std::filesystem::path> files(o.files.begin(), o.files.end());
    const std::string output = o.output.empty() ? default_output(o.files.front()) : o.output;
    const Run imported = import_files(files);
    write_imported_run(imported, output, o.replace);
    uint64_t kernels = 0, copies = 0, memsets = 0;
    for (const Process& p : imported.processes) {
        tell(p.diagnostics);
        for (const Launch& l : p.launches) {
            if (l.kind == LaunchKind::kernel) kernels += l.times;
            if (l.kind == LaunchKind::memcpy) copies += l.times;
            if (l.kind == LaunchKind::memset) memsets += l.times;
        }
    }
    tell(imported.diagnostics);
    for (const ImportedFile& file : imported.imported) std::cout << file.name << ": " << file.format << '\n';
    std::cout << output << ": " << kernels << " kernels, " << copies << " copies, " << memsets
              << " memsets of " << imported.processes.size() << " processes\n"
              << "next: attnscope report " << output << '\n';
    return static_cast<int>(Exit::success);
}

}  // namespace

Action define_import(CLI::App& app) {
    auto options = std::make_shared<Options>();
    std::string known = "files of other profilers:";
    for (const auto& [id, title] : import_formats()) known += "\n" + title;
    app.add_option("files", options->files, known)->required();
    app.add_option("-o,--output", options->output, "the run's folder (default: FILE-run)");
    app.add_flag("--replace", options->replace, "replace a run that is there");
    return [options] { return run(*options); };
}

}  // namespace attnscope::cli
