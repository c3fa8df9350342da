#include "code_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <unordered_map>

#include "attnscope/sass.h"
#include "process_file.h"
#include "record_file.h"

namespace attnscope::run_reader {
namespace {

constexpr const char* kAgain = "record the run again where the kernels' code matters";

/// A kernel_code record with its instructions.
struct Found {
    std::string kernel, library, absent;
    uint32_t major = 0, minor = 0;
    std::shared_ptr<InstructionMix> mix;
    uint64_t line = 0;
};

/// A mix that counting cannot have given.
bool impossible(const InstructionMix& mix) {
    uint64_t sum = mix.unknown;
    for (const InstructionCount& entry : mix.by_mnemonic) {
        if (entry.count > mix.total) return true;  // before the sum could overflow
        sum += entry.count;
    }
    return sum != mix.total || mix.exponentials > mix.count(InstructionClass::special) ||
           mix.spill_stores > mix.count(InstructionClass::local_store) ||
           mix.spill_loads > mix.count(InstructionClass::local_load);
}

class CodeReader {
  public:
    CodeReader(std::string name, std::filesystem::path path, Run& run)
        : name_(std::move(name)), path_(std::move(path)), run_(run) {}

    void read(std::FILE* file) {
        std::vector<Diagnostic> damage;
        const FileEnd end =
            read_records(file, name_, damage, kAgain, [&](Record& r, uint64_t line) { take(r, line); });
        for (Diagnostic& d : damage) {
            d.level = std::min(d.level, DiagnosticLevel::warning);
            run_.diagnostics.push_back(std::move(d));
        }
        for (auto& [id, found] : found_) judge(found);
        const auto report = [&](const Tally& tally, const char* code, const char* what) {
            tally.report(run_.diagnostics, name_, DiagnosticLevel::warning, code, what, kAgain);
        };
        report(incomplete_, "incomplete-record", "records lack a field that they need and were skipped");
        report(unknown_, "unknown-id", "instructions belong to no kernel of the file: not used");
        report(duplicate_, "duplicate-id", "records repeat an id; the first one counts");
        report(impossible_, "impossible-value", "kernels' instructions do not add up: taken as absent");
        if (header_ && !end.end_is_last)
            run_.diagnostics.push_back({DiagnosticLevel::warning, "code-tail",
                                        name_ + ": its end is missing: kernels' code may be, too", kAgain,
                                        1});
    }

    void join(Process& process) const {
        if (!header_) {
            process.code_absent = name_ + " is damaged: its first line is missing";
            return;
        }
        std::unordered_map<std::string_view, uint32_t> index;
        for (uint32_t i = 0; i < process.names.size(); ++i) index.emplace(process.names[i], i);
        std::map<std::tuple<uint32_t, uint32_t, uint32_t>, NamedCode> best;
        for (const auto& [id, found] : found_) {
            const auto name = index.find(found.kernel);
            if (name == index.end()) continue;
            NamedCode& code = best[{name->second, found.major, found.minor}];
            if (!code.library.empty()) continue;
            code = {name->second, found.major, found.minor, found.library, found.mix, found.absent};
            if (found.library.empty() || loaded(process, found.library)) continue;
            // Another process of the run loaded that file, this one did not.
            code.library.clear();
            code.mix.reset();
            code.absent = found.library + " holds code of this name, but the process did not load it";
        }
        for (auto& [key, code] : best) process.code.push_back(std::move(code));
        if (process.code.empty()) process.code_absent = name_ + " holds no kernel of this process";
    }

  private:
    static bool loaded(const Process& process, const std::string& library) {
        return process.executable == library ||
               std::any_of(process.libraries.begin(), process.libraries.end(),
                           [&](const LoadedLibrary& l) { return l.path == library; });
    }

    void take(Record& r, uint64_t line) {
        if (r.type() == "code") {
            refuse_newer(r.text("version").value_or(""), path_.string());
            header_ = true;
            return;
        }
        if (!header_) return;
        if (r.type() == "kernel_code") take_kernel(r, line);
        if (r.type() == "instruction") take_instruction(r, line);
    }

    void take_kernel(Record& r, uint64_t line) {
        const auto id = r.u64("id");
        const auto name = r.text("name");
        const auto major = r.u32("compute_major"), minor = r.u32("compute_minor");
        if (!id || !name || !major || !minor) return incomplete_.add(line, "kernel_code");
        Found found{std::string(*name),
                    std::string(r.text("library").value_or("")),
                    std::string(r.text("absent").value_or("")),
                    *major,
                    *minor,
                    nullptr,
                    line};
        if (found.absent.empty()) {
            const auto sm = r.u32("sm");
            const auto total = r.u64("instructions");
            if (!sm || *sm > 9999 || !total || found.library.empty())
                return incomplete_.add(line, "kernel_code");
            auto mix = std::make_shared<InstructionMix>();
            mix->sm = static_cast<int>(*sm);
            mix->arch_specific = r.flag("arch_specific").value_or(false);
            mix->total = *total;
            mix->padding = r.u64("padding").value_or(0);
            mix->unknown = r.u64("unknown").value_or(0);
            mix->exponentials = r.u64("exponentials").value_or(0);
            mix->spill_stores = r.u64("spill_stores").value_or(0);
            mix->spill_loads = r.u64("spill_loads").value_or(0);
            found.mix = std::move(mix);
        }
        if (!found_.emplace(*id, std::move(found)).second) duplicate_.add(line, "kernel_code");
    }

    void take_instruction(Record& r, uint64_t line) {
        const auto kernel = r.u64("kernel"), count = r.u64("count");
        const auto mnemonic = r.text("mnemonic");
        if (!kernel || !count || !mnemonic || mnemonic->empty()) return incomplete_.add(line, "instruction");
        const auto known = found_.find(*kernel);
        if (known == found_.end() || !known->second.mix)
            return unknown_.add(line, "kernel " + std::to_string(*kernel));
        known->second.mix->by_mnemonic.push_back(
            {std::string(*mnemonic), instruction_class(*mnemonic), *count});
    }

    void judge(Found& found) {
        if (!found.mix) return;
        std::sort(found.mix->by_mnemonic.begin(), found.mix->by_mnemonic.end(),
                  [](const InstructionCount& a, const InstructionCount& b) {
                      return a.count != b.count ? a.count > b.count : a.mnemonic < b.mnemonic;
                  });
        if (!impossible(*found.mix)) return;
        impossible_.add(found.line);
        found.mix.reset();
        found.absent = name_ + " is damaged: the kernel's instructions do not add up";
    }

    std::string name_;
    std::filesystem::path path_;
    Run& run_;
    bool header_ = false;
    std::map<uint64_t, Found> found_;
    Tally incomplete_, unknown_, duplicate_, impossible_;
};

}  // namespace

void read_code(const std::filesystem::path& path, Run& run) {
    const auto all_absent = [&](const std::string& why) {
        for (Process& p : run.processes) p.code_absent = why;
    };
    std::error_code error;
    if (!std::filesystem::exists(path, error))
        return all_absent("the run holds no code: its kernels were not looked up when it was recorded");
    const std::string name = path.parent_path().filename().string() + "/" + path.filename().string();
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        std::filesystem::is_regular_file(path, error) ? std::fopen(path.c_str(), "rb") : nullptr,
        &std::fclose);
    if (!file) {
        run.diagnostics.push_back({DiagnosticLevel::warning, "read-error",
                                   name + " cannot be read: " + std::string(std::strerror(errno)),
                                   "check its permissions", 1});
        return all_absent(name + " cannot be read");
    }
    CodeReader reader(name, path, run);
    reader.read(file.get());
    for (Process& p : run.processes) reader.join(p);
}

}  // namespace attnscope::run_reader
