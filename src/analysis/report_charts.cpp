// The report in pictures, as numbers.
#include "report_parts.h"

namespace attnscope::parts {
Section charts_section(const Analysis& a) {
    Section section;
    section.id = "charts";
    section.title = "In pictures";
    Chart occupancy;
    occupancy.id = "occupancy";
    occupancy.title = "Theoretical occupancy";
    occupancy.sentence =
        "Of the kernel with the lowest in each. A short bar is no fault by itself: fused attention keeps its "
        "tiles in registers and needs few warps.";
    occupancy.x_title = "theoretical occupancy";
    occupancy.x_unit = Unit::percent;
    occupancy.x_full = 100;
    occupancy.x_scale = "the SM's maximum of warps";
    Chart launches;
    launches.id = "launches";
    launches.title = a.has_convention ? "Launches of one iteration" : "Launches";
    launches.sentence =
        "A library call is one kernel or more; how many is the library's choice on a real GPU.";
    launches.kind = Chart::Kind::stacked_bars;
    launches.x_title = "launches";
    launches.x_unit = Unit::count;
    launches.x_scale = "one axis for all";
    Chart bytes;
    bytes.id = "bytes";
    bytes.title = "Bytes through device memory, by the model";
    bytes.sentence =
        "Every implementation reads q, k, v and writes o; what is left is the score matrix going out and in "
        "again. A model, not a measurement: caches may keep some from DRAM.";
    bytes.kind = Chart::Kind::stacked_bars;
    bytes.x_title = "bytes";
    bytes.x_unit = Unit::bytes;
    bytes.x_scale = "one axis for all";
    Chart counted;
    counted.id = "dram-bytes";
    counted.title = "DRAM bytes of the kernels, counted";
    counted.sentence =
        std::string("What the memory's own counters saw of one iteration's kernels; copies are not in it.") +
        (a.counter_ground == Ground::fixture ? " From a fixture file: no GPU measured it." : "");
    counted.x_title = "bytes";
    counted.x_unit = Unit::bytes;
    counted.x_scale = "one axis for all";
    for (const Implementation& i : a.implementations) {
        if (const Value& dram = i.counter(counter_role::kDramBytes))
            counted.points.push_back(
                {i.title, "counted", *dram.number, 0,
                 dram.provenance.ground == Ground::real || dram.provenance.ground == Ground::imported});
        if (const Step* lowest = i.lowest_occupancy())
            occupancy.points.push_back({i.title, lowest->name, *lowest->occupancy.number, 0, !a.predicted()});
        const bool measured = !a.predicted();
        const auto add = [&](const char* series, const Value& value) {
            if (value.number.value_or(0) > 0)
                launches.points.push_back({i.title, series, *value.number, 0, measured});
        };
        add("kernels", i.kernels);
        add("library calls", i.library_calls);
        add("copies", i.copies);
        add("memsets", i.memsets);
        if (!i.least_bytes || !i.score_bytes) continue;
        bytes.points.push_back({i.title, "q, k, v, o", *i.least_bytes.number, 0, false});
        if (*i.score_bytes.number > 0)
            bytes.points.push_back({i.title, "score matrix", *i.score_bytes.number, 0, false});
    }
    // One series: the kernel's name belongs to the bar, not to a legend.
    for (Chart::Point& point : occupancy.points) {
        if (!point.series.empty() && point.series != point.label) point.label += " (" + point.series + ")";
        point.series = "theoretical";
    }
    for (Chart* chart : {&occupancy, &launches, &bytes, &counted})
        if (!chart->points.empty()) section.charts.push_back(std::move(*chart));
    return section;
}

}  // namespace attnscope::parts
