// libFuzzer's entry for every importer: ATTNSCOPE_FUZZ names one of import_formats() whose reader gets the
// bytes as they are, or "file": recognition and unwrapping come first, as for a user's file.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "attnscope/error.h"
#include "attnscope/import.h"
#include "import/importer.h"

namespace {

using namespace attnscope;

class Bytes : public importer::ByteSource {
  public:
    explicit Bytes(std::string_view bytes) : left_(bytes) {}
    size_t read(char* out, size_t size) override {
        const size_t taken = std::min(size, left_.size());
        std::memcpy(out, left_.data(), taken);
        left_.remove_prefix(taken);
        return taken;
    }

  private:
    std::string_view left_;
};

/// A file that is nowhere on disk.
class MemoryFile {
  public:
    explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", 0)) {
        for (size_t done = 0; done < bytes.size();) {
            const ssize_t n = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
            if (n <= 0) std::abort();
            done += static_cast<size_t>(n);
        }
    }
    ~MemoryFile() { close(descriptor_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  private:
    int descriptor_;
};

const importer::Format* chosen() {
    const char* name = std::getenv("ATTNSCOPE_FUZZ");
    for (const importer::Format& format : importer::formats())
        if (name && std::string_view(name) == format.id) return &format;
    if (!name || std::string_view(name) != "file")
        std::abort();  // a misspelt target must not look like success
    return nullptr;
}

/// What a report relies on: indices that hold, times that go forward.
void check(const Process& p) {
    const auto holds = [](bool condition) {
        if (!condition) std::abort();
    };
    uint64_t last = 0;
    for (const Launch& l : p.launches) {
        holds(l.correlation >= last);
        last = l.correlation;
        holds(l.name == kNone || l.name < p.names.size());
        holds(l.range == kNone || l.range < p.ranges.size());
        holds(l.operation == kNone || l.operation < p.operations.size());
        holds(l.copy_kind == kNone || l.copy_kind < p.copy_kinds.size());
        holds(l.counters == kNone || l.counters < p.counters.size());
        holds(l.start_ns.has_value() == l.end_ns.has_value());
        holds(!l.start_ns || (*l.start_ns > 0 && *l.start_ns <= *l.end_ns));
    }
    for (uint32_t i = 0; i < p.operations.size(); ++i)
        holds(p.operations[i].parent == kNone || p.operations[i].parent < i);
    for (const Range& r : p.ranges) holds(r.parent == kNone || r.parent < p.ranges.size());
    for (const CounterSet& set : p.counters)
        for (const CounterValue& v : set) holds(v.metric < p.metrics.size());
}

}  // namespace

/// The reader of runs, where it is at home, is not part of this program.
const attnscope::Device* attnscope::Process::device(int32_t ordinal) const {
    for (const Device& d : devices)
        if (d.ordinal == ordinal) return &d;
    return nullptr;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const importer::Format* const format = chosen();
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        const MemoryFile file(bytes);
        if (!format) {
            for (const Process& p : import_files({file.path()}).processes) check(p);
            return 0;
        }
        Bytes source(bytes);
        importer::ByteWindow window(source, 4096);  // small: what crosses a block's end is met often
        importer::Input input{"fuzz", file.path(), window};
        importer::Imported out;
        format->read(input, out);
        for (const Process& p : out.processes) check(p);
    } catch (const Error&) {
    }
    return 0;
}
