// libFuzzer's entry for every importer: ATTNSCOPE_FUZZ names one of import_formats() whose reader gets the
// bytes as they are, or "file": recognition and unwrapping come first, as for a user's file.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "attnscope/error.h"
#include "attnscope/import.h"
#include "import/importer.h"
#include "import/nsight_compute_report.h"

namespace {

using namespace attnscope;

constexpr size_t kBlock = 512;  // small: what crosses a block's end is met often

class Bytes : public importer::ByteSource {
  public:
    explicit Bytes(std::string_view bytes) : left_(bytes) {}
    size_t read(char* out, size_t size) override {
        const size_t taken = std::min(size, left_.size());
        std::memcpy(out, left_.data(), taken);
        left_.remove_prefix(taken);
        given_ += taken;
        return taken;
    }
    uint64_t of_file() const override { return given_; }

  private:
    std::string_view left_;
    uint64_t given_ = 0;
};

/// The same file for every input, in memory: SQLite reads no streams, and follows links, so that a memfd has
/// no name that it takes.
class MemoryFile {
  public:
    MemoryFile() : descriptor_(mkstemp(path_.data())) {
        if (descriptor_ < 0) std::abort();
    }
    ~MemoryFile() { unlink(path_.c_str()); }
    const std::string& path() const { return path_; }
    void hold(std::string_view bytes) const {
        if (ftruncate(descriptor_, 0) != 0) std::abort();
        for (size_t done = 0; done < bytes.size();) {
            const ssize_t n =
                pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
            if (n <= 0) std::abort();
            done += static_cast<size_t>(n);
        }
    }

  private:
    static std::string folder() {
        return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    }
    std::string path_ = folder() + "/attnscope-fuzz-XXXXXX";
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

/// A target that refuses all that it is given tests nothing: it fails at its end.
struct Tally {
    uint64_t runs = 0, imported = 0;
    ~Tally() {
        if (runs < 1000 || imported > 0) return;
        std::fputs("ERROR: no input was imported, not even a seed\n", stderr);
        std::_Exit(1);
    }
};

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

/// Python is not fuzzed.
void attnscope::importer::read_nsight_compute_report(Input& input, Imported&) {
    throw Error(input.name + ": not here");
}
bool attnscope::importer::is_nsight_compute_report(std::string_view head) {
    return head.starts_with("NVR");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const importer::Format* const format = chosen();
    static const MemoryFile file;
    static Tally tally;
    ++tally.runs;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.starts_with("SQLite") || (format && format->id == std::string_view("nsight-systems")))
        file.hold(bytes);
    try {
        Bytes source(bytes);
        Run run;
        if (format) {
            importer::ByteWindow window(source, kBlock);
            importer::Input input{"fuzz", file.path(), window};
            importer::Imported out;
            format->read(input, out);
            run.processes = std::move(out.processes);
        } else {
            run = importer::import_source(source, "fuzz", file.path(), kBlock);
        }
        for (const Process& p : run.processes) check(p);
        ++tally.imported;
    } catch (const Error&) {
    }
    return 0;
}
