// When the launches of an iteration were on the GPU.
#include <algorithm>
#include <cmath>

#include "chart_parts.h"
#include "kinds.h"
#include "timeline.h"
#include "words.h"

namespace attnscope::parts {
namespace {

constexpr size_t kMostBlocks = 80;  // of the picture: its table is read by people
constexpr double kFirstStep = 1.0 / 200;

struct Lane {
    std::string label;
    const Implementation* of = nullptr;
    std::vector<TimelineBlock> blocks;
};

size_t blocks_in(const std::vector<Lane>& lanes) {
    size_t count = 0;
    for (const Lane& lane : lanes) count += lane.blocks.size();
    return count;
}

/// On one axis: what the longest lane makes too short to be seen is merged, and more where it is too much.
void bound_blocks(std::vector<Lane>& lanes, double end) {
    for (double least = end * kFirstStep;; least *= 2) {
        for (Lane& lane : lanes) lane.blocks = merge(lane.blocks, least);
        if (blocks_in(lanes) <= kMostBlocks || least > end) return;
    }
}

std::string sentence(const std::vector<Lane>& lanes) {
    const Implementation* emptiest = nullptr;
    double most_idle = 0;
    uint64_t launches = 0;
    for (const Lane& lane : lanes) {
        for (const TimelineBlock& b : lane.blocks) launches += b.launches;
        if (lane.of->timeline.size() != 1 || !lane.of->span || !lane.of->time) continue;
        const double idle = 1 - *lane.of->time.number / *lane.of->span.number;
        if (idle > most_idle) {
            most_idle = idle;
            emptiest = lane.of;
        }
    }
    std::string text = emptiest && most_idle >= 0.01 ? "Between its launches the GPU waits " +
                                                           words::percent(std::round(100 * most_idle)) +
                                                           " of an iteration of " + emptiest->title
                                                     : "Each from its first launch on";
    if (const size_t blocks = blocks_in(lanes); blocks < launches)
        text += "; " + words::plural(double(launches), "launch") + " in " +
                words::plural(double(blocks), "block") + ": what lies too close to be told apart is one";
    return text + ".";
}

}  // namespace

Chart timeline_chart(const Analysis&, const Drawn& of) {
    Chart c;
    c.id = "timeline";
    c.title = "Timeline of launches";
    c.kind = Chart::Kind::lanes;
    c.x = {"time since the first launch", Unit::nanoseconds, 0, 0, "one axis for all", false};
    c.y = {"how long", Unit::nanoseconds, 0, 0, "", false};
    c.series = kinds::all();
    c.shaded = kinds::kSeveral;
    std::vector<Lane> lanes;
    double end = 0;
    std::string absent = "no launch has a start and an end";
    for (const Implementation* i : of.list) {
        if (i->timeline.empty() && !i->timeline_absent.empty()) absent = i->timeline_absent;
        for (const TimelineLane& lane : i->timeline) {
            lanes.push_back({i->title + (lane.stream.empty() ? "" : ", " + lane.stream), i, lane.blocks});
            for (const TimelineBlock& b : lane.blocks) end = std::max(end, b.start + b.length);
        }
    }
    if (lanes.empty() || !(end > 0)) return chart::none(c, "Not drawn: " + absent + ".");
    bound_blocks(lanes, end);
    c.x.full = end;
    for (const Lane& lane : lanes) {
        const Provenance trace{Source::trace, lane.of->time.provenance.ground};
        for (const TimelineBlock& b : lane.blocks)
            c.points.push_back({lane.label, b.kind, Value::of(b.start, Unit::nanoseconds, trace),
                                Value::of(b.length, Unit::nanoseconds, trace), true,
                                b.launches == 1 ? "" : words::plural(double(b.launches), "launch"), ""});
    }
    c.sentence = sentence(lanes);
    return c;
}

}  // namespace attnscope::parts
