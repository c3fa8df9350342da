// usage: bench_import import|scan|unpack FILE   one stage of an import alone: all but writing, the scanner of
// a trace's JSON whose events nobody takes, decompression.
#include <cstdio>
#include <string>

#include "attnscope/import.h"
#include "import/containers.h"
#include "import/kineto_events.h"

namespace {

using namespace attnscope;

uint64_t import(const char* file) {
    uint64_t launches = 0;
    for (const Process& p : import_files({file}).processes) launches += p.launches.size();
    return launches;
}

uint64_t scan(const char* file) {
    const auto source = importer::open_file(file);
    importer::ByteWindow window(*source);
    window.more();
    uint64_t fields = 0;
    importer::read_trace(file, window,
                         [&](const std::vector<importer::JsonField>& event) { fields += event.size(); });
    return fields;
}

uint64_t unpack(const char* file) {
    const auto source = importer::open_file(file);
    const auto bytes = importer::gunzip(*source);
    std::vector<char> block(size_t{1} << 20);
    uint64_t all = 0;
    while (const size_t got = bytes->read(block.data(), block.size())) all += got;
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string stage = argc == 3 ? argv[1] : "";
    if (stage == "import")
        return std::printf("%llu launches\n", static_cast<unsigned long long>(import(argv[2]))) < 0;
    if (stage == "scan")
        return std::printf("%llu fields\n", static_cast<unsigned long long>(scan(argv[2]))) < 0;
    if (stage == "unpack")
        return std::printf("%llu bytes\n", static_cast<unsigned long long>(unpack(argv[2]))) < 0;
    std::fputs("usage: bench_import import|scan|unpack FILE\n", stderr);
    return 2;
}
