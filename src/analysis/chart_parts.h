#pragma once
// The pictures, each filled from the analysis alone. One that has nothing to show has no points, and says
// why.
#include <optional>

#include "attnscope/analysis.h"

namespace attnscope::parts {

/// The implementations that pictures show.
struct Drawn {
    std::vector<const Implementation*> list;
    std::string left_out;  ///< a sentence: which are not among them, and why; may be empty
};
/// Those that ran, the longest twelve; sdpa_auto only where its backend has no implementation of its own.
Drawn drawn(const Analysis& analysis);

Chart throughput_chart(const Analysis& analysis, const Drawn& drawn);  ///< occupancy against throughput
Chart roofline_chart(const Analysis& analysis, const Drawn& drawn);
Chart bytes_chart(const Analysis& analysis, const Drawn& drawn);   ///< by level of the memory hierarchy
Chart times_chart(const Analysis& analysis, const Drawn& drawn);   ///< time or bound, stacked by kernel
Chart limits_chart(const Analysis& analysis, const Drawn& drawn);  ///< what limits occupancy
Chart timeline_chart(const Analysis& analysis, const Drawn& drawn);
Chart prediction_chart(const Analysis& analysis, const Drawn& drawn);  ///< bounds against times

namespace chart {

/// Words in place of a picture.
Chart none(Chart chart, std::string why);
/// Not a model's, and not of a virtual GPU or a fixture file.
bool is_measured(const Value& value);
/// Without its formula: a table has it.
Value bare(Value value);
/// The time that stands for an implementation, with the name of its series: "measured", "published".
struct Time {
    Value value;
    std::string series;
};
Time time_of(const Analysis& analysis, const Implementation& implementation);
/// FLOPs / ns, as FLOP/s.
Value throughput(const Value& flops, const Value& nanoseconds);
/// What the picture draws of one implementation, at this time or bound.
Chart::Point throughput_point(const Implementation& implementation, const std::string& series, Value x,
                              const Value& time);
Chart::Axis throughput_axis();
/// The series of pictures of times, in the order of their legend.
std::vector<std::string> kinds_of_time();
/// Of the instructions that any of these uses; nullptr where no roof is known.
const Prediction* highest_roof(const Drawn& drawn);

}  // namespace chart
}  // namespace attnscope::parts
