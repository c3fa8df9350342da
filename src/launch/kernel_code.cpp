#include "kernel_code.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>

#include "attnscope/sass.h"
#include "config_asks.h"
#include "run/launched_kernels.h"

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;
using Capability = std::pair<uint32_t, uint32_t>;

constexpr const char* kAgain = "run it again where the kernels' code matters";

struct Answer {
    std::string library;  ///< empty: no file holds it
    KernelMix code;
};

/// Files stay open from process to process; a cubin that was searched once is known.
class Search {
  public:
    explicit Search(Clock::time_point deadline) : deadline_(deadline) {}

    /// Of the kernels of one process on one kind of device. File by file, so that a file is searched only for
    /// what no earlier one held.
    std::map<std::string, Answer> look_up(const std::set<std::string>& kernels,
                                          const std::vector<std::string>& files, const Capability& device) {
        std::map<std::string, Answer> found;
        std::set<std::string> left = kernels;
        std::string unread;
        bool cut = false;
        for (const std::string& file : files) {
            if (left.empty()) break;
            KernelMixes& mixes = open(file, device);
            if (!mixes.unreadable().empty()) {
                unread += "; not read: " + mixes.unreadable();
                continue;
            }
            for (auto name = left.begin(); name != left.end();) {
                KernelMix code = mixes.of(*name);
                if (code.held) {
                    found[*name] = {file, std::move(code)};
                    name = left.erase(name);
                } else {
                    ++name;
                }
            }
            cut = cut || Clock::now() >= deadline_;
        }
        for (const std::string& name : left) {
            cut_ += cut ? 1 : 0;
            const std::string why =
                cut ? "not found in the time that the look-up may take"
                    : "no file that the run names holds code of it for compute capability " +
                          std::to_string(device.first) + "." + std::to_string(device.second) +
                          ": it was compiled at run time, given to CUDA from memory, or its library is not "
                          "in the run";
            found[name] = {"", {std::nullopt, why + unread, false}};
        }
        return found;
    }
    size_t cut() const { return cut_; }  ///< kernels not found that may be somewhere

  private:
    KernelMixes& open(const std::string& file, const Capability& device) {
        auto place = open_.find({file, device});
        if (place == open_.end()) {
            KernelMixes mixes(file, static_cast<int>(device.first), static_cast<int>(device.second));
            mixes.search_until(deadline_);
            place = open_.emplace(std::pair(file, device), std::move(mixes)).first;
        }
        return place->second;
    }

    Clock::time_point deadline_;
    std::map<std::pair<std::string, Capability>, KernelMixes> open_;
    size_t cut_ = 0;
};

/// The lines of the file.
class CodeLines {
  public:
    CodeLines() {
        line({{"type", "code"},
              {"schema", "attnscope-code"},
              {"version", "1.1"},
              {"attnscope", ATTNSCOPE_VERSION}});
    }

    void add(const std::string& kernel, const Capability& device, const Answer& answer) {
        // The same kernel of several processes is one record, unless they have it from different files.
        if (!told_.emplace(kernel, device, answer.library).second) return;
        Json record = {{"type", "kernel_code"},
                       {"id", ++kernels_},
                       {"name", kernel},
                       {"compute_major", device.first},
                       {"compute_minor", device.second}};
        if (!answer.library.empty()) record["library"] = answer.library;
        if (!answer.code.mix) {
            record["absent"] = answer.code.absent;
            return line(record);
        }
        const InstructionMix& mix = *answer.code.mix;
        record["sm"] = mix.sm;
        record["arch_specific"] = mix.arch_specific;
        record["instructions"] = mix.total;
        record["padding"] = mix.padding;
        record["unknown"] = mix.unknown;
        record["exponentials"] = mix.exponentials;
        record["spill_stores"] = mix.spill_stores;
        record["spill_loads"] = mix.spill_loads;
        line(record);
        for (const InstructionCount& entry : mix.by_mnemonic) {
            line({{"type", "instruction"},
                  {"kernel", kernels_},
                  {"mnemonic", entry.mnemonic},
                  {"count", entry.count}});
            ++instructions_;
        }
    }

    std::string take() {
        line({{"type", "end"}, {"kernels", kernels_}, {"instructions", instructions_}});
        return std::move(text_);
    }
    bool empty() const { return kernels_ == 0; }

  private:
    void line(const Json& record) {
        text_ += record.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    }

    std::string text_;
    std::set<std::tuple<std::string, Capability, std::string>> told_;
    uint64_t kernels_ = 0, instructions_ = 0;
};

std::vector<fs::path> process_files(const fs::path& run) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(run, error), end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        if (at->path().extension() == ".jsonl" && at->path().stem().extension() != ".counters" &&
            at->is_regular_file(ignored))
            files.push_back(at->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<Diagnostic> look_up_and_write(const fs::path& run, std::chrono::milliseconds budget) {
    Search search(Clock::now() + budget);
    CodeLines lines;
    for (const fs::path& file : process_files(run)) {
        const run_reader::LaunchedKernels launched = run_reader::read_launched_kernels(file);
        for (const Capability& device : launched.capabilities)
            for (const auto& [kernel, answer] : search.look_up(launched.kernels, launched.files, device))
                lines.add(kernel, device, answer);
    }
    if (lines.empty()) return {};
    std::vector<Diagnostic> diagnostics;
    if (search.cut() > 0)
        diagnostics.push_back({DiagnosticLevel::info, "code-cut",
                               "the code of " + std::to_string(search.cut()) +
                                   " kernels was not found within " + std::to_string(budget.count()) +
                                   " ms: what their instructions are is not known",
                               kAgain, search.cut()});
    std::error_code error;
    fs::create_directory(run / "code", error);
    if (!write_whole(run / "code" / "kernels.jsonl", lines.take()))
        diagnostics.push_back(
            {DiagnosticLevel::warning, "code-not-written",
             "code/kernels.jsonl could not be written: " + std::string(std::strerror(errno)), kAgain, 1});
    return diagnostics;
}

}  // namespace

std::vector<Diagnostic> write_kernel_code(const fs::path& run, std::chrono::milliseconds budget) {
    try {
        return look_up_and_write(run, budget);
    } catch (const std::exception& e) {  // memory, a folder that vanished: the run is whole without it
        return {{DiagnosticLevel::warning, "code-not-written",
                 "the kernels' code could not be looked up: " + std::string(e.what()), kAgain, 1}};
    }
}

}  // namespace attnscope::launch
