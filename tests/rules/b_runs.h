#pragma once
// The blog's run (tests/analysis/blog_run.h) for rules about time, counters and occupancy: each test changes
// the numbers it is about.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/rules.h"
#include "blog_run.h"

namespace attnscope::test {

inline Analysis blog(const BlogOptions& options = {}) {
    TemporaryFolder folder;
    write_blog_run(folder.path(), options);
    return analyze(read_run(folder.path()));
}

inline Analysis counted(const BlogOptions& options = {}, const BlogCounters& values = {}) {
    TemporaryFolder folder;
    write_counted_blog_run(folder.path(), options, values);
    return analyze(read_run(folder.path()));
}

/// On a real GPU, with the published times.
inline BlogOptions timed() {
    BlogOptions options;
    options.ground = "real";
    options.times = true;
    return options;
}

inline Implementation& get(Analysis& a, std::string_view name) {
    return *std::find_if(a.implementations.begin(), a.implementations.end(),
                         [&](const Implementation& i) { return i.name == name; });
}

inline Analysis only(Analysis a, std::string_view name) {
    std::erase_if(a.implementations, [&](const Implementation& i) { return i.name != name; });
    return a;
}

inline std::vector<Finding> of(const Analysis& a, std::string_view id) {
    std::vector<Finding> out;
    for (Finding& f : find_all(a))
        if (f.id == id) out.push_back(std::move(f));
    return out;
}

/// The finding of this id about this implementation; nullptr-like empty id when there is none.
inline Finding one(const Analysis& a, std::string_view id, std::string_view subject) {
    for (Finding& f : find_all(a))
        if (f.id == id && f.subject == subject) return std::move(f);
    ADD_FAILURE() << "no finding " << id << " of " << subject;
    return {};
}

inline double number(const Finding& f, std::string_view label) {
    for (const Evidence& e : f.evidence)
        if (e.label == label && e.value) return *e.value.number;
    ADD_FAILURE() << f.id << ": no number '" << label << "'";
    return -1;
}

inline bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

inline bool says(const Finding& f, std::string_view part) {
    return std::any_of(f.counter_evidence.begin(), f.counter_evidence.end(),
                       [&](const std::string& s) { return has(s, part); });
}

/// Gives a kernel, and its implementation, a counter.
inline void count(Implementation& i, std::string_view role, double value, Unit unit = Unit::percent) {
    const Value v = Value::of(value, unit, {Source::counter, Ground::real});
    const auto set = [&](std::vector<Measured>& counters) {
        for (Measured& m : counters)
            if (m.role == role) {
                m.value = v;
                return;
            }
        counters.push_back({std::string(role), v, {}});
    };
    set(i.counters);
    for (Step& s : i.steps)
        if (s.is_kernel()) set(s.counters);
}

inline Value nanoseconds(double value) {
    return Value::of(value, Unit::nanoseconds, {Source::computed, Ground::real});
}

}  // namespace attnscope::test
