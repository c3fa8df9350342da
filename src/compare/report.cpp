// A comparison as a report: every renderer serves it.
#include <algorithm>

#include "analysis/words.h"
#include "attnscope/compare.h"
#include "report_tables.h"

namespace attnscope {
namespace {

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

std::string banner(const Comparison& c) {
    std::string out = "COMPARED A, " + ground_words(*c.a) + ", with B, " + ground_words(*c.b) + ".";
    if (c.a->predicted() && c.b->predicted())
        out += " Nothing was measured: no time is in either, and none is compared.";
    if (c.a->counter_ground == Ground::fixture || c.b->counter_ground == Ground::fixture)
        out += " Counter values come from a fixture file: no GPU measured them.";
    return out;
}

std::vector<Fact> strip(const Comparison& c) {
    std::vector<Fact> out = {{"A", c.a->folder}, {"B", c.b->folder}};
    const std::string x = c.a->workload.sentence(), y = c.b->workload.sentence();
    if (!x.empty() && x == y) out.push_back({"shape of both", x});
    if (!x.empty() && x != y) out.push_back({"shape of A", x});
    if (!y.empty() && x != y) out.push_back({"shape of B", y});
    return out;
}

std::string named(const std::vector<Finding>& findings, const char* id) {
    for (const Finding& f : findings)
        if (f.id == id) return f.claim;
    return {};
}

std::vector<std::string> answer(const Comparison& c, const std::vector<Finding>& findings) {
    std::vector<std::string> out;
    if (!c.nothing.empty()) return {"Nothing was compared: " + c.nothing + "."};
    if (const std::string inputs = named(findings, "input-changed"); !inputs.empty()) out.push_back(inputs);
    std::vector<std::string> same, resolved, other, apart, less, more;
    for (const ImplementationPair& p : c.pairs) {
        if (p.a->steps.empty() && p.b->steps.empty()) continue;
        (p.same_launches() ? same : p.same_but_for_libraries() ? resolved : other).push_back(p.title());
        const Relation time = p.figure("time").relation;
        if (time == Relation::less) less.push_back(p.title());
        if (time == Relation::more) more.push_back(p.title());
        if (time == Relation::not_told_apart || time == Relation::equal) apart.push_back(p.title());
    }
    std::vector<std::string> launches;
    if (!same.empty()) launches.push_back("the same in both: " + words::join(same));
    if (!resolved.empty())
        launches.push_back("the same but for library calls, which are kernels in one of them: " +
                           words::join(resolved));
    if (!other.empty()) launches.push_back("not the same: " + words::join(other));
    out.push_back("Launches are " + words::join(launches, "; ", "; ") + ".");
    std::vector<std::string> times;
    if (!less.empty()) times.push_back("less time in B: " + words::join(less));
    if (!more.empty()) times.push_back("more time in B: " + words::join(more));
    if (!apart.empty()) times.push_back("not told apart by time: " + words::join(apart));
    if (!times.empty()) {
        std::string sentence = words::join(times, "; ", "; ") + ".";
        sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
        out.push_back(std::move(sentence));
    } else if (c.a->timed() != c.b->timed()) {
        out.push_back(std::string("Only ") + (c.a->timed() ? "A" : "B") +
                      " has times: they are held against the bound, not against each other.");
    }
    return out;
}

void add_losses(Report& r, const Analysis& a, const char* run) {
    for (const Notice& n : a.notices) {
        if (n.level != NoticeLevel::data_loss && n.level != NoticeLevel::error) continue;
        r.notices.push_back(n);
        r.notices.back().message = std::string(run) + ": " + n.message;
        r.notices.back().first = true;
    }
}

}  // namespace

Report build_report(const Comparison& c, bool everything) {
    Report r;
    r.title = "A against B";
    r.predicted = c.a->predicted() && c.b->predicted();
    r.banner = banner(c);
    r.strip = strip(c);
    r.findings = find_differences(c);
    r.answer = answer(c, r.findings);
    r.implementations = comparing::implementations_table(c);
    add_losses(r, *c.a, "A");
    add_losses(r, *c.b, "B");
    for (Section section : {comparing::settings_section(c), comparing::launches_section(c, everything),
                            comparing::figures_section(c, everything)})
        if (!section.tables.empty()) r.sections.push_back(std::move(section));
    if (!c.a->timed() || !c.b->timed())
        r.cannot_tell.push_back("Which of the two is faster: times are not in both.");
    for (const auto& [run, analysis] : {std::pair{"A", c.a}, std::pair{"B", c.b}})
        for (const Fact& fact : everything ? analysis->environment : std::vector<Fact>())
            r.environment.push_back({std::string(run) + ": " + fact.label, fact.value});
    r.commands = {"attnscope compare " + words::shell_word(c.a->folder) + " " +
                  words::shell_word(c.b->folder) + " --details"};
    return r;
}

}  // namespace attnscope
