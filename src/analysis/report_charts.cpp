// The report in pictures, as numbers: which ones, and what they have in common.
#include <algorithm>
#include <cmath>

#include "chart_parts.h"
#include "models.h"
#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

constexpr size_t kMostDrawn = 12;

double weight(const Implementation& i) {
    return i.time.number.value_or(i.launches.number.value_or(0));
}

/// One sentence for all that are missing for one reason.
void leave_out_what_needs_a_shape(Section& section) {
    std::vector<std::string> titles;
    std::erase_if(section.charts, [&](const Chart& c) {
        const bool needs = c.id == "occupancy-throughput" || c.id == "bytes" || c.id == "roofline" ||
                           c.id == "prediction-measurement";
        if (!needs || !c.points.empty()) return false;
        titles.push_back("\"" + c.title + "\"");
        return true;
    });
    if (titles.empty()) return;
    section.sentence += (section.sentence.empty() ? "" : " ") + ("No picture of " + words::join(titles)) +
                        ": the program did not mark its shape (attnscope.workload).";
}

}  // namespace

bool is_repeated(const Analysis& a, const Implementation& i) {
    return i.name == "sdpa_auto" && !i.backend.empty() &&
           std::any_of(a.implementations.begin(), a.implementations.end(), [&](const Implementation& other) {
               return other.name == "sdpa_" + i.backend && other.status == ImplementationStatus::ran;
           });
}

Drawn drawn(const Analysis& a) {
    Drawn out;
    for (const Implementation& i : a.implementations) {
        if (i.status != ImplementationStatus::ran || i.steps.empty()) continue;
        if (is_repeated(a, i))
            out.left_out = i.title + " is not drawn: it is sdpa_" + i.backend + " here.";
        else
            out.list.push_back(&i);
    }
    if (out.list.size() <= kMostDrawn) return out;
    std::stable_sort(out.list.begin(), out.list.end(), [](const Implementation* x, const Implementation* y) {
        return weight(*x) > weight(*y);
    });
    out.left_out = "Of " + words::number(double(out.list.size())) + " the " +
                   words::number(double(kMostDrawn)) + " with the most work are drawn.";
    out.list.resize(kMostDrawn);
    return out;
}

namespace chart {

Chart none(Chart chart, std::string why) {
    chart.points.clear();
    chart.lines.clear();
    chart.sentence = std::move(why);
    return chart;
}

bool is_measured(const Value& value) {
    const Ground ground = value.provenance.ground;
    return value.provenance.source != Source::model && ground != Ground::virtual_gpu &&
           ground != Ground::fixture;
}

Value bare(Value value) {
    value.formula.clear();
    return value;
}

Time time_of(const Analysis& a, const Implementation& i) {
    if (i.time) return {bare(i.time), "measured"};
    if (Value published = published_time(a, i)) return {bare(std::move(published)), "published"};
    return {i.time, "measured"};
}

Value throughput(const Value& flops, const Value& nanoseconds) {
    const Ground ground = weaker(flops.provenance.ground, nanoseconds.provenance.ground);
    const Provenance from{nanoseconds.provenance.source == Source::model ? Source::model : Source::computed,
                          nanoseconds.provenance.ground == Ground::imported ? Ground::imported : ground};
    for (const Value* part : {&flops, &nanoseconds})
        if (!*part) return Value::missing(part->absent, Unit::flop_per_second, from);
    if (!(*nanoseconds.number > 0)) return Value::missing("a time of 0", Unit::flop_per_second, from);
    return Value::of(*flops.number / *nanoseconds.number * 1e9, Unit::flop_per_second, from);
}

Chart::Point throughput_point(const Implementation& i, const std::string& series, Value x,
                              const Value& time) {
    Chart::Point p{i.title, series, std::move(x), throughput(i.flops, time), false, "", ""};
    p.measured = p.y && is_measured(p.y);
    return p;
}

Chart::Axis throughput_axis() {
    return {"throughput", Unit::flop_per_second, 0, 0, "useful FLOPs / time", false};
}

std::vector<std::string> kinds_of_time() {
    return {"measured", "published", "bound"};
}

const Prediction* highest_roof(const Drawn& of) {
    const Prediction* highest = nullptr;
    for (const Implementation* i : of.list)
        if (i->prediction.roof && (!highest || *i->prediction.roof.number > *highest->roof.number))
            highest = &i->prediction;
    return highest;
}

}  // namespace chart

Section charts_section(const Analysis& a) {
    Section section;
    section.id = "charts";
    section.title = "In pictures";
    const Drawn of = drawn(a);
    if (of.list.empty()) return section;
    section.sentence = of.left_out;
    section.charts = {throughput_chart(a, of), bytes_chart(a, of),  roofline_chart(a, of),
                      times_chart(a, of),      limits_chart(a, of), timeline_chart(a, of),
                      prediction_chart(a, of)};
    if (!a.workload.has_shape()) leave_out_what_needs_a_shape(section);
    if (std::all_of(section.charts.begin(), section.charts.end(),
                    [](const Chart& c) { return c.points.empty(); }))
        section.charts.clear();
    return section;
}

}  // namespace attnscope::parts
