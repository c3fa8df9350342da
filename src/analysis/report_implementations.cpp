#include <algorithm>
#include <functional>

#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {

void add_reason(ByReason& all, const std::string& reason, std::string title) {
    auto same = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == reason; });
    if (same == all.end()) same = all.insert(all.end(), {reason, {}});
    same->second.push_back(std::move(title));
}

std::string dim_text(const std::optional<Dim3>& dim) {
    if (!dim) return {};
    return std::to_string((*dim)[0]) + " x " + std::to_string((*dim)[1]) + " x " + std::to_string((*dim)[2]);
}

namespace {

struct Part {
    Column column;
    std::function<Cell(const Implementation&)> cell;
};

Part value_part(const char* id, const char* title, const char* meaning, Value Implementation::*member) {
    return {{id, title, meaning, "", true},
            [member](const Implementation& i) { return value_cell(i.*member); }};
}

const Value& time_of(const Implementation& i) {
    return i.time;
}
const Value& bound_of(const Implementation& i) {
    return i.prediction.bound;
}

double longest(const Analysis& a, const Value& (*of)(const Implementation&)) {
    double most = 0;
    for (const Implementation& i : a.implementations) most = std::max(most, of(i).number.value_or(0));
    return most;
}

/// Beside each other at a glance: bars on one axis.
Part bar_part(const char* id, const char* title, const char* meaning, const char* scale, const Analysis& a,
              const Value& (*of)(const Implementation&)) {
    return {{id, title, meaning, scale, true}, [of, full = longest(a, of)](const Implementation& i) {
                return value_cell(of(i), of(i) ? full : 0);
            }};
}

/// A reading of the kernel with the lowest theoretical occupancy, or why there is none.
Cell of_lowest(const Implementation& i, const std::function<Cell(const Step&)>& cell) {
    if (const Step* lowest = i.lowest_occupancy()) return cell(*lowest);
    return value_cell(Value::missing(!i.launches    ? i.launches.absent
                                     : !i.registers ? i.registers.absent
                                                    : "block or device limits are not in the run"));
}

Part theoretical_part() {
    return {{"theoretical_occupancy", "theoretical occupancy",
             "Warps that fit on an SM at once, for the kernel with the fewest. It does not tell how many are "
             "active, nor how fast it is.",
             "100%: the SM's maximum of warps", true},
            [](const Implementation& i) {
                return of_lowest(i, [](const Step& s) { return value_cell(s.occupancy, 100); });
            }};
}

/// The roles of the main table that were counted: occupancy, DRAM bytes, tensor pipe.
std::vector<Part> counter_parts(const Analysis& a) {
    std::vector<Part> out;
    for (const char* role :
         {counter_role::kAchievedOccupancy, counter_role::kDramBytes, counter_role::kTensorPipe}) {
        const auto shown = std::find_if(a.counter_roles.begin(), a.counter_roles.end(),
                                        [&](const CounterRole& r) { return r.role == role; });
        if (shown == a.counter_roles.end() || !shown->measured) continue;
        const bool bar = shown->unit == Unit::percent;
        out.push_back({{shown->role, short_title(*shown),
                        "Of all kernels of one iteration. " + shown->meaning, bar ? "100%" : "", true},
                       [role, bar](const Implementation& i) {
                           const Value& value = i.counter(role);
                           return value_cell(value, bar && value ? 100 : 0);
                       }});
    }
    return out;
}

/// In the order of their weight: a narrow terminal leaves out the last ones.
std::vector<Part> parts_of(const Analysis& a) {
    std::vector<Part> out;
    const auto add = [&](Part part) { out.push_back(std::move(part)); };
    const auto add_detail = [&](Part part) {
        part.column.detail = true;
        add(std::move(part));
    };
    add({{"implementation", a.has_convention ? "implementation" : "range", "", "", false},
         [](const Implementation& i) { return words_cell(i.title); }});
    if (a.timed())
        add(bar_part("time", "time",
                     "Summed GPU time of one iteration, median. Leaves out gaps between launches.",
                     "the longest of these times", a, time_of));
    add({{"status", "status", "What LibTorch did with it; a refusal's reason is LibTorch's own sentence.", "",
          false},
         [](const Implementation& i) { return words_cell(to_string(i.status)); }});
    // Theoretical and achieved stand side by side.
    std::vector<Part> counters = counter_parts(a);
    const bool counted = !counters.empty();
    if (counted) add(theoretical_part());
    for (Part& part : counters) add(std::move(part));
    add(value_part("launches", "launches",
                   "Kernels, library calls, copies and memsets of one iteration, together.",
                   &Implementation::launches));
    add_detail(value_part("kernels", "kernels", "Kernels of one iteration that are known one by one.",
                          &Implementation::kernels));
    add_detail(value_part(
        "library_calls", "library calls",
        "Calls to cuBLAS, cuDNN ...: one or more kernels each, chosen by the library on a real GPU.",
        &Implementation::library_calls));
    add(value_part("copied_bytes", "copied", "Bytes of all copies of one iteration.",
                   &Implementation::copied_bytes));
    if (!counted) add(theoretical_part());
    add({{"limiter", "limited by", "What runs out first on the SM, for that kernel.", "", false},
         [](const Implementation& i) {
             return of_lowest(i, [](const Step& s) { return words_cell(s.limiter); });
         }});
    if (a.predicted() && longest(a, bound_of) > 0)
        add(bar_part(
            "bound", "time bound",
            "No run of it is faster: a bound from its bytes and FLOPs, not a prediction of the time.",
            "the longest of these bounds", a, bound_of));
    add(value_part(
        "registers", "registers",
        "Registers per thread, the most of its known kernels; of fused attention: of its attention "
        "kernel.",
        &Implementation::registers));
    add(value_part("shared", "shared/CTA",
                   "Static and dynamic shared memory of a CTA, the most of its kernels.",
                   &Implementation::shared));
    add_detail(value_part("copies", "copies", "Copies of one iteration, of any direction.",
                          &Implementation::copies));
    add_detail(
        {{"waves", "waves",
          "CTAs of that kernel's grid, in units of what the whole GPU holds at once. Below 1: SMs stay idle.",
          "", true},
         [](const Implementation& i) {
             return of_lowest(i, [](const Step& s) { return value_cell(s.waves); });
         }});
    add(value_part("score_bytes", "score bytes",
                   "Bytes of the score matrix that its kernels read and write in device memory, by a model; "
                   "caches may keep some from DRAM.",
                   &Implementation::score_bytes));
    add(value_part("peak_memory", "peak memory",
                   "The allocator's peak of allocated bytes during its iterations, inputs included.",
                   &Implementation::peak_memory));
    if (a.timed())
        add_detail(
            value_part("time_iqr", "spread", "Interquartile range of the time.", &Implementation::time_iqr));
    if (!a.predicted() && a.has_convention)
        add_detail(
            {{"difference", "largest difference",
              "Largest absolute difference of the result to that of the implementation it was compared with.",
              "", true},
             [](const Implementation& i) {
                 Cell cell = value_cell(i.max_abs_difference);
                 if (!i.compared_with.empty()) cell.full_text = "compared with " + i.compared_with;
                 return cell;
             }});
    if (std::any_of(a.implementations.begin(), a.implementations.end(),
                    [](const Implementation& i) { return i.non_finite && *i.non_finite.number > 0; }))
        add(value_part("non_finite", "not finite", "Elements of the result that are NaN or infinite.",
                       &Implementation::non_finite));
    return out;
}

Row row(const std::vector<Part>& parts, const Implementation& i) {
    Row r;
    r.id = i.title;
    r.note = i.reason;
    if (i.status == ImplementationStatus::refused) r.status = RowStatus::refused;
    if (i.status == ImplementationStatus::failed) r.status = RowStatus::failed;
    if (i.status == ImplementationStatus::unknown && i.steps.empty()) r.status = RowStatus::not_run;
    if (i.name == "sdpa_auto" && !i.backend.empty() && i.reason.empty())
        r.note = "LibTorch chose " + i.backend + ".";
    for (const Part& part : parts) r.cells.push_back(part.cell(i));
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
    const std::vector<Part> parts = parts_of(a);
    for (const Part& part : parts) table.columns.push_back(part.column);
    const Implementation* best = nullptr;
    for (const Implementation& i : a.implementations)
        if (a.has_convention && i.status == ImplementationStatus::ran && i.time &&
            (!best || *i.time.number < *best->time.number))
            best = &i;
    for (const Implementation& i : a.implementations) {
        table.rows.push_back(row(parts, i));
        if (&i == best) table.rows.back().status = RowStatus::best;
    }
    return table;
}

}  // namespace attnscope::parts
