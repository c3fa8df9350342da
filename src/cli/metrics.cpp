// attnscope metrics: what can be counted on a chip, what it means, and how many passes it takes. Needs CUPTI,
// but no GPU.
#include <algorithm>
#include <cctype>
#include <iostream>
#include <string>
#include <vector>

#include "attnscope/counter_host.h"
#include "attnscope/error.h"
#include "attnscope/gpu.h"
#include "attnscope/launch.h"
#include "attnscope/metrics.h"
#include "attnscope/names.h"
#include "command.h"
#include "metric_lookup.h"
#include "metric_views.h"

namespace attnscope::cli {
namespace {

struct Options {
    std::string chip, device, set, search, passes_for, format = "text";
    bool all_chips = false, compare = false;
};

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string chip_of(const Options& options) {
    if (!options.chip.empty()) return upper(options.chip);
    std::string_view name = options.device.empty() ? kDefaultVirtualDevice : std::string_view(options.device);
    constexpr std::string_view kPrefix = "virtual:";
    if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
    const Gpu* gpu = find_gpu(name);
    if (gpu == nullptr) throw Error("unknown device \"" + printable(name) + "\"; known: " + known_gpus());
    return gpu->chip;
}

std::vector<std::string> sets_of(const Options& options) {
    std::vector<std::string> known = metric_sets();
    if (options.set.empty()) return known;
    if (std::find(known.begin(), known.end(), options.set) != known.end()) return {options.set};
    std::string list;
    for (const std::string& set : known) list += (list.empty() ? "" : ", ") + set;
    throw Error("there is no set \"" + printable(options.set) + "\"; there are " + list +
                " (single metrics: --passes-for or --search)");
}

void check(const Options& options) {
    const int modes =
        !options.set.empty() + !options.search.empty() + !options.passes_for.empty() + options.compare;
    if (modes > 1)
        throw Error("--set, --search, --passes-for and --compare-sets are four questions: ask one");
    if (!options.chip.empty() && !options.device.empty()) throw Error("give --chip or --device, not both");
    const bool one_chip = !options.chip.empty() || !options.device.empty();
    if (options.all_chips && (one_chip || !options.search.empty() || !options.passes_for.empty()))
        throw Error("--all-chips goes with --set and --compare-sets, and without --chip and --device");
}

int run(const Options& options) {
    check(options);
    const std::vector<std::string> sets = sets_of(options);
    const std::string chip = chip_of(options);
    const CounterHost host;
    const Format format = options.format == "json" ? Format::json : Format::text;
    const std::vector<std::string> chips =
        options.all_chips ? std::vector<std::string>() : std::vector<std::string>{chip};
    if (options.compare) {
        show(compare_sets(host, chips), format);
    } else if (!options.search.empty()) {
        show(search_metrics(host, chip, options.search), format);
    } else if (!options.passes_for.empty()) {
        const ResolvedMetrics resolved = resolve_metrics(host, chip, options.passes_for);
        show(Passes{host.plan(chip, resolved.names), resolved.absent}, format);
    } else {
        show(sets_on(host, chips, sets), !options.set.empty(), format);
    }
    return 0;
}

}  // namespace

Action define_metrics(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("--chip", options->chip, "chip, as CUPTI names it: GH100 (default), GA100, GB100 ...");
    app.add_option("--device", options->device, "the chip of this GPU: H100-SXM5");
    app.add_option("--set", options->set,
                   "roles of one set, with their counters and meaning: core, memory ...");
    app.add_option("--search", options->search, "words in the names and descriptions of all metrics");
    app.add_option("--passes-for", options->passes_for,
                   "passes of sets, roles and metrics: core,dram__bytes.sum");
    app.add_flag("--all-chips", options->all_chips, "a table over all chips that CUPTI knows");
    app.add_flag("--compare-sets", options->compare, "passes of core beside those of Nsight Compute's sets");
    app.add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
    return [options] { return run(*options); };
}

}  // namespace attnscope::cli
