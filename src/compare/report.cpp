// A comparison as a report: every renderer serves it.
#include <algorithm>

#include "analysis/words.h"
#include "attnscope/compare.h"
#include "report_tables.h"

namespace attnscope {
namespace {

using comparing::Told;

std::string ground_words(const Analysis& a) {
    const std::string gpu = a.device_name;
    switch (a.ground) {
        case Ground::virtual_gpu:
            return "predicted for " + gpu;
        case Ground::real:
            return (a.timed() || a.counted() ? "measured on " : "recorded on ") + gpu;
        case Ground::imported:
            return "imported, of " + gpu;
        case Ground::fixture:
            return "from a fixture, of " + gpu;
    }
    return gpu;
}

bool fixture(const Analysis& a) {
    return a.counter_ground == Ground::fixture;
}

std::string banner(const std::vector<Comparison>& all) {
    const Analysis& a = *all.front().a;
    std::vector<std::string> others;
    bool predicted = a.predicted(), fixtures = fixture(a);
    for (const Comparison& c : all) {
        others.push_back("with " + c.name_b + ", " + ground_words(*c.b));
        predicted = predicted && c.b->predicted();
        fixtures = fixtures || fixture(*c.b);
    }
    std::string out = "COMPARED A, " + ground_words(a) + ", " + words::join(others, ", and ") + ".";
    if (predicted) out += " Nothing was measured: no time is in either, and none is compared.";
    if (fixtures) out += " Counter values come from a fixture file: no GPU measured them.";
    return out;
}

/// Each run's folder, and the shapes that it was given: the same one once.
std::vector<Fact> strip(const std::vector<Comparison>& all) {
    std::vector<Fact> out = {{"A", all.front().a->folder}};
    std::vector<std::pair<std::string, std::string>> shapes = {{"A", all.front().a->workload.sentence()}};
    for (const Comparison& c : all) {
        out.push_back({c.name_b, c.b->folder});
        shapes.emplace_back(c.name_b, c.b->workload.sentence());
    }
    const bool same = std::all_of(shapes.begin(), shapes.end(),
                                  [&](const auto& shape) { return shape.second == shapes[0].second; });
    if (same && !shapes[0].second.empty())
        out.push_back({all.size() == 1 ? "shape of both" : "shape of all", shapes[0].second});
    for (const auto& [name, shape] : shapes)
        if (!same && !shape.empty()) out.push_back({"shape of " + name, shape});
    return out;
}

std::string named(const std::vector<Finding>& findings, const char* id) {
    for (const Finding& f : findings)
        if (f.id == id) return f.claim;
    return {};
}

std::string sentence(const std::vector<std::string>& parts) {
    return words::capital(words::join(parts, "; ", "; ") + ".");
}

std::vector<std::string> launches_words(const Comparison& c) {
    std::vector<std::string> same, resolved, other, out;
    for (const ImplementationPair& p : c.pairs)
        if (!p.a->steps.empty() || !p.b->steps.empty())
            (p.same_launches() ? same : p.same_but_for_libraries() ? resolved : other).push_back(p.title());
    if (!same.empty()) out.push_back("the same in both: " + words::join(same));
    if (!resolved.empty())
        out.push_back("the same but for library calls, which are kernels in one of them: " +
                      words::join(resolved));
    if (!other.empty()) out.push_back("not the same: " + words::join(other));
    return out;
}

std::vector<std::string> times_words(const Comparison& c) {
    std::vector<std::string> apart, less, more, out;
    for (const ImplementationPair& p : c.pairs) {
        if (p.a->steps.empty() && p.b->steps.empty()) continue;
        const Relation time = p.figure("time").relation;
        if (time == Relation::less) less.push_back(p.title());
        if (time == Relation::more) more.push_back(p.title());
        if (time == Relation::not_told_apart || time == Relation::equal) apart.push_back(p.title());
    }
    if (!less.empty()) out.push_back("less time in " + c.name_b + ": " + words::join(less));
    if (!more.empty()) out.push_back("more time in " + c.name_b + ": " + words::join(more));
    if (!apart.empty()) out.push_back("not told apart by time: " + words::join(apart));
    return out;
}

/// Empty where nothing changed.
std::string findings_words(const FindingChanges& changes) {
    std::vector<std::string> out;
    const auto part = [&](FindingChange::Kind kind, const char* what) {
        const auto n = std::count_if(changes.all.begin(), changes.all.end(),
                                     [&](const FindingChange& change) { return change.kind == kind; });
        if (n > 0) out.push_back(words::plural(double(n), "finding") + (n == 1 ? " is " : " are ") + what);
    };
    part(FindingChange::Kind::added, "new");
    part(FindingChange::Kind::gone, "gone");
    return words::join(out);
}

/// How many predictions were right; empty where there is nothing to hold them against.
std::string errors_words(const std::vector<PredictionError>& errors) {
    double exact = 0, right = 0, bounds = 0, hold = 0;
    for (const PredictionError& e : errors) {
        const bool is_exact = e.claim == PredictionError::Claim::exact;
        (is_exact ? exact : bounds) += 1;
        (is_exact ? right : hold) += e.holds() ? 1 : 0;
    }
    if (exact + bounds == 0) return {};
    return words::number(right) + " of " + words::plural(exact, "exact prediction") +
           " are what was measured, " + words::number(hold) + " of " + words::plural(bounds, "bound") +
           " hold";
}

std::vector<std::string> answer(const Told& told, const std::vector<Finding>& findings) {
    const Comparison& c = told.comparison;
    if (!c.nothing.empty()) return {"Nothing was compared: " + c.nothing + "."};
    std::vector<std::string> out;
    if (const std::string inputs = named(findings, "input-changed"); !inputs.empty()) out.push_back(inputs);
    std::string launches = "Launches are " + words::join(launches_words(c), "; ", "; ");
    if (const std::string changes = findings_words(told.findings); !changes.empty())
        launches += "; " + changes;
    out.push_back(launches + ".");
    if (const std::string errors = errors_words(told.errors); !errors.empty())
        out.push_back(sentence({errors}));
    else if (const std::vector<std::string> times = times_words(c); !times.empty())
        out.push_back(sentence(times));
    else if (c.a->timed() != c.b->timed())
        out.push_back("Only " + (c.a->timed() ? std::string("A") : c.name_b) +
                      " has times: they are held against the bound, not against each other.");
    return out;
}

/// One sentence a run, as far as three go.
std::vector<std::string> answer(const std::vector<Told>& all) {
    std::vector<std::string> out, rest;
    for (const Told& told : all) {
        const Comparison& c = told.comparison;
        if (out.size() == 2 && all.size() > 3) {
            rest.push_back(c.name_b);
            continue;
        }
        std::vector<std::string> parts;
        if (!c.nothing.empty()) {
            out.push_back(c.name_b + ": nothing was compared: " + c.nothing + ".");
            continue;
        }
        if (!c.inputs.empty()) parts.push_back("other inputs");
        if (!c.machine.empty()) parts.push_back("another GPU or driver");
        parts.push_back("launches " + words::join(launches_words(c), ", ", ", "));
        for (const std::string& part : {words::join(times_words(c), "; ", "; "), errors_words(told.errors),
                                        findings_words(told.findings)})
            if (!part.empty()) parts.push_back(part);
        out.push_back(c.name_b + ": " + words::join(parts, "; ", "; ") + ".");
    }
    if (!rest.empty()) out.push_back(words::join(rest) + ": see below.");
    return out;
}

void add_losses(Report& r, const Analysis& a, const std::string& run) {
    for (const Notice& n : a.notices) {
        if (n.level != NoticeLevel::data_loss && n.level != NoticeLevel::error) continue;
        r.notices.push_back(n);
        r.notices.back().message = run + ": " + n.message;
        r.notices.back().first = true;
    }
}

void add_sections(Report& r, const Told& told, bool everything, bool several) {
    using namespace comparing;
    const Comparison& c = told.comparison;
    for (Section section :
         {settings_section(c), errors_section(told), findings_section(told), kernels_section(c, everything),
          figures_section(c, everything), launches_section(c, everything)}) {
        if (section.tables.empty()) continue;
        if (several) {
            section.id += "-" + c.name_b;
            section.title += ": " + c.name_b + " against A";
            for (Table& table : section.tables) table.id += "-" + c.name_b;
        }
        r.sections.push_back(std::move(section));
    }
}

void add_environment(Report& r, const Analysis& a, const std::string& run) {
    for (const Fact& fact : a.environment) r.environment.push_back({run + ": " + fact.label, fact.value});
}

std::string command(const std::vector<Comparison>& all) {
    std::string out = "attnscope compare " + words::shell_word(all.front().a->folder);
    for (const Comparison& c : all) out += " " + words::shell_word(c.b->folder);
    return out + " --details";
}

}  // namespace

Report build_report(const std::vector<Comparison>& all, bool everything) {
    const bool several = all.size() > 1;
    const Analysis& a = *all.front().a;
    Report r;
    std::vector<std::string> names;
    for (const Comparison& c : all) names.push_back(c.name_b);
    r.title = "A against " + words::join(names);
    r.predicted = a.predicted() &&
                  std::all_of(all.begin(), all.end(), [](const Comparison& c) { return c.b->predicted(); });
    r.banner = banner(all);
    r.strip = strip(all);
    for (const Comparison& c : all)
        for (Finding& finding : find_differences(c)) r.findings.push_back(std::move(finding));
    const std::vector<Told> told(all.begin(), all.end());
    r.answer = several ? answer(told) : answer(told.front(), r.findings);
    r.implementations = comparing::implementations_table(all);
    add_losses(r, a, "A");
    if (everything) add_environment(r, a, "A");
    std::vector<std::string> untimed;
    for (const Told& one : told) {
        const Comparison& c = one.comparison;
        add_losses(r, *c.b, c.name_b);
        if (c.nothing.empty()) add_sections(r, one, everything, several);
        if (!a.timed() || !c.b->timed()) untimed.push_back(several ? "A and " + c.name_b : "the two");
        if (everything) add_environment(r, *c.b, c.name_b);
    }
    for (const std::string& which : untimed)
        r.cannot_tell.push_back("Which of " + which + " is faster: times are not in both.");
    r.commands = {command(all)};
    return r;
}

Report build_report(const Comparison& comparison, bool everything) {
    return build_report(std::vector<Comparison>{comparison}, everything);
}

}  // namespace attnscope
