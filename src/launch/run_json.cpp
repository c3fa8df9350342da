#include "run_json.h"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "config_asks.h"

namespace attnscope::launch {
nlohmann::json to_json(const std::vector<Diagnostic>& diagnostics) {
    auto all = nlohmann::json::array();
    for (const Diagnostic& d : diagnostics) {
        nlohmann::json one = {
            {"severity", to_string(d.level)}, {"code", d.code}, {"message", d.message}, {"count", d.count}};
        if (!d.remedy.empty()) one["remedy"] = d.remedy;
        all.push_back(std::move(one));
    }
    return all;
}

void write_run_json(const std::filesystem::path& folder, const nlohmann::json& run) {
    const std::filesystem::path file = folder / "run.json";
    if (!write_whole(file, run.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n'))
        throw std::filesystem::filesystem_error("run.json", file,
                                                std::error_code(errno, std::generic_category()));
}

}  // namespace attnscope::launch
