#include "gpu_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "attnscope/error.h"

namespace attnscope {
namespace {

constexpr std::string_view kAssumed = "assumed";
constexpr std::string_view kEverything = "*";
constexpr std::string_view kCapability = "sm_";
constexpr size_t kColumns = 5;

std::string_view next(std::string_view& rest, char separator) {
    const size_t end = rest.find(separator);
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return part;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\r')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

class Parser {
  public:
    Parser(std::string_view text, const std::string& origin) : rest_(text), origin_(origin) {}

    std::vector<TableGpu> parse() {
        while (!rest_.empty()) {
            ++line_;
            const std::string_view line = next(rest_, '\n');
            if (!trimmed(line).empty() && line.front() != '#') row(line);
        }
        return assemble();
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(origin_ + ", line " + std::to_string(line_) + ": " + what);
    }

    void row(std::string_view line) {
        std::array<std::string_view, kColumns> cell;
        size_t columns = 0;
        for (std::string_view rest = line; !rest.empty(); ++columns) {
            const std::string_view part = trimmed(next(rest, '\t'));
            if (columns < kColumns) cell[columns] = part;
        }
        if (columns != kColumns)
            fail(
                "expected scope, key, value, unit and source separated by tabs; give \"assumed\" where there "
                "is no source");
        const auto& [scope, key, value, unit, source] = cell;
        if (scope.empty() || key.empty() || value.empty() || source.empty())
            fail("an empty cell; only the unit may be empty");
        if (!seen_.emplace(scope, key).second)
            fail("\"" + std::string(key) + "\" is given twice for " + std::string(scope));
        const bool shared = scope == kEverything || scope.starts_with(kCapability);
        if (!shared && !gpus_.contains(std::string(scope))) {
            order_.emplace_back(scope);
            gpus_[order_.back()].gpu.id = scope;
        }
        if (unit == "text") {
            if (shared) fail("only a GPU has text, not a scope");
            text(gpus_[std::string(scope)], key, value);
            return;
        }
        Figure figure;
        figure.key = key;
        figure.unit = unit;
        figure.source = source;
        figure.assumed = source == kAssumed;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), figure.value);
        if (error != std::errc() || end != value.data() + value.size())
            fail("\"" + std::string(value) + "\" is not a number");
        figures_[std::string(scope)].push_back(std::move(figure));
    }

    void text(TableGpu& entry, std::string_view key, std::string_view value) {
        if (key == "name") {
            entry.gpu.name = value;
        } else if (key == "chip") {
            entry.gpu.chip = value;
        } else if (key == "compute_capability") {
            const char* const end = value.data() + value.size();
            const auto major = std::from_chars(value.data(), end, entry.gpu.major);
            if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.' ||
                std::from_chars(major.ptr + 1, end, entry.gpu.minor).ptr != end)
                fail("a compute capability looks like 9.0");
        } else if (key == "aliases") {
            for (std::string_view rest = value; !rest.empty();)
                entry.aliases.emplace_back(trimmed(next(rest, ',')));
        } else {
            fail("unknown text \"" + std::string(key) + "\"; known: name, chip, compute_capability, aliases");
        }
    }

    /// Lays the narrower scope over the wider one.
    static void overlay(std::vector<Figure>& base, const std::vector<Figure>& over) {
        for (const Figure& figure : over) {
            const auto same =
                std::find_if(base.begin(), base.end(), [&](const Figure& f) { return f.key == figure.key; });
            if (same == base.end())
                base.push_back(figure);
            else
                *same = figure;
        }
    }

    std::vector<TableGpu> assemble() {
        std::vector<TableGpu> table;
        for (const std::string& id : order_) {
            TableGpu entry = std::move(gpus_[id]);
            if (entry.gpu.name.empty() || entry.gpu.chip.empty() || entry.gpu.major == 0)
                throw Error(origin_ + ": " + id + " needs rows for name, chip and compute_capability");
            const std::string capability =
                std::string(kCapability) + std::to_string(entry.gpu.major * 10 + entry.gpu.minor);
            overlay(entry.gpu.figures, figures_[std::string(kEverything)]);
            overlay(entry.gpu.figures, figures_[capability]);
            overlay(entry.gpu.figures, figures_[id]);
            table.push_back(std::move(entry));
        }
        if (table.empty()) throw Error(origin_ + ": no GPU in it");
        return table;
    }

    std::string_view rest_;
    const std::string& origin_;
    size_t line_ = 0;
    std::vector<std::string> order_;
    std::map<std::string, TableGpu> gpus_;
    std::map<std::string, std::vector<Figure>> figures_;  // by scope
    std::set<std::pair<std::string, std::string>> seen_;
};

}  // namespace

std::vector<TableGpu> parse_gpu_table(std::string_view text, const std::string& origin) {
    return Parser(text, origin).parse();
}

}  // namespace attnscope
