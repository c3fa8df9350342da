#include <algorithm>

#include "attnscope/baseline.h"
#include "say.h"

namespace attnscope::gate {
namespace {

using Lines = std::vector<std::string>;

void add(Lines& out, const std::string& what, const std::string& before, const std::string& after) {
    if (before != after) out.push_back(what + ": " + before + " -> " + after);
}

void compare_facts(Lines& out, const std::string& kind, const std::vector<Fact>& before,
                   const std::vector<Fact>& after) {
    const auto value = [](const std::vector<Fact>& facts, const std::string& label) {
        for (const Fact& f : facts)
            if (f.label == label) return f.value;
        return std::string("unknown");
    };
    for (const Fact& f : before) add(out, kind + " " + f.label, f.value, value(after, f.label));
    for (const Fact& f : after)
        if (value(before, f.label) == "unknown") add(out, kind + " " + f.label, "unknown", f.value);
}

std::string samples(const Measurement& m) {
    return say(m) + (m.samples.size() > 1 ? " (" + std::to_string(m.samples.size()) + " runs)" : "");
}

template <class Owner>
void compare_measurements(Lines& out, const std::string& what, const Owner& before, const Owner& after) {
    for (const Measurement& m : before.measurements) {
        const Measurement* other = after.find(m.metric);
        if (!other || !(m == *other))
            add(out, what + " " + m.metric, samples(m), other ? samples(*other) : "not in it");
    }
    for (const Measurement& m : after.measurements)
        if (!before.find(m.metric)) add(out, what + " " + m.metric, "not in it", samples(m));
}

std::string part_title(const Subject& subject, const Part& part) {
    return subject.name + " " + to_string(part.level) + " `" + part.title() + "`" +
           (part.place.empty() ? "" : " in " + part.place);
}

void compare_subjects(Lines& out, const Subject& before, const Subject& after) {
    compare_measurements(out, before.name, before, after);
    for (const Part& p : before.parts) {
        if (const Part* other = after.find_part(p.level, p.place, p.name))
            compare_measurements(out, part_title(before, p), p, *other);
        else
            out.push_back(part_title(before, p) + ": gone");
    }
    for (const Part& p : after.parts)
        if (!before.find_part(p.level, p.place, p.name)) out.push_back(part_title(after, p) + ": new");
    if (before.attention_calls != after.attention_calls)
        out.push_back(before.name + ": the inputs of its attention calls change");
    add(out, before.name + " reason", before.reason.empty() ? "none" : before.reason,
        after.reason.empty() ? "none" : after.reason);
}

}  // namespace

std::vector<std::string> difference(const Baseline& before, const Baseline& after) {
    Lines out;
    const GateFacts &a = before.facts, &b = after.facts;
    add(out, "ground", attnscope::to_string(a.ground), attnscope::to_string(b.ground));
    add(out, "GPU", a.gpu, b.gpu);
    compare_facts(out, "input", a.inputs, b.inputs);
    compare_facts(out, "environment", a.environment, b.environment);
    for (const Subject& s : a.subjects) {
        if (const Subject* other = b.find(s.name))
            compare_subjects(out, s, *other);
        else
            out.push_back(s.name + ": gone");
    }
    for (const Subject& s : b.subjects)
        if (!a.find(s.name)) out.push_back(s.name + ": new");
    return out;
}

}  // namespace attnscope::gate
