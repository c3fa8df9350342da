// What each implementation must cost at least, and how fast it can be at best: attnscope/models.h in tables.
#include <algorithm>
#include <functional>

#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

struct Quantity {
    const char* id;
    const char* title;
    const char* meaning;
    Value Prediction::*value;
};

constexpr Quantity kAmounts[] = {
    {"useful_flops", "useful FLOP",
     "By the convention of Dao-AILab/flash-attention's benchmark: 4 x batch x heads x queries x keys x "
     "head_dim, half of it when causal.",
     &Prediction::useful_flops},
    {"executed_flops", "executed FLOP", "What its kernels multiply: the whole square, or whole tiles.",
     &Prediction::executed_flops},
    {"least_bytes", "least bytes", "q, k, v read once, o written once: no implementation moves less.",
     &Prediction::least_bytes},
    {"score_bytes", "score bytes", "The score matrix, through device memory.", &Prediction::score_bytes},
    {"all_bytes", "all bytes", "All that its kernels read and write, without caches.", &Prediction::bytes},
    {"least_dram_bytes", "least DRAM bytes", "Of all bytes, what the L2 cannot keep.",
     &Prediction::dram_bytes},
    {"tile_bytes", "into shared memory", "Tiles of q, k and v that the CTAs of a fused kernel load.",
     &Prediction::tile_bytes},
    {"register_scores", "scores in registers",
     "Scores of a fused kernel, in fp32: they are in registers, tile by tile, and in no memory.",
     &Prediction::register_scores},
    {"least_memory", "least peak memory", "Inputs, output and what must live at once.",
     &Prediction::least_memory},
};

constexpr Quantity kBounds[] = {
    {"bound", "time bound",
     "No run of it is faster: the sum over its kernels, each of which takes the longest of the three times. "
     "A bound, not a prediction of the time.",
     &Prediction::bound},
    {"memory_time", "DRAM alone", "Least DRAM bytes / DRAM bandwidth.", &Prediction::memory_time},
    {"compute_time", "FLOPs alone",
     "The FLOPs of its products / the roof: useful ones where tiles can be skipped, else all.",
     &Prediction::compute_time},
    {"exponential_time", "exponentials alone", "One exponential a score / the MUFU's rate.",
     &Prediction::exponential_time},
    {"intensity", "FLOP/byte", "Useful FLOPs / all bytes.", &Prediction::intensity},
    {"ridge", "ridge", "FLOP/byte from which on the roof binds instead of DRAM: roof / DRAM bandwidth.",
     &Prediction::ridge},
    {"roof", "roof", "Peak of the units that its products run on, dense.", &Prediction::roof},
};

std::vector<const Implementation*> with_figures(const Analysis& a, std::string& left_out) {
    std::vector<const Implementation*> out;
    for (const Implementation& i : a.implementations) {
        if (i.status == ImplementationStatus::refused || !(i.prediction.useful_flops || i.prediction.bound))
            continue;
        if (is_repeated(a, i))
            left_out += " " + i.title + " has the figures of sdpa_" + i.backend + ".";
        else
            out.push_back(&i);
    }
    return out;
}

template <size_t N>
Table quantities_table(const std::vector<const Implementation*>& with, const Quantity (&quantities)[N],
                       const char* id, const char* title) {
    Table table;
    table.id = id;
    table.title = title;
    table.columns = {{"implementation", "implementation", "", "", false}};
    for (const Quantity& q : quantities) table.columns.push_back({q.id, q.title, q.meaning, "", true});
    for (const Implementation* i : with) {
        Row r;
        r.id = i->title;
        r.cells = {words_cell(i->title)};
        for (const Quantity& q : quantities) {
            Cell cell = value_cell(i->prediction.*q.value);
            cell.value.formula.clear();  // it stands once, in the table of formulas
            r.cells.push_back(std::move(cell));
        }
        table.rows.push_back(std::move(r));
    }
    return table;
}

Cell or_missing(const std::string& text, const std::string& why) {
    return text.empty() ? value_cell(Value::missing(why)) : words_cell(text);
}

/// What binds, and by which roof, beside the numbers.
void add_binding(Table& table, const std::vector<const Implementation*>& with) {
    const std::vector<Column> columns = {
        {"binds", "bound by", "What most of the bound is.", "", false},
        {"roof_name", "which roof", "The units that its products run on.", "", false},
        {"l2", "L2", "Whether its data fit into the L2 cache: then they may never reach DRAM.", "", false}};
    table.columns.insert(table.columns.begin() + 2, columns.begin(), columns.end());
    for (size_t k = 0; k < with.size(); ++k) {
        const Prediction& p = with[k]->prediction;
        const std::string why = p.bound ? "not known" : p.bound.absent;
        const std::string l2 = p.l2_note.empty() ? std::string() : p.l2_resident ? "fits" : "too small";
        const std::vector<Cell> cells = {or_missing(p.binds, why), or_missing(p.roof_name, why),
                                         or_missing(l2, "the L2's size is not known")};
        table.rows[k].cells.insert(table.rows[k].cells.begin() + 2, cells.begin(), cells.end());
    }
}

/// Every formula with its values; implementations with the same one share it.
Table formulas_table(const std::vector<const Implementation*>& with) {
    Table table;
    table.id = "formulas";
    table.title = "The formulas, with their values";
    table.columns = {{"quantity", "quantity", "", "", false},
                     {"of", "of", "", "", false},
                     {"formula", "formula", "", "", false}};
    using Text = std::function<std::string(const Prediction&)>;
    const auto add = [&](const char* quantity, const Text& text) {
        std::vector<std::pair<std::string, std::vector<std::string>>> by_text;
        for (const Implementation* i : with) {
            const std::string formula = text(i->prediction);
            if (formula.empty()) continue;
            auto known = std::find_if(by_text.begin(), by_text.end(),
                                      [&](const auto& entry) { return entry.first == formula; });
            if (known == by_text.end()) known = by_text.insert(by_text.end(), {formula, {}});
            known->second.push_back(i->title);
        }
        for (const auto& [formula, titles] : by_text) {
            Row r;
            r.id = std::to_string(table.rows.size() + 1);
            r.cells = {words_cell(quantity),
                       words_cell(titles.size() == with.size() ? "all" : words::join(titles)),
                       words_cell(formula)};
            table.rows.push_back(std::move(r));
        }
    };
    const auto add_quantity = [&](const Quantity& q) {
        add(q.title, [&q](const Prediction& p) {
            const Value& value = p.*q.value;
            return value ? value.formula : std::string();
        });
    };
    for (const Quantity& q : kAmounts) add_quantity(q);
    add("L2", [](const Prediction& p) { return p.l2_note; });
    for (const Quantity& q : kBounds) add_quantity(q);
    return table;
}

}  // namespace

Section prediction_section(const Analysis& a) {
    Section section;
    section.id = "prediction";
    section.title = "Prediction: what it must cost at least";
    std::string left_out;
    const std::vector<const Implementation*> with = with_figures(a, left_out);
    if (with.empty()) return section;
    section.sentence = a.rank.sentence + left_out;
    section.tables.push_back(quantities_table(with, kAmounts, "amounts",
                                              "What must be computed, moved and kept in one iteration"));
    Table bounds = quantities_table(with, kBounds, "bounds", "How fast it can be at best");
    add_binding(bounds, with);
    section.tables.push_back(std::move(bounds));
    if (Table formulas = formulas_table(with); !formulas.rows.empty())
        section.tables.push_back(std::move(formulas));
    return section;
}

}  // namespace attnscope::parts
