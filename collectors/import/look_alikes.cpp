// Files that people take for a profiler's: each is named, with the way to what can be read.
#include <algorithm>

#include "importer.h"

namespace attnscope::importer {
namespace {

bool is_text(std::string_view head) {
    return std::all_of(head.begin(), head.end(), [](char c) {
        const auto u = static_cast<unsigned char>(c);
        return u >= 0x20 || c == '\n' || c == '\r' || c == '\t' || c == '\x1b';
    });
}

constexpr const char* kSystemsReport =
    "an Nsight Systems report (.nsys-rep or .qdstrm): export it with `nsys export --type sqlite FILE` and "
    "import "
    "the .sqlite file";

struct LookAlike {
    bool (*is)(std::string_view head);
    const char* sentence;
};

constexpr LookAlike kTable[] = {
    {[](std::string_view h) { return h.empty(); },
     "the file is empty: the profiler wrote nothing, or the copy failed; record or copy it again"},
    {[](std::string_view h) { return h.starts_with("version https://git-lfs.github.com/spec/"); },
     "this is a Git LFS pointer, not the file itself: fetch it with `git lfs pull`"},
    {[](std::string_view h) { return h.starts_with("QDSTRM") || h.find("QuadDCommon") != h.npos; },
     kSystemsReport},
    {[](std::string_view h) { return h.starts_with("{\"type\":\"process\""); },
     "a process's file of an attnscope run: name its folder, `attnscope report RUN`"},
    {[](std::string_view h) { return h.starts_with("PK\x03\x04"); },
     "a zip archive: unpack it and import the trace in it"},
    {[](std::string_view h) { return h.starts_with("==ERROR==") || h.starts_with("==PROF=="); },
     "only Nsight Compute's messages, no table: it profiled no kernel; read its ==ERROR== lines and profile "
     "again"},
    {[](std::string_view h) { return h.starts_with("Metric Name,") || h.starts_with("\"Metric Name\","); },
     "a derived table, not Nsight Compute's CSV (no ID, no kernel names): import what `ncu --csv --page raw` "
     "wrote"},
    {[](std::string_view h) { return h.starts_with("<!DOCTYPE") || h.starts_with("<html"); },
     "a web page: a download that answered with a page instead of the file? Fetch the file itself"},
    {[](std::string_view h) { return h.starts_with("{") || h.starts_with("["); },
     "JSON, but no PyTorch profiler trace (it has no traceEvents): export one with "
     "prof.export_chrome_trace()"},
};

}  // namespace

std::string look_alike(std::string_view head, std::string_view name) {
    for (const LookAlike& known : kTable)
        if (known.is(head)) return known.sentence;
    // Nsight Systems documents no mark at the start of its reports: their name is all there is.
    for (const char* ending : {".nsys-rep", ".qdrep", ".qdstrm"})
        if (name.ends_with(ending)) return kSystemsReport;
    // Messages may come after a program's own output.
    if (is_text(head) && head.find("==ERROR==") != std::string_view::npos)
        return "only Nsight Compute's messages, no table: it profiled no kernel; read its ==ERROR== lines "
               "and "
               "profile again";
    std::string known;
    for (const Format& format : formats()) known += (known.empty() ? "" : ", ") + std::string(format.title);
    return std::string(is_text(head) ? "a text" : "a file") +
           " of no known kind; what can be imported: " + known;
}

}  // namespace attnscope::importer
