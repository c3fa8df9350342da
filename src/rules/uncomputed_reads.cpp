#include <algorithm>

#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> uncomputed_reads(const Analysis& a) {
    double reads = 0, bytes = 0;
    std::vector<std::string> places;
    for (const UncomputedRead& read : a.uncomputed_reads) {
        reads += double(read.count);
        bytes += double(read.bytes.value_or(0));
        const std::string place = (read.location.empty() ? "at an unknown place" : read.location) +
                                  (read.cause.empty() ? "" : " (" + read.cause + ")");
        if (places.size() < 3 && std::find(places.begin(), places.end(), place) == places.end())
            places.push_back(place);
    }
    if (reads == 0) return {};
    Finding f;
    f.subject = "the program";
    f.severity = Severity::warning;
    f.claim = "The program read " + words::plural(reads, "value") +
              " that the virtual GPU never computed: " + words::join(places) +
              ". If it decides by them (a branch, a loop's end, an autotuner), what it launches from there "
              "on is not evidence.";
    f.evidence = {evidence("reads of uncomputed memory or times",
                           Value::of(reads, Unit::count, {Source::trace, a.ground}),
                           "0: every launch is evidence")};
    if (bytes > 0)
        f.evidence.push_back(
            evidence("bytes read", Value::of(bytes, Unit::bytes, {Source::trace, a.ground})));
    f.counter_evidence = {"A value that is only printed or stored changes no launch."};
    f.next_step = collect_command(a, "real", "real");
    return {f};
}

}  // namespace attnscope::rule
