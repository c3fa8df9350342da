#pragma once
// Times that a claim of speed may stand on: measured in this run, or published by somebody for the same GPU,
// shape and method (src/data/published.tsv). There are no others.
#include <string>
#include <vector>

#include "attnscope/analysis.h"

namespace attnscope::rule {

struct KnownTime {
    const Implementation* implementation = nullptr;
    Value time;                 ///< ns
    double spread = 0;          ///< interquartile range, ns; 0: not known
    std::string from;           ///< "measured", "published: Hugging Face blog, ..."
    std::string words() const;  ///< "0.1468 ms"; a fixture's says so
};

/// Of every implementation that ran and has one, no twin among them (support.h, distinct); all of one
/// origin, because a time from here and one from elsewhere are not compared: the run's own where it has any,
/// else those of the source that published most. Empty: fewer than two.
std::vector<KnownTime> comparable_times(const Analysis& analysis);

/// nullptr: it has none among them.
const KnownTime* time_of(const std::vector<KnownTime>& times, const Implementation& implementation);

/// `a` is shorter than `b` by more than both spreads.
bool clearly_shorter(const KnownTime& a, const KnownTime& b);

}  // namespace attnscope::rule
