#include "samples.h"

#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace attnscope::test {

namespace fs = std::filesystem;

std::optional<fs::path> samples() {
    const char* named = std::getenv("ATTNSCOPE_SAMPLES");
    const char* source = std::getenv("ATTNSCOPE_SOURCE_DIR");
    const fs::path folder = named ? fs::path(named) : fs::path(source ? source : ".") / "../shared/samples";
    if (!fs::exists(folder / "expected.tsv")) return std::nullopt;
    return fs::canonical(folder);
}

std::vector<ExpectedFacts> expected_facts(const fs::path& folder) {
    std::vector<ExpectedFacts> out;
    std::ifstream file(folder / "expected.tsv");
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::vector<std::string> cells;
        std::stringstream rest(line);
        for (std::string cell; std::getline(rest, cell, '\t');) cells.push_back(cell);
        if (cells.size() < 7) continue;
        ExpectedFacts e;
        e.file = cells[0];
        e.kernels = std::stoull(cells[1]);
        e.unique_names = std::stoull(cells[2]);
        if (!cells[3].empty()) e.memcpys = std::stoull(cells[3]);
        if (!cells[4].empty()) e.memsets = std::stoull(cells[4]);
        if (!cells[5].empty()) e.kernel_time_us = std::stod(cells[5]);
        if (cells[6] != "-") e.gpu = cells[6];
        out.push_back(e);
    }
    return out;
}

Facts facts_of(const Run& run) {
    Facts out;
    std::set<std::string> names;
    for (const Process& p : run.processes) {
        for (const Launch& l : p.launches) {
            if (l.kind == LaunchKind::memcpy) out.memcpys += l.times;
            if (l.kind == LaunchKind::memset) out.memsets += l.times;
            if (l.kind != LaunchKind::kernel) continue;
            out.kernels += l.times;
            if (l.name != kNone) names.insert(p.names[l.name]);
            if (l.start_ns) out.kernel_time_us += double(*l.end_ns - *l.start_ns) / 1000;
        }
        if (out.gpu.empty() && !p.devices.empty()) out.gpu = p.devices.front().name;
    }
    out.unique_names = names.size();
    return out;
}

TemporaryFolder::TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "attnscope-import-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void write(const fs::path& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace attnscope::test
