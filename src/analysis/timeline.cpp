#include "timeline.h"

#include <algorithm>
#include <map>

#include "attnscope/names.h"
#include "kinds.h"
#include "words.h"

namespace attnscope {
namespace {

constexpr double kBlocksOfLane = 100;  // what a lane can show at its width
constexpr size_t kMostLanes = 4;       // streams of one implementation

/// The kind of each launch; a name is looked at once.
class Kinds {
  public:
    explicit Kinds(const Process& process) : process_(process) {}

    const char* of(const Launch& launch) {
        if (launch.name == kNone) return kinds::of(launch.kind, Role::other);
        const auto [it, fresh] = roles_.try_emplace(launch.name, Role::other);
        if (fresh) it->second = role_of(demangle(process_.names[launch.name]));
        return kinds::of(launch.kind, it->second);
    }

  private:
    const Process& process_;
    std::map<uint32_t, Role> roles_;
};

const Sequence& median_iteration(const Process& process, const std::vector<Sequence>& iterations) {
    std::vector<std::pair<double, size_t>> totals;
    for (size_t i = 0; i < iterations.size(); ++i) {
        double sum = 0;
        for (const uint32_t l : iterations[i]) sum += gpu_time(process.launches[l]);
        totals.emplace_back(sum, i);
    }
    std::sort(totals.begin(), totals.end());
    return iterations[totals[totals.size() / 2].second];
}

using Streams = std::map<std::optional<uint64_t>, std::vector<TimelineBlock>>;

std::string name_of(const std::optional<uint64_t>& stream) {
    return stream ? "stream " + words::number(double(*stream)) : "unknown stream";
}

/// The streams that were busy longest have a lane each, the others one together.
std::vector<TimelineLane> lanes_of(Streams streams) {
    std::vector<std::pair<double, std::optional<uint64_t>>> busy;
    for (const auto& [stream, blocks] : streams) {
        double sum = 0;
        for (const TimelineBlock& b : blocks) sum += b.length;
        busy.emplace_back(-sum, stream);
    }
    std::sort(busy.begin(), busy.end());
    std::vector<TimelineLane> lanes;
    for (size_t i = 0; i < busy.size(); ++i) {
        std::vector<TimelineBlock>& blocks = streams[busy[i].second];
        if (i < kMostLanes)
            lanes.push_back({busy.size() == 1 ? std::string() : name_of(busy[i].second), std::move(blocks)});
        else {
            if (i == kMostLanes) lanes.push_back({"other streams", {}});
            lanes.back().blocks.insert(lanes.back().blocks.end(), blocks.begin(), blocks.end());
        }
    }
    return lanes;
}

bool is_several(const TimelineBlock& block) {
    return std::string_view(block.kind) == kinds::kSeveral;
}

}  // namespace

std::vector<TimelineBlock> merge(const std::vector<TimelineBlock>& blocks, double least) {
    std::vector<TimelineBlock> out;
    for (const TimelineBlock& next : blocks) {
        const double end = out.empty() ? 0 : out.back().start + out.back().length;
        const bool one =
            !out.empty() && (next.start < end ||
                             (next.start - end < least && (std::min(out.back().length, next.length) < least ||
                                                           (is_several(out.back()) && is_several(next)))));
        if (!one) {
            out.push_back(next);
            continue;
        }
        TimelineBlock& last = out.back();
        last.length = std::max(end, next.start + next.length) - last.start;
        last.launches += next.launches;
        if (std::string_view(last.kind) != next.kind) last.kind = kinds::kSeveral;
    }
    return out;
}

void set_timeline(Implementation& out, const Process& process, const std::vector<Sequence>& iterations) {
    if (!out.time) {
        out.timeline_absent = out.time.absent;
        return;
    }
    const Sequence& launches = median_iteration(process, iterations);
    uint64_t first = UINT64_MAX, last = 0;
    for (const uint32_t l : launches) {
        first = std::min(first, *process.launches[l].start_ns);
        last = std::max(last, *process.launches[l].end_ns);
    }
    Kinds kinds(process);
    Streams streams;
    for (const uint32_t l : launches) {
        const Launch& launch = process.launches[l];
        streams[launch.stream].push_back(
            {double(*launch.start_ns - first), gpu_time(launch), launch.times, kinds.of(launch)});
    }
    out.timeline = lanes_of(std::move(streams));
    for (TimelineLane& lane : out.timeline) {
        std::stable_sort(lane.blocks.begin(), lane.blocks.end(),
                         [](const TimelineBlock& a, const TimelineBlock& b) { return a.start < b.start; });
        lane.blocks = merge(lane.blocks, double(last - first) / kBlocksOfLane);
    }
}

}  // namespace attnscope
