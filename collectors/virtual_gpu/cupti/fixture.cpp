#include "collectors/virtual_gpu/cupti/fixture.h"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"

namespace attnscope::vgpu::cupti {
namespace {

using Metrics = std::map<std::string, double>;

struct Entry {
    std::regex match;
    Metrics metrics;
};

/// Entries in the file's order; what a name has matched is kept, because a regex takes its time.
struct Table {
    std::vector<Entry> entries;
    std::map<std::string, const Metrics*> matched;

    double value(const std::string& name, const std::string& metric) {
        const auto [known, fresh] = matched.try_emplace(name, nullptr);
        if (fresh)
            for (const Entry& entry : entries)
                if (std::regex_search(name, entry.match)) {
                    known->second = &entry.metrics;
                    break;
                }
        if (known->second)
            if (const auto found = known->second->find(metric); found != known->second->end())
                return found->second;
        return std::numeric_limits<double>::quiet_NaN();
    }
};

struct Fixture {
    std::mutex mutex;
    Table kernels, ranges;
};

Table table(const nlohmann::json& list) {
    Table made;
    for (const nlohmann::json& entry : list) {
        const auto match = entry.at("match").get<std::string>();
        made.entries.push_back(
            {std::regex(match, std::regex::ECMAScript), entry.at("metrics").get<Metrics>()});
    }
    return made;
}

Fixture* load(const std::string& file) {
    try {
        std::ifstream in(file);
        if (!in) throw std::runtime_error("it cannot be opened");
        const nlohmann::json json = nlohmann::json::parse(in);
        if (json.at("attnscope_fixture").get<int>() != 1)
            throw std::runtime_error("\"attnscope_fixture\" is not 1");
        auto fixture = std::make_unique<Fixture>();
        if (json.contains("kernels")) fixture->kernels = table(json.at("kernels"));
        if (json.contains("ranges")) fixture->ranges = table(json.at("ranges"));
        return fixture.release();
    } catch (const std::exception& error) {  // of the file, of JSON, of a regular expression
        report("error", "vgpu-fixture",
               "the fixture " + file + " cannot be used: " + error.what() + "; there are no counter values",
               "write it as collectors/virtual_gpu/cupti/fixture.h says");
        return nullptr;
    }
}

Fixture* fixture() {
    static Fixture* const loaded = [] {
        const char* file = std::getenv("ATTNSCOPE_VGPU_COUNTERS");
        return file && *file ? load(file) : nullptr;
    }();
    return loaded;
}

double look_up(Table Fixture::*table, const std::string& name, const std::string& metric) {
    Fixture* loaded = fixture();
    if (!loaded) return std::numeric_limits<double>::quiet_NaN();
    const std::lock_guard lock(loaded->mutex);
    return (loaded->*table).value(name, metric);
}

}  // namespace

bool fixture_loaded() {
    return fixture() != nullptr;
}

double fixture_kernel(const std::string& mangled_name, const std::string& metric) {
    return look_up(&Fixture::kernels, mangled_name, metric);
}

double fixture_range(const std::string& path, const std::string& metric) {
    return look_up(&Fixture::ranges, path, metric);
}

}  // namespace attnscope::vgpu::cupti
