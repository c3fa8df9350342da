#include "clocks.h"

#include <algorithm>
#include <set>

#include "statistics.h"
#include "words.h"

namespace attnscope {
namespace {

/// NVML's bits (nvml.h, nvmlClocksEventReasons) in words; idle is no brake.
struct Reason {
    uint64_t bit;
    const char* words;
};
constexpr Reason kReasons[] = {
    {0x2, "clocks were set by an application"},
    {0x4, "power cap"},
    {0x8, "hardware slowdown (temperature, power brake or power supply)"},
    {0x10, "synchronised with other GPUs"},
    {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "external power brake"},
    {0x100, "display clock setting"},
};

std::optional<ClockRange> range_of(std::vector<double> samples, std::optional<double> limit) {
    if (samples.empty()) return std::nullopt;
    std::sort(samples.begin(), samples.end());
    return ClockRange{samples.front(), quantile(samples, 0.5), samples.back(), limit};
}

std::string text_of(const ClockRange& r) {
    std::string text = "least " + words::number(r.least) + ", median " + words::number(r.median) + ", most " +
                       words::number(r.most) + " MHz";
    if (r.limit) text += " of at most " + words::number(*r.limit);
    return text + (r.least < r.most ? "; not fixed" : "; the same in every sample");
}

}  // namespace

Clocks summarise_clocks(const Run& run) {
    std::set<std::string> used;
    for (const Process& p : run.processes)
        for (const Device& d : p.devices)
            if (!d.uuid.empty() && std::any_of(p.launches.begin(), p.launches.end(),
                                               [&](const Launch& l) { return l.device == d.ordinal; }))
                used.insert(d.uuid);
    Clocks out;
    std::vector<double> sm, memory;
    std::optional<double> sm_limit, memory_limit;
    std::vector<size_t> throttled(std::size(kReasons));
    for (const ClockSample& sample : run.clocks) {
        if (!used.empty() && !used.count(sample.uuid)) continue;
        ++out.samples;
        if (sample.sm) sm.push_back(*sample.sm);
        if (sample.memory) memory.push_back(*sample.memory);
        if (sample.sm_max) sm_limit = std::max(sm_limit.value_or(0), double(*sample.sm_max));
        if (sample.memory_max) memory_limit = std::max(memory_limit.value_or(0), double(*sample.memory_max));
        for (size_t i = 0; i < throttled.size(); ++i)
            throttled[i] += (sample.throttle_reasons.value_or(0) & kReasons[i].bit) != 0;
    }
    out.sm = range_of(std::move(sm), sm_limit);
    out.memory = range_of(std::move(memory), memory_limit);
    for (size_t i = 0; i < throttled.size(); ++i)
        if (throttled[i] > 0) out.throttled.emplace_back(kReasons[i].words, throttled[i]);
    return out;
}

std::vector<Fact> clock_facts(const Clocks& clocks) {
    std::vector<Fact> out;
    if (clocks.samples == 0) return out;
    if (clocks.sm) out.push_back({"SM clock during the run", text_of(*clocks.sm)});
    if (clocks.memory) out.push_back({"Memory clock during the run", text_of(*clocks.memory)});
    std::vector<std::string> reasons;
    for (const auto& [words, samples] : clocks.throttled)
        reasons.push_back(words + " (" + words::number(double(samples)) + " of " +
                          words::plural(double(clocks.samples), "sample") + ")");
    out.push_back(
        {"Clocks held down by", reasons.empty() ? "nothing that NVML names" : words::join(reasons)});
    return out;
}

}  // namespace attnscope
