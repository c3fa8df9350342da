#include "commands.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>

#include "attnscope/error.h"
#include "chip_host.h"
#include "config_file.h"
#include "devices.h"
#include "evaluate.h"

namespace attnscope::cupti_host {
namespace {

const std::string& operand(const Arguments& arguments, size_t index, const char* what) {
    if (index >= arguments.words.size()) throw Error(arguments.words[0] + " needs " + what);
    return arguments.words[index];
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) throw Error(path + ": cannot be read");
    return text;
}

/// One name a line; "-" is stdin.
std::vector<std::string> read_names(const std::string& path) {
    std::istringstream text(path == "-" ? std::string{std::istreambuf_iterator<char>(std::cin), {}}
                                        : read_file(path));
    std::vector<std::string> names;
    for (std::string line; std::getline(text, line);)
        if (!line.empty()) names.push_back(line);
    return names;
}

void write_beside(const std::string& path, const std::string& bytes) {
    const std::string beside = path + ".part";
    std::ofstream file(beside, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    std::error_code failed;
    if (file) std::filesystem::rename(beside, path, failed);
    if (!file || failed) {
        std::filesystem::remove(beside, failed);
        throw Error(path + ": cannot be written; is the disk full?");
    }
}

/// Every word occurs in the name or the description, in any case of letters.
bool matches(const Metric& metric, const std::string& words) {
    const auto lower = [](std::string text) {
        for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return text;
    };
    const std::string text = lower(metric.name + " " + metric.description);
    std::istringstream list(lower(words));
    for (std::string word; list >> word;)
        if (text.find(word) == std::string::npos) return false;
    return true;
}

Json metrics(const HostApi& api, const Arguments& arguments) {
    const ChipHost host(api, operand(arguments, 1, "a chip"));
    Json list = Json::array();
    for (const Metric& metric : host.metrics()) {
        if (!matches(metric, arguments.matching)) continue;
        Json entry = {{"name", metric.name}, {"kind", to_string(metric.type)}};
        if (!metric.description.empty()) entry["description"] = metric.description;
        if (!metric.unit.empty()) entry["unit"] = metric.unit;
        if (!metric.hardware.empty()) entry["hardware"] = metric.hardware;
        if (arguments.submetrics) entry["submetrics"] = host.submetrics(metric);
        list.push_back(std::move(entry));
    }
    return {{"chip", host.chip()}, {"metrics", std::move(list)}};
}

std::vector<std::string> operand_names(const Arguments& arguments) {
    std::vector<std::string> names(arguments.words.begin() + std::min<size_t>(2, arguments.words.size()),
                                   arguments.words.end());
    if (!arguments.metrics_file.empty())
        for (std::string& name : read_names(arguments.metrics_file)) names.push_back(std::move(name));
    return names;
}

Json unknown_on(const ChipHost& host, const std::vector<std::string>& names) {
    Json refused = Json::array();
    for (const std::string& name : names)
        if (!host.knows(name)) refused.push_back(name);
    return refused;
}

Json unknown(const HostApi& api, const Arguments& arguments) {
    const std::string& chip = operand(arguments, 1, "a chip, or \"all\"");
    const std::vector<std::string> names = operand_names(arguments);
    if (chip != "all") return {{"chip", chip}, {"unknown", unknown_on(ChipHost(api, chip), names)}};
    Json by_chip = Json::object(), refused = Json::object();
    for (const std::string& each : supported_chips(api)) {
        try {
            by_chip[each] = unknown_on(ChipHost(api, each), names);
        } catch (const Error& e) {
            refused[each] = e.what();
        }
    }
    return {{"chips", std::move(by_chip)}, {"refused", std::move(refused)}};
}

Json plan_json(const std::string& chip, const HostApi& api, const Plan& planned) {
    return {{"chip", chip},
            {"cupti", api.version},
            {"metrics", planned.metrics},
            {"absent", planned.absent},
            {"apart", planned.apart},
            {"passes", planned.passes}};
}

Json plan(const HostApi& api, const Arguments& arguments) {
    const ChipHost host(api, operand(arguments, 1, "a chip"),
                        arguments.availability.empty() ? "" : read_file(arguments.availability));
    Plan planned = host.plan(operand_names(arguments));
    Json json = plan_json(host.chip(), api, planned);
    if (!arguments.config.empty() && !planned.metrics.empty()) {
        const ConfigFile file{api.version, static_cast<uint32_t>(planned.passes), std::move(planned.metrics),
                              std::move(planned.image)};
        write_beside(arguments.config, to_bytes(file));
    }
    return json;
}

/// One plan a line: "GH100 name name name".
Json plans(const HostApi& api, const Arguments& arguments) {
    Json list = Json::array();
    std::map<std::string, std::unique_ptr<ChipHost>> hosts;
    for (const std::string& line : read_names(arguments.metrics_file)) {
        std::istringstream words(line);
        std::string chip;
        words >> chip;
        try {
            std::unique_ptr<ChipHost>& host = hosts[chip];
            if (host == nullptr) host = std::make_unique<ChipHost>(api, chip);
            const std::vector<std::string> names{std::istream_iterator<std::string>(words), {}};
            list.push_back(plan_json(chip, api, host->plan(names)));
        } catch (const Error& e) {
            list.push_back({{"chip", chip}, {"refused", e.what()}});
        }
    }
    return {{"plans", std::move(list)}};
}

Json evaluate(const HostApi& api, const Arguments& arguments) {
    if (arguments.out.empty()) throw Error("evaluate needs --out FILE");
    const Evaluation done =
        evaluate_file(api, operand(arguments, 1, "a counters/*.data of a run"), arguments.out);
    return {{"images", done.images},
            {"counters", done.counters},
            {"unjoined", done.unjoined},
            {"ground", api.ground}};
}

Json devices(const HostApi& api) {
    const FoundDevices found = find_devices(api);
    Json list = Json::array();
    for (const FoundDevice& device : found.devices) {
        Json entry = {{"device", device.device}, {"name", device.name}};
        if (!device.chip.empty()) entry["chip"] = device.chip;
        list.push_back(std::move(entry));
    }
    Json json = {{"devices", std::move(list)}};
    if (!found.why.empty()) json["why"] = found.why;
    return json;
}

}  // namespace

Json run_command(const Arguments& arguments) {
    const HostApi api(arguments.cupti);
    const std::string& command = arguments.words[0];
    if (command == "version") return {{"cupti", api.version}, {"library", api.path}, {"ground", api.ground}};
    if (command == "chips") return {{"chips", supported_chips(api)}};
    if (command == "metrics") return metrics(api, arguments);
    if (command == "unknown") return unknown(api, arguments);
    if (command == "plan") return plan(api, arguments);
    if (command == "plans") return plans(api, arguments);
    if (command == "evaluate") return evaluate(api, arguments);
    if (command == "devices") return devices(api);
    throw Error("there is no command \"" + command + "\"");
}

}  // namespace attnscope::cupti_host
