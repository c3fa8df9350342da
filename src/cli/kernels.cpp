// attnscope kernels: resources and theoretical occupancy of the kernels in a library, or of numbers given by
// hand.
#include <regex.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "attnscope/binary.h"
#include "attnscope/error.h"
#include "attnscope/gpu.h"
#include "attnscope/names.h"
#include "attnscope/occupancy.h"
#include "attnscope/sass.h"
#include "command.h"
#include "kernel_code.h"
#include "kernel_table.h"

namespace attnscope::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::string file, match, device, format = "text";
    std::optional<uint32_t> registers, shared, block, dynamic_shared;
    std::optional<size_t> limit;
    bool full = false, mix = false;
};

/// POSIX extended regular expressions of the C library: no backtracking into the stack, whatever the name's
/// length.
class Pattern {
  public:
    explicit Pattern(const std::string& text) {
        if (const int error = regcomp(&regex_, text.c_str(), REG_EXTENDED | REG_NOSUB); error != 0) {
            char reason[200];
            regerror(error, &regex_, reason, sizeof reason);
            throw Error("--match \"" + printable(text) +
                        "\" is no POSIX extended regular expression: " + reason);
        }
    }
    ~Pattern() { regfree(&regex_); }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;
    bool found_in(const std::string& text) const {
        return regexec(&regex_, text.c_str(), 0, nullptr, 0) == 0;
    }

  private:
    regex_t regex_;
};

std::string device_words(const Gpu& gpu) {
    return gpu.id + " (sm_" + std::to_string(gpu.major * 10 + gpu.minor) + ")";
}

const Gpu& device_of(const Options& options) {
    std::string_view name = options.device;
    constexpr std::string_view kPrefix = "virtual:";
    if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
    const Gpu* gpu = find_gpu(name);
    if (gpu == nullptr) throw Error("unknown device \"" + printable(name) + "\"; known: " + known_gpus());
    return *gpu;
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

Json limiters_json(const Occupancy& occupancy) {
    Json list = Json::array();
    for (const Limiter limiter : occupancy.limiters) list.push_back(to_string(limiter));
    return list;
}

Json occupancy_json(const Occupancy& occupancy) {
    Json json;
    json["launchable"] = occupancy.launchable;
    if (!occupancy.launchable) json["reason"] = occupancy.reason;
    json["ctas_per_sm"] = occupancy.ctas_per_sm;
    json["warps_per_sm"] = occupancy.warps_per_sm;
    json["max_warps_per_sm"] = occupancy.max_warps_per_sm;
    json["percent"] = occupancy.fraction * 100;
    json["limiters"] = limiters_json(occupancy);
    json["source"] = "computed";
    return json;
}

void print_json(const Json& json) {
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

// --- numbers given by hand

int by_hand(const Options& options, const Gpu& gpu) {
    if (!options.registers || !options.block)
        throw Error("without a FILE give --registers and --block (and --shared)");
    const uint32_t shared = options.shared.value_or(0);
    const Occupancy result =
        theoretical_occupancy(sm_limits(gpu), {*options.registers, *options.block, shared, 0});
    if (options.format == "json") {
        Json json;
        json["device"] = gpu.id;
        json["registers"] = *options.registers;
        json["shared_bytes"] = shared;
        json["block"] = *options.block;
        json["occupancy"] = occupancy_json(result);
        print_json(json);
        return 0;
    }
    std::cout << device_words(gpu) << ": " << *options.registers << " registers, " << grouped(*options.block)
              << " threads, " << grouped(shared) << " bytes of shared memory a CTA\n";
    if (!result.launchable) {
        std::cout << "  does not launch: " << result.reason << '\n';
        return 0;
    }
    const auto limit = [](uint32_t ctas) {
        return ctas > 9999 ? std::string("no limit") : std::to_string(ctas);
    };
    std::string limiters;
    for (const Limiter limiter : result.limiters)
        limiters += (limiters.empty() ? "" : " and ") + std::string(to_string(limiter));
    std::cout << "  theoretical occupancy " << percent(result.fraction) << ": " << result.ctas_per_sm
              << " CTAs/SM, " << result.warps_per_sm << " of " << result.max_warps_per_sm
              << " warps; limited by " << limiters << '\n'
              << "  CTAs/SM that fit by registers " << limit(result.ctas_by_registers)
              << ", by shared memory " << limit(result.ctas_by_shared_memory) << ", by warps "
              << limit(result.ctas_by_warps) << ", by CTA slots " << limit(result.ctas_by_ctas) << '\n';
    return 0;
}

// --- kernels of a file

BinaryKernels read_for(const std::string& file, const Gpu& gpu) {
    BinaryKernels found = read_kernels(file, gpu.major, gpu.minor);
    if (!found.kernels.empty()) return found;
    if (found.architectures.empty() && !found.has_ptx) throw Error(file + ": carries no CUDA device code");
    std::string held;
    for (const int sm : found.architectures) held += (held.empty() ? "sm_" : ", sm_") + std::to_string(sm);
    if (found.has_ptx) held += held.empty() ? "PTX alone" : ", and PTX";
    throw Error(file + ": no kernel in it runs on " + device_words(gpu) + "; it holds " + held);
}

std::vector<Entry> select(const BinaryKernels& all, const Options& options, const Gpu& gpu) {
    const SmLimits sm = sm_limits(gpu);
    const Pattern pattern(options.match);
    std::vector<Entry> entries;
    for (const KernelResources& kernel : all.kernels) {
        Entry entry{&kernel, demangle(kernel.name), 0, {}, {}};
        if (!pattern.found_in(entry.full_name)) continue;
        if (options.block || kernel.launch_bounded) {
            entry.block = options.block.value_or(kernel.max_threads);
            entry.occupancy =
                theoretical_occupancy(sm, {kernel.registers, entry.block, kernel.static_shared_bytes,
                                           options.dynamic_shared.value_or(0)});
            if (entry.block > kernel.max_threads) {
                entry.occupancy = {};
                entry.occupancy.reason =
                    "the kernel allows at most " + std::to_string(kernel.max_threads) + " threads";
            }
        }
        entries.push_back(std::move(entry));
    }
    if (entries.empty())
        throw Error("no kernel of " + options.file + " matches \"" + printable(options.match) + "\" (" +
                    grouped(all.kernels.size()) + " kernels searched, by their demangled names)");
    KernelMixes mixes(options.file, gpu.major, gpu.minor);
    for (Entry& entry : entries) entry.code = mixes.of(*entry.kernel);
    return entries;
}

void print_text(const std::vector<Entry>& entries, const BinaryKernels& all, const Options& options,
                const Gpu& gpu) {
    std::cout << grouped(entries.size()) << " of " << grouped(all.kernels.size()) << " kernels of "
              << printable(file_name(options.file)) << " for " << device_words(gpu) << "\n\n";
    std::vector<Row> rows = rows_of(entries, options.full);
    const size_t limit = options.limit.value_or(40);
    const size_t left_out = rows.size() > limit ? rows.size() - limit : 0;
    rows.resize(rows.size() - left_out);
    print_table(std::move(rows), options.full, options.mix, terminal_width());
    if (left_out > 0) std::cout << "... and " << grouped(left_out) << " more rows; --limit shows them\n";
    const bool bounded =
        std::any_of(entries.begin(), entries.end(), [](const Entry& e) { return e.kernel->launch_bounded; });
    const bool unknown =
        std::any_of(entries.begin(), entries.end(), [](const Entry& e) { return e.block == 0; });
    const auto refused = std::find_if(entries.begin(), entries.end(),
                                      [](const Entry& e) { return !e.occupancy.reason.empty(); });
    std::cout << "\nfrom the cubin: registers and local bytes a thread, static shared bytes a CTA,\n"
              << "most threads (thr) a CTA; below a row what its name and its instructions say\n"
              << "(in the code, not as often as they run), where there is something to say\n";
    const auto unread =
        std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return !e.code.mix; });
    if (unread != entries.end()) std::cout << "instructions: " << printable(unread->code.absent) << '\n';
    if (bounded)
        std::cout << "* from the kernel's __launch_bounds__" << (options.block ? "" : ", taken as the block")
                  << '\n';
    std::cout << "occupancy for "
              << (options.block ? "a block of " + grouped(*options.block) + " threads, " : "")
              << grouped(options.dynamic_shared.value_or(0)) << " bytes of dynamic shared memory\n";
    if (!options.dynamic_shared) std::cout << "(the launch decides: --dynamic-shared N)\n";
    if (unknown) std::cout << "- no block size is known: give it with --block\n";
    if (refused != entries.end()) std::cout << "- does not launch: " << refused->occupancy.reason << '\n';
}

void print_kernels_json(const std::vector<Entry>& entries, const BinaryKernels& all, const Options& options,
                        const Gpu& gpu) {
    Json json;
    json["file"] = options.file;
    json["device"] = gpu.id;
    json["sm"] = gpu.major * 10 + gpu.minor;
    json["searched"] = all.kernels.size();
    json["matched"] = entries.size();
    json["source"] = "binary";
    json["kernels"] = Json::array();
    for (size_t i = 0; i < std::min(entries.size(), options.limit.value_or(entries.size())); ++i) {
        const Entry& entry = entries[i];
        const KernelResources& kernel = *entry.kernel;
        Json one;
        one["name"] = kernel.name;
        one["demangled"] = entry.full_name;
        one["short"] = short_kernel_name(entry.full_name);
        one["registers"] = kernel.registers;
        one["static_shared_bytes"] = kernel.static_shared_bytes;
        one["local_bytes"] = kernel.local_bytes;
        one["constant_bytes"] = kernel.constant_bytes;
        one["max_threads"] = kernel.max_threads;
        one["launch_bounded"] = kernel.launch_bounded;
        if (kernel.required_cluster[0] != 0) one["cluster"] = kernel.required_cluster;
        one["dynamic_shared_bytes"] = options.dynamic_shared.value_or(0);
        if (entry.block == 0) {
            one["block"] = nullptr;
            one["occupancy"] = nullptr;
            one["absent"] = "no __launch_bounds__ and no --block";
        } else {
            one["block"] = entry.block;
            one["occupancy"] = occupancy_json(entry.occupancy);
        }
        add_code_json(one, entry.full_name, entry.code, options.mix);
        json["kernels"].push_back(std::move(one));
    }
    print_json(json);
}

int run(const Options& options) {
    const Gpu& gpu = device_of(options);
    if (options.file.empty()) {
        if (!options.match.empty() || options.dynamic_shared || options.mix)
            throw Error("--match, --mix and --dynamic-shared need a FILE");
        return by_hand(options, gpu);
    }
    if (options.registers || options.shared)
        throw Error("--registers and --shared are for a kernel given by hand: leave them or the FILE out");
    const BinaryKernels all = read_for(options.file, gpu);
    const std::vector<Entry> entries = select(all, options, gpu);
    if (options.format == "json")
        print_kernels_json(entries, all, options, gpu);
    else
        print_text(entries, all, options, gpu);
    return 0;
}

}  // namespace

Action define_kernels(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("file", options->file,
                   "library, program, fatbin or cubin; without it --registers --shared --block");
    app.add_option("--match", options->match, "POSIX extended regular expression on the demangled names");
    app.add_option("--device", options->device, "the GPU, for example H100-SXM5")->required();
    app.add_option("--block", options->block, "threads of a CTA (default: the kernel's __launch_bounds__)");
    app.add_option("--dynamic-shared", options->dynamic_shared,
                   "bytes of dynamic shared memory of a CTA (default: 0)");
    app.add_option("--registers", options->registers, "by hand: registers of a thread");
    app.add_option("--shared", options->shared, "by hand: bytes of shared memory of a CTA (default: 0)");
    app.add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--limit", options->limit, "show at most so many (text: 40 rows by default; json: all)");
    app.add_flag("--mix", options->mix, "every instruction of each kernel's code, counted");
    app.add_flag("--full", options->full, "full demangled names, one row a kernel");
    return [options] { return run(*options); };
}

}  // namespace attnscope::cli
