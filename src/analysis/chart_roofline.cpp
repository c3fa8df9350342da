// The roofline, with the roof of the instructions that each implementation uses.
#include <algorithm>
#include <cmath>

#include "chart_parts.h"
#include "models.h"
#include "words.h"

namespace attnscope::parts {
namespace {

using chart::bare;

Value intensity(const Value& flops, const Value& bytes) {
    const Provenance from{bytes.provenance.source == Source::counter ? Source::computed : Source::model,
                          weaker(flops.provenance.ground, bytes.provenance.ground)};
    for (const Value* part : {&flops, &bytes})
        if (!*part) return Value::missing(part->absent, Unit::none, from);
    if (!(*bytes.number > 0))
        return Value::missing("nothing needs to reach DRAM: the L2 holds it", Unit::none, from);
    return Value::of(*flops.number / *bytes.number, Unit::none, from);
}

/// "DRAM is the lower roof of naive and sdpa_math; ..."
std::string sentence(const Drawn& of) {
    std::vector<std::string> parts;
    const auto add = [&](const char* binds, const std::string& words, const std::string& roof) {
        std::vector<std::string> names;
        for (const Implementation* i : of.list)
            if (i->prediction.binds == binds && (roof.empty() || i->prediction.roof_name == roof))
                names.push_back(i->title);
        if (!names.empty()) parts.push_back(words + " " + words::join(names));
    };
    add("memory", "DRAM binds", "");
    std::vector<std::string> roofs;
    for (const Implementation* i : of.list)
        if (std::find(roofs.begin(), roofs.end(), i->prediction.roof_name) == roofs.end())
            roofs.push_back(i->prediction.roof_name);
    for (const std::string& roof : roofs) add("compute", "the " + roof + " bind", roof);
    add("exponentials", "exponentials bind", "");
    if (parts.empty()) return {};
    return words::capital(words::join(parts, "; ", "; ")) +
           ". What a time leaves between its mark and the roof is not explained by bytes or FLOPs.";
}

void add_roofs(Chart& c, const Drawn& of, const Value& dram) {
    for (const Implementation* i : of.list) {
        const Prediction& p = i->prediction;
        if (!p.roof || std::any_of(c.lines.begin(), c.lines.end(),
                                   [&](const Chart::Line& line) { return line.label == p.roof_name; }))
            continue;
        const double height = *p.roof.number;
        c.lines.push_back(
            {p.roof_name, bare(p.roof), std::max(height / *dram.number, c.x.from), height, c.x.full, height});
    }
    const double start = std::max(c.x.from, c.y.from / *dram.number);  // where the slope enters the picture
    const Prediction* highest = chart::highest_roof(of);
    const double end = highest ? *highest->roof.number / *dram.number : c.x.full;
    c.lines.push_back({"DRAM", bare(dram), start, start * *dram.number, end, end * *dram.number});
}

}  // namespace

Chart roofline_chart(const Analysis& a, const Drawn& of) {
    Chart c;
    c.id = "roofline";
    c.title = "Roofline";
    c.kind = Chart::Kind::scatter;
    c.x = {"FLOP per DRAM byte",
           Unit::none,
           0,
           0,
           "useful FLOPs / bytes that reach DRAM: counted where counters were read, else the model's least",
           true};
    c.y = chart::throughput_axis();
    c.y.log = true;
    c.series = chart::kinds_of_time();
    const auto shape = shape_of(a.workload);
    if (!shape || !a.device)
        return chart::none(
            c, !shape ? "The program did not mark its shape (attnscope.workload), so its FLOPs are not known."
                      : "The run names no device, so its roofs are not known.");
    const Value dram = roofs_of(*a.device, shape->dtype, a.ground).dram;
    if (!dram) return chart::none(c, "The roof of DRAM is not known: " + dram.absent + ".");
    std::vector<double> xs, ys;
    const auto add = [&](const Implementation& i, const Value& bytes, const Value& time,
                         const std::string& series) {
        Chart::Point p = chart::throughput_point(i, series, intensity(i.flops, bytes), time);
        if (p.x && p.y && *p.x.number > 0 && *p.y.number > 0) {
            xs.push_back(*p.x.number);
            ys.push_back(*p.y.number);
        }
        c.points.push_back(std::move(p));
    };
    for (const Implementation* i : of.list) {
        const Value& least = i->prediction.dram_bytes;
        const Value& counted = i->counter(counter_role::kDramBytes);
        add(*i, least, i->prediction.bound, "bound");
        if (const chart::Time time = chart::time_of(a, *i); time.value)
            add(*i, counted && i->time ? counted : least, time.value, time.series);
    }
    if (xs.empty())
        return chart::none(c,
                           "No implementation has both bytes that must reach DRAM and a time or a bound: " +
                               (c.points.empty()     ? "none ran"
                                : c.points.front().x ? c.points.front().y.absent
                                                     : c.points.front().x.absent) +
                               ".");
    if (const Prediction* highest = chart::highest_roof(of)) {
        xs.push_back(*highest->roof.number / *dram.number);  // the ridge
        ys.push_back(*highest->roof.number);
    }
    c.x.from = *std::min_element(xs.begin(), xs.end()) / 3;
    c.x.full = *std::max_element(xs.begin(), xs.end()) * 3;
    c.y.from = *std::min_element(ys.begin(), ys.end()) / 2;
    c.y.full = *std::max_element(ys.begin(), ys.end()) * 2;
    add_roofs(c, of, dram);
    c.sentence = sentence(of);
    if (c.sentence.empty()) c.sentence = "No bound is known of what ran.";
    return c;
}

}  // namespace attnscope::parts
