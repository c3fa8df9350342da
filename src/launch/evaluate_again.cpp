#include <nlohmann/json.hpp>

#include "attnscope/launch.h"
#include "config_asks.h"
#include "counter_values.h"
#include "run_json.h"
#include "say.h"

namespace attnscope {

int evaluate_again(const std::string& folder) {
    using nlohmann::json;
    const auto text = launch::read_plain_file(folder + "/run.json", launch::kRunJsonLimit);
    json run = json::parse(text.value_or(""), nullptr, false);
    if (!run.is_object() || run.value("schema", json()) != "attnscope-run")
        throw Error(folder + " holds no run of attnscope: name the folder that collect wrote");
    const launch::Evaluation values = launch::evaluate_counters(folder, {});
    if (values.files == 0)
        throw Error(
            folder +
            " holds no raw counter data: it was collected without --counters, or no counters could be "
            "read; attnscope report " +
            folder + " says which");
    json kept = json::array();
    for (const json& d : run.value("diagnostics", json::array()))
        if (!d.is_object() || d.value("code", json()) != "counters-undecodable") kept.push_back(d);
    for (json& d : launch::to_json(values.diagnostics)) kept.push_back(std::move(d));
    if (kept.empty())
        run.erase("diagnostics");
    else
        run["diagnostics"] = std::move(kept);
    try {
        launch::write_run_json(folder, run);
    } catch (const std::filesystem::filesystem_error& e) {
        throw Error(folder + "/run.json cannot be written: " + e.code().message());
    }
    for (const Diagnostic& d : values.diagnostics) launch::say(d.message);
    launch::say(std::to_string(values.images) + " counter data images evaluated to " +
                std::to_string(values.counters) + " values; read them with: attnscope report " + folder);
    return static_cast<int>(values.failed == 0 ? Exit::success : Exit::cannot_judge);
}

}  // namespace attnscope
