#include "report_parts.h"

namespace attnscope::parts {
namespace {

constexpr size_t kMostRows = 200;

Section library_section(const Analysis& a) {
    Section section;
    section.id = "library-calls";
    section.title = "Library calls";
    section.sentence =
        "What cuBLAS and cuDNN were asked for. Which kernels answer, only the library on a real GPU decides.";
    Table table;
    table.id = "library-calls";
    table.title = "Library calls of one iteration";
    table.columns = {{"implementation", "implementation", "", "", false},
                     {"library", "library", "", "", false},
                     {"operation", "operation", "", "", false},
                     {"function", "function", "", "", false},
                     {"attributes", "shape and types", "As the program gave them.", "", false}};
    for (const Implementation& i : a.implementations) {
        for (const Step& s : i.steps) {
            if (!s.call || table.rows.size() >= kMostRows) continue;
            std::string attributes;
            for (const auto& [key, value] : s.call->attributes)
                attributes += (attributes.empty() ? "" : ", ") + key + " " + value;
            Row r;
            r.id = std::to_string(table.rows.size() + 1);
            const auto cell = [](const std::string& text) {
                return text.empty() ? value_cell(Value::missing("not in the record")) : words_cell(text);
            };
            r.cells = {cell(i.title), cell(s.call->library), cell(s.call->operation), cell(s.call->function),
                       cell(attributes)};
            table.rows.push_back(std::move(r));
        }
    }
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
    return section;
}

}  // namespace

std::vector<Section> sections(const Analysis& a) {
    std::vector<Section> out;
    for (Section section : {charts_section(a), prediction_section(a), choice_section(a), counters_section(a),
                            launches_section(a), code_section(a), library_section(a), apart_section(a)})
        if (!section.tables.empty() || !section.charts.empty()) out.push_back(std::move(section));
    return out;
}

}  // namespace attnscope::parts
