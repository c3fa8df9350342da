// Several runs of one program: exact values must agree, counters and times become samples.
#include <algorithm>

#include "attnscope/error.h"
#include "attnscope/gate_facts.h"

namespace attnscope::gate {
namespace {

constexpr const char* kDiffer = "the runs differ in it among themselves";

void join_measurements(std::vector<Measurement>& into, const std::vector<Measurement>& from) {
    for (Measurement& m : into) {
        const auto other = std::find_if(from.begin(), from.end(),
                                        [&](const Measurement& o) { return o.metric == m.metric; });
        if (find_gate_metric(m.metric)->kind != MetricClass::exact) {
            if (other != from.end())
                m.samples.insert(m.samples.end(), other->samples.begin(), other->samples.end());
            continue;
        }
        if (other != from.end() && other->known() && m.known() && other->samples == m.samples &&
            other->text == m.text)
            continue;
        if (m.known()) m = {m.metric, {}, {}, kDiffer};
    }
    for (const Measurement& o : from)
        if (std::none_of(into.begin(), into.end(),
                         [&](const Measurement& m) { return m.metric == o.metric; }))
            into.push_back(find_gate_metric(o.metric)->kind == MetricClass::exact
                               ? Measurement{o.metric, {}, {}, kDiffer}
                               : o);
}

/// A part that not every run has: its count is not one number.
void mark_unsteady(Part& part) {
    for (Measurement& m : part.measurements)
        if (find_gate_metric(m.metric)->kind == MetricClass::exact) m = {m.metric, {}, {}, kDiffer};
}

void join_subject(Subject& into, const Subject& from) {
    join_measurements(into.measurements, from.measurements);
    for (Part& part : into.parts) {
        if (const Part* other = from.find_part(part.level, part.place, part.name))
            join_measurements(part.measurements, other->measurements);
        else
            mark_unsteady(part);
    }
    for (const Part& other : from.parts)
        if (!into.find_part(other.level, other.place, other.name)) {
            into.parts.push_back(other);
            mark_unsteady(into.parts.back());
        }
    std::sort(into.parts.begin(), into.parts.end(), [](const Part& a, const Part& b) {
        return std::tie(a.level, a.place, a.name) < std::tie(b.level, b.place, b.name);
    });
}

void append_new(std::vector<std::string>& into, const std::vector<std::string>& from) {
    for (const std::string& text : from)
        if (std::find(into.begin(), into.end(), text) == into.end()) into.push_back(text);
}

std::string difference(const std::vector<Fact>& a, const std::vector<Fact>& b) {
    for (const Fact& fact : a) {
        const auto other =
            std::find_if(b.begin(), b.end(), [&](const Fact& f) { return f.label == fact.label; });
        if (other == b.end() || other->value != fact.value) return fact.label;
    }
    return a.size() == b.size() ? "" : "what is known of it";
}

}  // namespace

GateFacts join(std::vector<GateFacts> runs) {
    if (runs.empty()) throw Error("no run was given: name at least one run's folder");
    // A run that failed before it used a GPU is of no machine: it only says why nothing can be judged.
    const auto of_a_machine = [](const GateFacts& run) { return !run.gpu.empty() || run.unusable.empty(); };
    std::stable_partition(runs.begin(), runs.end(), of_a_machine);
    GateFacts out = std::move(runs.front());
    for (size_t r = 1; r < runs.size(); ++r) {
        const GateFacts& run = runs[r];
        append_new(out.unusable, run.unusable);
        append_new(out.lost, run.lost);
        out.runs += run.runs;
        if (!of_a_machine(run)) continue;
        if (run.ground != out.ground || run.gpu != out.gpu)
            throw Error("the runs are not of one machine: " + out.gpu + " (" +
                        attnscope::to_string(out.ground) + ") and " + run.gpu + " (" +
                        attnscope::to_string(run.ground) + "): gate each with a baseline of its own");
        if (const std::string what = difference(out.inputs, run.inputs); !what.empty())
            out.unusable.push_back("the runs differ in their inputs: " + what);
        if (const std::string what = difference(out.environment, run.environment); !what.empty())
            out.unusable.push_back("the runs differ in their environment: " + what);
        for (Subject& subject : out.subjects) {
            if (const Subject* other = run.find(subject.name))
                join_subject(subject, *other);
            else
                join_subject(subject, Subject{});
        }
        for (const Subject& other : run.subjects)
            if (!out.find(other.name)) {
                Subject empty;
                empty.name = other.name;
                join_subject(empty, other);
                out.subjects.push_back(std::move(empty));
            }
        append_new(out.throttled, run.throttled);
        out.sm_clock.insert(out.sm_clock.end(), run.sm_clock.begin(), run.sm_clock.end());
        if (!out.counter_ground) out.counter_ground = run.counter_ground;
    }
    std::sort(out.subjects.begin(), out.subjects.end(),
              [](const Subject& a, const Subject& b) { return a.name < b.name; });
    return out;
}

}  // namespace attnscope::gate
