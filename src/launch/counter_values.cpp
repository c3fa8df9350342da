#include "counter_values.h"

#include <unistd.h>

#include <algorithm>
#include <exception>

#include "attnscope/counter_host.h"
#include "config_asks.h"
#include "counter_setup.h"

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;

/// The libcupti of the process that left `data`; empty: not known, or no longer there.
std::string libcupti_of(const fs::path& data) {
    std::string fault;
    for (const std::string& key : config_keys(data))
        if (const auto ask = read_ask(data.parent_path(), key, fault);
            ask && access(ask->library.c_str(), R_OK) == 0)
            return ask->library;
    return {};
}

void evaluate_one(const fs::path& run, const fs::path& data, const std::string& tool, Evaluation& all) {
    const fs::path values = run / (data.stem().string() + ".counters.jsonl");
    const std::string own = libcupti_of(data);
    Evaluated result;
    try {
        result = CounterHost(own.empty() ? named_libcupti() : own, tool).evaluate(data, values);
    } catch (const std::exception&) {
        if (own.empty()) throw;
        result = CounterHost(named_libcupti(), tool).evaluate(data, values);
    }
    all.images += result.images;
    all.counters += result.counters;
}

}  // namespace

Evaluation evaluate_counters(const fs::path& run, const std::string& tool) {
    Evaluation all;
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(run / "counters", error), end; !error && at != end; at.increment(error))
        if (at->path().extension() == ".data") files.push_back(at->path());
    std::sort(files.begin(), files.end());
    for (const fs::path& data : files) {
        ++all.files;
        try {
            evaluate_one(run, data, tool, all);
        } catch (const std::exception& e) {
            ++all.failed;
            all.diagnostics.push_back({DiagnosticLevel::data_loss, "counters-undecodable",
                                       "the counters of " + data.stem().string() +
                                           " could not be evaluated; their raw data is kept: " + e.what(),
                                       "attnscope collect --evaluate " + run.string(), 1});
        }
    }
    return all;
}

}  // namespace attnscope::launch
