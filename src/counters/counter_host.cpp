#include "attnscope/counter_host.h"

#include <signal.h>

#include <nlohmann/json.hpp>

#include "attnscope/error.h"
#include "find_cupti.h"
#include "helper.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kQuestionLimit = 120'000;  // ms: an answer takes a tenth of a second
constexpr int kManyLimit = 600'000;
constexpr int kEvaluationLimit = 3'600'000;  // ms: the helper itself gives each image 30 s

std::string beside_this_program() {
    std::error_code ignored;
    const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
    return self.parent_path().parent_path() / "lib/attnscope/attnscope_cupti_host";
}

std::vector<std::string> texts(const Json& list) {
    return list.get<std::vector<std::string>>();
}

std::string lines_of(const std::vector<std::string>& names) {
    std::string lines;
    for (const std::string& name : names) {
        if (name.find('\n') != std::string::npos) throw Error("a metric's name holds a line break");
        lines += name + "\n";
    }
    return lines;
}

/// The helper's answer to one command, as JSON.
template <class Use>
auto ask(const CounterHost& host, std::vector<std::string> words, const std::string& input, int limit_ms,
         Use use) {
    const std::string command = words[0];
    std::vector<std::string> arguments = {host.tool(), "--cupti", host.libcupti()};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const counters::HelperAnswer answer = counters::run_helper(arguments, input, limit_ms);
    const std::string where = "CUPTI's host side (" + host.libcupti() + ")";
    if (answer.timed_out)
        throw Error(where + " gave no answer to \"" + command + "\" within " +
                    std::to_string(limit_ms / 1000) + " s; try another libcupti with ATTNSCOPE_CUPTI");
    if (answer.too_long) throw Error(where + " gave an endless answer to \"" + command + "\"");
    if (answer.exit_code > 128)
        throw Error(where + " crashed on \"" + command + "\" (signal " +
                    std::to_string(answer.exit_code - 128) + "); try another libcupti with ATTNSCOPE_CUPTI");
    const Json json = Json::parse(answer.output, nullptr, false);
    if (json.is_object() && json.contains("error") && json["error"].is_string())
        throw Error(json["error"].get<std::string>());
    try {
        if (answer.exit_code == 0 && json.is_object()) return use(json);
    } catch (const Json::exception&) {  // told below: fields that are not as they should be
    }
    throw Error(host.tool() + ": its answer to \"" + command +
                "\" is not understood; is it of this version of attnscope?");
}

CounterPlan read_plan(const Json& json) {
    CounterPlan plan;
    plan.chip = json.at("chip");
    plan.refused = json.value("refused", "");
    if (!plan.refused.empty()) return plan;
    plan.cupti = json.at("cupti");
    plan.metrics = texts(json.at("metrics"));
    plan.absent = texts(json.at("absent"));
    plan.passes = json.at("passes");
    plan.apart = texts(json.at("apart"));
    plan.absent.insert(plan.absent.end(), plan.apart.begin(), plan.apart.end());
    return plan;
}

}  // namespace

CounterHost::CounterHost(std::string libcupti, std::string tool)
    : libcupti_(std::move(libcupti)), tool_(std::move(tool)) {
    if (tool_.empty()) tool_ = beside_this_program();
    std::error_code ignored;
    if (!fs::exists(tool_, ignored))
        throw Error(tool_ +
                    " is missing: it comes with a build that has the collectors "
                    "(ATTNSCOPE_BUILD_COLLECTORS)");
    if (libcupti_.empty()) libcupti_ = counters::find_cupti();
    if (libcupti_.empty())
        throw Error(
            "no libcupti was found, neither in a CUDA toolkit nor in Python's packages: pip install "
            "nvidia-cuda-cupti (for CUDA 13) or nvidia-cuda-cupti-cu12 (12.6 or later), or name the file in "
            "ATTNSCOPE_CUPTI");
    if (!fs::exists(libcupti_, ignored))
        throw Error(libcupti_ +
                    ": no such file; it should be a libcupti (ATTNSCOPE_CUPTI, or the program's own)");
}

uint32_t CounterHost::version() const {
    return ask(*this, {"version"}, {}, kQuestionLimit,
               [](const Json& json) { return json.at("cupti").get<uint32_t>(); });
}

std::vector<std::string> CounterHost::chips() const {
    return ask(*this, {"chips"}, {}, kQuestionLimit,
               [](const Json& json) { return texts(json.at("chips")); });
}

std::vector<VendorMetric> CounterHost::metrics(const std::string& chip, const std::string& matching) const {
    std::vector<std::string> words = {"metrics", chip};
    // All roll-ups of all metrics would be 150,000 names.
    if (!matching.empty()) words.insert(words.end(), {"--matching", matching, "--submetrics"});
    return ask(*this, words, {}, kQuestionLimit, [](const Json& json) {
        std::vector<VendorMetric> list;
        for (const Json& entry : json.at("metrics")) {
            VendorMetric metric{entry.at("name"),
                                entry.at("kind"),
                                entry.value("description", ""),
                                entry.value("unit", ""),
                                entry.value("hardware", ""),
                                {}};
            if (entry.contains("submetrics")) metric.submetrics = texts(entry["submetrics"]);
            list.push_back(std::move(metric));
        }
        return list;
    });
}

std::vector<std::string> CounterHost::unknown(const std::string& chip,
                                              const std::vector<std::string>& names) const {
    return ask(*this, {"unknown", chip, "--metrics-file", "-"}, lines_of(names), kQuestionLimit,
               [](const Json& json) { return texts(json.at("unknown")); });
}

UnknownByChip CounterHost::unknown_by_chip(const std::vector<std::string>& names) const {
    return ask(*this, {"unknown", "all", "--metrics-file", "-"}, lines_of(names), kQuestionLimit,
               [](const Json& json) {
                   UnknownByChip all;
                   for (const auto& [chip, list] : json.at("chips").items())
                       all.chips.emplace_back(chip, texts(list));
                   for (const auto& [chip, why] : json.at("refused").items())
                       all.refused.emplace_back(chip, why.get<std::string>());
                   return all;
               });
}

std::vector<HostDevice> CounterHost::devices(std::string* why) const {
    return ask(*this, {"devices"}, {}, kQuestionLimit, [why](const Json& json) {
        std::vector<HostDevice> list;
        for (const Json& entry : json.at("devices"))
            list.push_back({entry.at("device"), entry.at("name"), entry.value("chip", "")});
        if (why != nullptr) *why = json.value("why", "");
        return list;
    });
}

CounterPlan CounterHost::plan(const std::string& chip, const std::vector<std::string>& names,
                              const fs::path& availability, const fs::path& config) const {
    std::vector<std::string> words = {"plan", chip, "--metrics-file", "-"};
    if (!availability.empty()) words.insert(words.end(), {"--availability", availability});
    if (!config.empty()) words.insert(words.end(), {"--config", config});
    return ask(*this, words, lines_of(names), kQuestionLimit, read_plan);
}

std::vector<CounterPlan> CounterHost::plans(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& asked) const {
    std::vector<std::string> lines;
    for (const auto& [chip, names] : asked) {
        lines.push_back(chip);
        for (const std::string& name : names) lines.back() += " " + name;
    }
    return ask(*this, {"plans", "--metrics-file", "-"}, lines_of(lines), kManyLimit, [&](const Json& json) {
        std::vector<CounterPlan> plans;
        for (const Json& entry : json.at("plans")) plans.push_back(read_plan(entry));
        if (plans.size() != asked.size()) throw Error("CUPTI's host side answered too few plans");
        return plans;
    });
}

Evaluated CounterHost::evaluate(const fs::path& data, const fs::path& out) const {
    return ask(*this, {"evaluate", data, "--out", out}, {}, kEvaluationLimit, [](const Json& json) {
        return Evaluated{json.at("images"), json.at("counters"), json.at("unjoined"), json.at("ground")};
    });
}

}  // namespace attnscope
