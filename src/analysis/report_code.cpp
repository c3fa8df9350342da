// What the kernels' machine code says: instructions, and the tile that the name holds.
#include <algorithm>
#include <map>

#include "attnscope/sass.h"
#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

constexpr size_t kMostKernels = 60;
constexpr size_t kMostReasons = 3;

Row code_row(const Step& step, size_t number, Ground ground) {
    Row r;
    r.id = std::to_string(number);
    const std::string tile = step.decoded ? step.decoded->tile_words() : std::string();
    r.cells = {words_cell(step.name, step.full_name),
               tile.empty() ? value_cell(Value::missing("its name holds no tile")) : words_cell(tile)};
    if (!step.mix) {
        const std::string why = step.mix_absent.empty() ? "its machine code was not read" : step.mix_absent;
        for (int i = 0; i < 2; ++i) r.cells.push_back(value_cell(Value::missing(why)));
        return r;
    }
    r.cells.push_back(value_cell(Value::of(double(step.mix->total), Unit::count, {Source::binary, ground})));
    r.cells.push_back(words_cell(words::join(sentences(*step.mix), "; ", "; ") + "."));
    return r;
}

}  // namespace

Section code_section(const Analysis& a) {
    Section section;
    section.id = "code";
    section.title = "What the machine code says";
    section.sentence =
        "Instructions as they stand in each kernel's code (SASS), each counted once however often it runs; "
        "tiles as the name gives them.";
    Table table;
    table.id = "code";
    table.title = "Each kernel once";
    table.columns = {
        {"kernel", "kernel", "Short name; the full one on demand.", "", false},
        {"tile", "tile", "Head dimension: queries x keys of a CTA, from the name.", "", false},
        {"instructions", "instructions", "In the code, padding left out.", "", false},
        {"says", "what it holds",
         "mma.sync, wgmma (sm_90a) and tcgen05 (sm_100) are three generations of Tensor Core instructions.",
         "", false}};
    std::map<std::string, bool> seen;
    std::vector<std::string> reasons;
    size_t kernels = 0, read = 0;
    for (const Implementation& i : a.implementations)
        for (const Step& step : i.steps) {
            if (!step.is_kernel() || !seen.emplace(step.full_name, true).second) continue;
            ++kernels;
            if (!step.mix && !step.decoded) {
                if (!step.mix_absent.empty() &&
                    std::find(reasons.begin(), reasons.end(), step.mix_absent) == reasons.end())
                    reasons.push_back(step.mix_absent);
                continue;
            }
            ++read;
            if (table.rows.size() < kMostKernels)
                table.rows.push_back(code_row(step, table.rows.size() + 1, a.ground));
        }
    if (table.rows.empty()) return section;
    if (read < kernels) {
        table.sentence = words::number(double(kernels - read)) + " of " +
                         words::plural(double(kernels), "kernel") + " are not here";
        for (size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i)
            table.sentence += (i == 0 ? ": " : "; ") + reasons[i];
        table.sentence += ".";
    }
    if (read > kMostKernels) table.sentence += " The first " + words::number(double(kMostKernels)) + ".";
    section.tables.push_back(std::move(table));
    return section;
}

}  // namespace attnscope::parts
