#include "gate/verdict_table.h"

#include <algorithm>
#include <array>

#include "gate/show.h"
#include "unicode.h"

namespace attnscope::reports {
namespace {

using gate::Verdict;

constexpr size_t kGap = 2;

struct Field {
    const char* title;
    bool right;        ///< aligned
    size_t least;      ///< columns that it can be cut to; 0: it is never cut
    size_t leave_out;  ///< 1: the first to be left out for want of room; 0: never
};
constexpr size_t kWhere = 1, kFields = 7;
constexpr std::array<Field, kFields> kTable = {{{"", false, 0, 0},
                                                {"where", false, 12, 0},
                                                {"metric", false, 10, 0},
                                                {"base", true, 6, 3},
                                                {"head", true, 6, 4},
                                                {"change", true, 6, 1},
                                                {"limit", false, 8, 2}}};
using Cells = std::array<std::string, kFields>;

Cells cells_of(const Verdict& v) {
    std::string limit = v.bound;
    if (v.line > 0) limit += " [" + std::to_string(v.line) + "]";
    Cells cells = {std::string(symbol(v.outcome)) + " " + gate::to_string(v.outcome),
                   where_words(v),
                   metric_words(v),
                   shown(v.before),
                   shown(v.after),
                   v.change,
                   limit};
    for (std::string& cell : cells) cell = clean(cell);
    return cells;
}

/// Columns for each field, 0 for one that is left out.
std::array<size_t, kFields> layout(const std::vector<Cells>& rows, size_t width) {
    std::array<size_t, kFields> widths{};
    for (size_t f = 0; f < kFields; ++f) {
        widths[f] = width_of(kTable[f].title);
        for (const Cells& row : rows) widths[f] = std::max(widths[f], width_of(row[f]));
    }
    const auto excess = [&] {
        size_t used = 0;
        for (const size_t w : widths) used += w > 0 ? w + kGap : 0;
        used -= kGap;
        return used > width ? used - width : 0;
    };
    const auto cut = [&](size_t f) {
        const size_t least = std::min(widths[f], kTable[f].least);
        if (least > 0) widths[f] -= std::min(widths[f] - least, excess());
    };
    // Names give way before numbers do.
    for (size_t round = 1;; ++round) {
        for (const size_t f : {kWhere, size_t{2}, size_t{6}, size_t{3}, size_t{4}, size_t{5}}) cut(f);
        if (excess() == 0) return widths;
        bool found = false;
        for (size_t f = 0; f < kFields; ++f)
            if (kTable[f].leave_out == round) {
                widths[f] = 0;
                found = true;
            }
        if (!found) return widths;
    }
}

std::string row_of(const Cells& cells, const std::array<size_t, kFields>& widths) {
    std::string line;
    for (size_t f = 0; f < kFields; ++f) {
        if (widths[f] == 0) continue;
        line += (line.empty() ? "" : std::string(kGap, ' ')) +
                aligned(truncate(cells[f], widths[f]), widths[f], kTable[f].right);
    }
    return line.substr(0, line.find_last_not_of(' ') + 1);
}

}  // namespace

void write_verdicts(TextWriter& out, const std::vector<const Verdict*>& verdicts) {
    std::vector<Cells> rows;
    for (const Verdict* v : verdicts) rows.push_back(cells_of(*v));
    const auto widths = layout(rows, out.width());
    Cells titles;
    std::string dropped;
    size_t all = 0;
    for (size_t f = 0; f < kFields; ++f) {
        titles[f] = kTable[f].title;
        if (widths[f] == 0)
            dropped += (dropped.empty() ? "" : ", ") + titles[f];
        else
            all += widths[f] + (all > 0 ? kGap : 0);
    }
    out.line(out.styled(row_of(titles, widths), Style::bold));
    out.rule(all);
    for (size_t i = 0; i < rows.size(); ++i) {
        const std::string line = row_of(rows[i], widths);
        const size_t sign = rows[i][0].size();
        out.line(out.styled(line.substr(0, sign), style_of(verdicts[i]->outcome)) + line.substr(sign));
    }
    if (!dropped.empty()) out.paragraph("", "Left out for want of columns: " + dropped + ".", Style::dim);
}

}  // namespace attnscope::reports
