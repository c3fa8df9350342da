#include <algorithm>
#include <numeric>
#include <set>

#include "attnscope/metrics.h"

namespace attnscope {
namespace {

constexpr size_t kLongest = 200;  // of a name that is compared: the cost is the product of two lengths

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

/// "dram__bytes_read.sum" -> dram, bytes, read, sum
std::set<std::string_view> parts(std::string_view name) {
    std::set<std::string_view> found;
    while (!name.empty()) {
        const size_t end = name.find_first_of("_.");
        if (end != 0) found.insert(name.substr(0, end));
        name.remove_prefix(end == std::string_view::npos ? name.size() : end + 1);
    }
    return found;
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       size_t count) {
    name = name.substr(0, kLongest);
    const std::set<std::string_view> wanted = parts(name);
    struct Rated {
        double cost;
        const std::string* name;
    };
    std::vector<Rated> rated;
    rated.reserve(known.size());
    for (const std::string& candidate : known) {
        const std::string_view other = std::string_view(candidate).substr(0, kLongest);
        const std::set<std::string_view> had = parts(other);
        double common = 0;
        for (const std::string_view part : wanted)
            if (had.count(part) != 0) common += static_cast<double>(part.size());
        // A word in common outweighs its letters being elsewhere: "read_bytes" finds "bytes_read".
        rated.push_back({static_cast<double>(edit_distance(name, other)) - common, &candidate});
    }
    const size_t kept = std::min(count, rated.size());
    std::partial_sort(rated.begin(), rated.begin() + static_cast<ptrdiff_t>(kept), rated.end(),
                      [](const Rated& a, const Rated& b) {
                          return a.cost != b.cost ? a.cost < b.cost : *a.name < *b.name;
                      });
    std::vector<std::string> names;
    for (size_t i = 0; i < kept; ++i) names.push_back(*rated[i].name);
    return names;
}

}  // namespace attnscope
