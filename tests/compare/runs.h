#pragma once
// Runs that the comparison's tests hold against one another.
#include "attnscope/compare.h"
#include "blog_run.h"

namespace attnscope::test {

inline Analysis blog(const BlogOptions& options = {}) {
    TemporaryFolder folder;
    write_blog_run(folder.path() / "run", options);
    return analyze(read_run(folder.path() / "run"));
}

/// Times, and counters from a run of its own.
inline Analysis measured_blog(BlogOptions options = {}, const BlogCounters& values = {}) {
    TemporaryFolder folder;
    options.ground = "real";
    options.times = true;
    write_counted_blog_run(folder.path() / "run", options, values);
    return analyze(read_run(folder.path() / "run"));
}

/// As many iterations as a spread needs, or fewer.
inline Analysis measured_blog(int iterations) {
    BlogOptions options;
    options.iterations = iterations;
    return measured_blog(options);
}

inline Analysis of_lines(const ProcessWriter& w, const std::string& ground = "virtual") {
    TemporaryFolder folder;
    write_text(folder.path() / "run.json", run_json(ground));
    write_text(folder.path() / "p.jsonl", w.text());
    return analyze(read_run(folder.path()));
}

inline const ImplementationPair* pair_named(const Comparison& c, const std::string& name) {
    for (const ImplementationPair& p : c.pairs)
        if (p.a->name == name) return &p;
    return nullptr;
}

inline const Finding* find(const std::vector<Finding>& findings, const std::string& id,
                           const std::string& subject = {}) {
    for (const Finding& f : findings)
        if (f.id == id && (subject.empty() || f.subject == subject)) return &f;
    return nullptr;
}

/// The figure of an evidence, or what cannot be.
inline double evidence(const Finding& f, const std::string& label) {
    for (const Evidence& e : f.evidence)
        if (e.label == label) return e.value.number.value_or(-1);
    return -2;
}

}  // namespace attnscope::test
