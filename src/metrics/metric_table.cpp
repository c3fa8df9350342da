#include "metric_table.h"

#include <array>
#include <optional>
#include <set>

#include "attnscope/error.h"
#include "formula.h"

namespace attnscope::metrics {
namespace {

constexpr size_t kColumns = 7;

std::string_view next(std::string_view& rest, std::string_view separator) {
    const size_t end = rest.find(separator);
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + separator.size());
    return part;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\r')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

std::optional<Unit> unit_of(std::string_view word) {
    if (word == "count") return Unit::count;
    if (word == "ratio") return Unit::none;
    for (const Unit unit : {Unit::bytes, Unit::percent, Unit::nanoseconds, Unit::warps, Unit::threads,
                            Unit::bytes_per_second, Unit::flop, Unit::flop_per_second})
        if (word == to_string(unit)) return unit;
    return std::nullopt;
}

class Parser {
  public:
    Parser(std::string_view text, const std::string& origin) : rest_(text), origin_(origin) {}

    std::vector<MetricRole> parse() {
        while (!rest_.empty()) {
            ++line_;
            const std::string_view line = next(rest_, "\n");
            if (!trimmed(line).empty() && line.front() != '#') row(line);
        }
        if (roles_.empty()) throw Error(origin_ + ": no metric in it");
        return std::move(roles_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(origin_ + ", line " + std::to_string(line_) + ": " + what);
    }

    void row(std::string_view line) {
        std::array<std::string_view, kColumns> cell;
        size_t columns = 0;
        for (std::string_view rest = line; !rest.empty(); ++columns) {
            const std::string_view part = trimmed(next(rest, "\t"));
            if (columns < kColumns) cell[columns] = part;
        }
        if (columns != kColumns && columns != kColumns - 1)
            fail(
                "expected role, title, sets, unit, formulas, meaning and, where there are any, absent chips, "
                "separated by tabs");
        const auto& [role, title, sets, unit, formulas, meaning, absent] = cell;
        for (size_t i = 0; i + 1 < kColumns; ++i)
            if (cell[i].empty()) fail("an empty cell; only the absent chips may be left out");
        if (!seen_.emplace(role).second) fail("\"" + std::string(role) + "\" is given twice");
        MetricRole entry;
        entry.role = role;
        entry.title = title;
        entry.meaning = meaning;
        for (std::string_view rest = sets; !rest.empty();) entry.sets.emplace_back(trimmed(next(rest, ",")));
        const std::optional<Unit> known = unit_of(unit);
        if (!known) fail("unknown unit \"" + std::string(unit) + "\"; \"count\" and \"ratio\" have none");
        entry.unit = *known;
        for (std::string_view rest = formulas; !rest.empty();) {
            entry.formulas.emplace_back(trimmed(next(rest, " | ")));
            try {
                check_formula(entry.formulas.back());
            } catch (const Error& e) {
                fail(e.what());
            }
        }
        for (std::string_view rest = absent; !rest.empty();) absent_chips(trimmed(next(rest, ";")), entry);
        roles_.push_back(std::move(entry));
    }

    /// "GA10B GB10B: integrated memory"
    void absent_chips(std::string_view text, MetricRole& entry) const {
        std::string_view reason = text;
        std::string_view chips = next(reason, ":");
        reason = trimmed(reason);
        if (reason.empty()) fail("absent chips look like \"GA10B GB10B: why\"");
        while (!chips.empty())
            if (const std::string_view chip = next(chips, " "); !chip.empty())
                entry.absent.emplace_back(chip, reason);
    }

    std::string_view rest_;
    const std::string& origin_;
    size_t line_ = 0;
    std::set<std::string, std::less<>> seen_;
    std::vector<MetricRole> roles_;
};

}  // namespace

std::vector<MetricRole> parse_metric_table(std::string_view text, const std::string& origin) {
    return Parser(text, origin).parse();
}

}  // namespace attnscope::metrics
