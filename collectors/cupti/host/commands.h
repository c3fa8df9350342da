#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace attnscope::cupti_host {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string cupti, matching, metrics_file, availability, config, out;
    bool submetrics = false;
    std::vector<std::string> words;  ///< the command, then its operands
};

/// The answer; throws Error.
Json run_command(const Arguments& arguments);

}  // namespace attnscope::cupti_host
