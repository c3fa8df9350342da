#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {

Cell words_cell(std::string text, std::string full) {
    Cell cell;
    cell.text = std::move(text);
    if (full != cell.text) cell.full_text = std::move(full);
    return cell;
}

Cell value_cell(const Value& value, double bar_of) {
    Cell cell;
    cell.value = value;
    cell.bar_of = bar_of;
    return cell;
}

std::string dim_text(const std::optional<Dim3>& dim) {
    if (!dim) return {};
    return std::to_string((*dim)[0]) + " x " + std::to_string((*dim)[1]) + " x " + std::to_string((*dim)[2]);
}

namespace {

const char* status_word(const Implementation& i) {
    switch (i.status) {
        case ImplementationStatus::ran:
            return "ran";
        case ImplementationStatus::refused:
            return "refused";
        case ImplementationStatus::failed:
            return "failed";
        case ImplementationStatus::unknown:
            return "not known";
    }
    return "";
}

std::vector<Column> columns(const Analysis& a) {
    std::vector<Column> c = {
        {"implementation", a.has_convention ? "implementation" : "range", "", "", false},
        {"status", "status", "What LibTorch did with it; a refusal's reason is LibTorch's own sentence.", "",
         false},
        {"launches", "launches", "Kernels, library calls, copies and memsets of one iteration, together.", "",
         true},
        {"kernels", "kernels", "Kernels of one iteration that are known one by one.", "", true},
        {"library_calls", "library calls",
         "Calls to cuBLAS, cuDNN ...: one or more kernels each, chosen by the library on a real GPU.", "",
         true},
        {"copied_bytes", "copied", "Bytes of all copies of one iteration.", "", true},
        {"theoretical_occupancy", "theoretical occupancy",
         "Warps that fit on an SM at once, for the kernel with the fewest. It does not tell how many are "
         "active, nor how fast it is.",
         "100%: the SM's maximum of warps", true},
        {"limiter", "limited by", "What runs out first on the SM, for that kernel.", "", false},
        {"registers", "registers",
         "Registers per thread, the most of its known kernels; of fused attention: of its attention kernel.",
         "", true},
        {"shared", "shared/CTA", "Static and dynamic shared memory of a CTA, the most of its kernels.", "",
         true},
        {"copies", "copies", "Copies of one iteration, of any direction.", "", true},
        {"waves", "waves",
         "CTAs of that kernel's grid, in units of what the whole GPU holds at once. Below 1: SMs stay idle.",
         "", true},
        {"score_bytes", "score bytes",
         "Bytes of the score matrix that its kernels read and write in device memory, by a model; caches may "
         "keep some from DRAM.",
         "", true},
        {"peak_memory", "peak memory",
         "The allocator's peak of allocated bytes during its iterations, inputs included.", "", true},
    };
    if (a.timed())
        c.push_back({"time", "time",
                     "Summed GPU time of one iteration, median. Leaves out gaps between launches.", "",
                     true});
    if (a.timed()) c.push_back({"time_iqr", "spread", "Interquartile range of that time.", "", true});
    if (!a.predicted() && a.has_convention)
        c.push_back(
            {"difference", "largest difference",
             "Largest absolute difference of the result to that of the implementation it was compared with.",
             "", true});
    return c;
}

Row row(const Analysis& a, const Implementation& i) {
    Row r;
    r.id = i.title;
    r.note = i.reason;
    if (i.status == ImplementationStatus::refused) r.status = RowStatus::refused;
    if (i.status == ImplementationStatus::failed) r.status = RowStatus::failed;
    if (i.status == ImplementationStatus::unknown && i.steps.empty()) r.status = RowStatus::not_run;
    if (i.name == "sdpa_auto" && !i.backend.empty() && i.reason.empty())
        r.note = "LibTorch chose " + i.backend + ".";
    const Step* lowest = i.lowest_occupancy();
    const Value none = Value::missing(!i.launches    ? i.launches.absent
                                      : !i.registers ? i.registers.absent
                                                     : "block or device limits are not in the run");
    r.cells = {words_cell(i.title),
               words_cell(status_word(i)),
               value_cell(i.launches),
               value_cell(i.kernels),
               value_cell(i.library_calls),
               value_cell(i.copied_bytes),
               lowest ? value_cell(lowest->occupancy, 100) : value_cell(none),
               lowest ? words_cell(lowest->limiter) : value_cell(none),
               value_cell(i.registers),
               value_cell(i.shared),
               value_cell(i.copies),
               lowest ? value_cell(lowest->waves) : value_cell(none),
               value_cell(i.score_bytes),
               value_cell(i.peak_memory)};
    if (a.timed()) r.cells.push_back(value_cell(i.time));
    if (a.timed()) r.cells.push_back(value_cell(i.time_iqr));
    if (!a.predicted() && a.has_convention) {
        r.cells.push_back(value_cell(i.max_abs_difference));
        if (!i.compared_with.empty()) r.cells.back().full_text = "compared with " + i.compared_with;
    }
    return r;
}

}  // namespace

Table implementations_table(const Analysis& a) {
    Table table;
    table.id = "implementations";
    table.title = a.has_convention ? "Implementations" : "What the program launched";
    table.sentence = a.has_convention ? "One iteration of each, warm-up left out."
                                      : "All launches, by outermost NVTX range: mark implementations as "
                                        "schema/README.md says to compare them.";
    table.columns = columns(a);
    const Implementation* best = nullptr;
    for (const Implementation& i : a.implementations)
        if (a.has_convention && i.status == ImplementationStatus::ran && i.time &&
            (!best || *i.time.number < *best->time.number))
            best = &i;
    for (const Implementation& i : a.implementations) {
        table.rows.push_back(row(a, i));
        if (&i == best) table.rows.back().status = RowStatus::best;
    }
    return table;
}

}  // namespace attnscope::parts
