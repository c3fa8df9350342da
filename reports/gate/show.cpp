#include "gate/show.h"

#include <array>
#include <string_view>

#include "format.h"

namespace attnscope::reports {
namespace {

std::optional<std::pair<std::string, int>> line_in(const std::string& place) {
    constexpr std::array<std::string_view, 8> endings = {".py",  ".cpp", ".cc", ".cu",
                                                         ".cxx", ".c",   ".h",  ".cuh"};
    const size_t colon = place.rfind(':');
    if (colon == std::string::npos || colon + 1 >= place.size() || place.size() - colon > 8)
        return std::nullopt;
    int line = 0;
    for (size_t i = colon + 1; i < place.size(); ++i) {
        if (place[i] < '0' || place[i] > '9') return std::nullopt;
        line = line * 10 + (place[i] - '0');
    }
    const std::string file = place.substr(0, colon);
    for (const std::string_view ending : endings)
        if (file.size() > ending.size() && file.ends_with(ending) && line > 0) return {{file, line}};
    return std::nullopt;
}

}  // namespace

using gate::Outcome;
using gate::Verdict;

std::string shown(const gate::Measurement& m) {
    if (!m.text.empty()) return m.text;
    const gate::GateMetric* metric = gate::find_gate_metric(m.metric);
    if (m.samples.empty() || !metric) return "—";
    return format(m.number(), metric->unit).with();
}

std::string ground_note(const gate::GateResult& result) {
    switch (result.ground) {
        case Ground::virtual_gpu:
            return "predicted: no GPU was used";
        case Ground::fixture:
            return "fixture: the numbers are made for a test";
        case Ground::imported:
            return "imported";
        case Ground::real:
            break;
    }
    return "measured";
}

const char* verdict_word(const gate::GateResult& result) {
    if (result.count(Outcome::worse) > 0) return "FAILED";
    const bool judged = result.count(Outcome::same) + result.count(Outcome::better) > 0;
    if (!result.no_comparison.empty() || result.count(Outcome::unjudged) > 0 || !judged)
        return "CANNOT JUDGE";
    return "PASSED";
}

const char* symbol(Outcome outcome) {
    switch (outcome) {
        case Outcome::worse:
            return "✗";
        case Outcome::unjudged:
            return "?";
        case Outcome::ambiguous:
            return "~";
        case Outcome::better:
            return "+";
        case Outcome::same:
            return "=";
    }
    return "?";
}

Style style_of(Outcome outcome) {
    return outcome == Outcome::worse      ? Style::problem
           : outcome == Outcome::unjudged ? Style::warning
           : outcome == Outcome::better   ? Style::good
                                          : Style::plain;
}

std::string where_words(const Verdict& v) {
    if (v.subject.empty()) return "the run";
    if (v.part.empty()) return v.subject;
    const bool bare = v.level == gate::Level::copy || v.level == gate::Level::memset;
    return v.subject + ": " + v.part_title + (bare ? std::string(" ") + gate::to_string(v.level) : "");
}

std::string metric_words(const Verdict& v) {
    if (!v.metric.empty()) return v.metric;
    return v.rule.substr(v.rule.find('/') + 1);
}

std::optional<std::pair<std::string, int>> source_line(const Verdict& v) {
    for (const std::string* place : {&v.range, &v.place, &v.subject})
        if (auto found = line_in(*place)) return found;
    return std::nullopt;
}

}  // namespace attnscope::reports
