#include <string_view>

#include "attnscope/error.h"
#include "attnscope/metrics.h"
#include "metric_table.h"

namespace attnscope {
namespace {

std::string_view next(std::string_view& rest, std::string_view separator) {
    const size_t end = rest.find(separator);
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + separator.size());
    return part;
}

/// Embedded, so it is never bad input.
std::vector<ProfilerSection> parse(std::string_view text) {
    std::vector<ProfilerSection> sections;
    while (!text.empty()) {
        std::string_view line = next(text, "\n");
        if (line.empty() || line.front() == '#') continue;
        const std::string_view section = next(line, "\t");
        std::string_view sets = next(line, "\t");
        if (sections.empty() || sections.back().section != section) {
            sections.push_back({std::string(section), {}, {}});
            while (!sets.empty()) sections.back().sets.emplace_back(next(sets, ", "));
        }
        sections.back().metrics.emplace_back(line);
    }
    return sections;
}

}  // namespace

const std::vector<ProfilerSection>& nsight_sections() {
    static const std::vector<ProfilerSection> sections = parse(metrics::kEmbeddedNsightSections);
    return sections;
}

}  // namespace attnscope
