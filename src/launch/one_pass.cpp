#include "one_pass.h"

#include <algorithm>

#include "counter_setup.h"

namespace attnscope::launch {
namespace {

/// Each try is a process of some tenths of a second.
constexpr size_t kMostTries = 24;

bool fits(const CounterSetup& setup, const CounterHost& host, const std::vector<std::string>& parts) {
    std::string request;
    for (const std::string& part : parts) request += (request.empty() ? "" : ",") + part;
    return std::all_of(setup.chips.begin(), setup.chips.end(), [&](const ChipPlan& chip) {
        return host.plan(chip.chip, resolve_metrics(host, chip.chip, request).names).passes <= 1;
    });
}

std::vector<std::string> greedy(const CounterSetup& setup, const CounterHost& host,
                                const std::vector<std::string>& parts) {
    std::vector<std::string> kept;
    for (size_t i = 0; i < parts.size() && i < kMostTries; ++i) {
        kept.push_back(parts[i]);
        if (!fits(setup, host, kept)) kept.pop_back();
    }
    return kept;
}

}  // namespace

std::vector<std::string> comma_parts(const std::string& text) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

std::vector<std::string> fits_in_one_pass(const CounterSetup& setup, const CounterHost& host) {
    std::vector<std::string> whole = greedy(setup, host, comma_parts(setup.request));
    return whole.empty() ? greedy(setup, host, setup.metrics()) : whole;
}

}  // namespace attnscope::launch
