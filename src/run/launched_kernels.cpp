#include "launched_kernels.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "line_source.h"
#include "records.h"

namespace attnscope::run_reader {
namespace {

/// Most lines are launches, which need not be parsed: the collector writes the type first.
bool is_a_launch(std::string_view line) {
    for (const std::string_view type :
         {R"({"type":"kernel")", R"({"type":"memcpy")", R"({"type":"memset")", R"({"type":"library_call")"})
        if (line.starts_with(type)) return true;
    return false;
}

void add_file(LaunchedKernels& out, std::string_view path) {
    if (path.starts_with('/') && std::find(out.files.begin(), out.files.end(), path) == out.files.end())
        out.files.emplace_back(path);
}

void take(LaunchedKernels& out, Record& r) {
    if (r.type() == "process") {
        add_file(out, r.text("executable").value_or(""));
    } else if (r.type() == "library") {
        add_file(out, r.text("path").value_or(""));
    } else if (r.type() == "name") {
        if (const auto name = r.text("name"); name && !name->empty()) out.kernels.emplace(*name);
    } else if (r.type() == "device") {
        const auto major = r.u32("compute_major"), minor = r.u32("compute_minor");
        if (major && minor && *major < 100 && *minor < 10) out.capabilities.emplace(*major, *minor);
    }
}

}  // namespace

LaunchedKernels read_launched_kernels(const std::filesystem::path& path) {
    LaunchedKernels out;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return out;
    LineSource source(file.get());
    simdjson::dom::parser parser;
    Record record;
    LineSource::Line line;
    while (source.next(line))
        if (!line.oversized && !is_a_launch({line.text, line.length}) &&
            record.parse(parser, line.text, line.length))
            take(out, record);
    return out;
}

}  // namespace attnscope::run_reader
