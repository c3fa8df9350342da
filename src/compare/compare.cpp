#include "attnscope/compare.h"

#include <algorithm>

#include "attnscope/error.h"
#include "figures.h"
#include "settings.h"

namespace attnscope {
namespace {

const char* status(const Implementation& i) {
    switch (i.status) {
        case ImplementationStatus::ran:
            return "ran";
        case ImplementationStatus::refused:
            return "was refused";
        case ImplementationStatus::failed:
            return "failed";
        case ImplementationStatus::unknown:
            return "is not known to have run";
    }
    return "";
}

const Implementation& named(const Analysis& a, const std::string& name, const std::string& run) {
    std::string known;
    for (const Implementation& i : a.implementations) {
        if (i.name == name || i.title == name) return i;
        known += (known.empty() ? "" : ", ") + i.title;
    }
    throw Error("there is no implementation '" + name + "' in run " + run + " (" + a.folder + "); " +
                (known.empty() ? "it holds none" : "it holds " + known));
}

bool launched(const Analysis& a) {
    return std::any_of(a.implementations.begin(), a.implementations.end(),
                       [](const Implementation& i) { return !i.steps.empty(); });
}

std::string why_nothing(const Comparison& c) {
    for (const auto& [name, a] : {std::pair<std::string, const Analysis*>{"A", c.a}, {c.name_b, c.b}})
        if (!launched(*a)) return "run " + name + " (" + a->folder + ") holds no launches";
    if (c.pairs.empty()) {
        const auto all = [](const std::vector<std::string>& names) {
            std::string out;
            for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
            return out;
        };
        return "the runs have no implementation in common: A holds " + all(c.only_a) + "; " + c.name_b +
               " holds " + all(c.only_b);
    }
    for (const ImplementationPair& p : c.pairs)
        if (!p.a->steps.empty() || !p.b->steps.empty()) return {};
    const ImplementationPair& p = c.pairs.front();
    return p.title() + " " + status(*p.a) + " in A and " + status(*p.b) + " in " + c.name_b +
           ", and so it is with all that they have in common";
}

}  // namespace

const Step* ImplementationPair::step_of_a(const StepPair& pair) const {
    return pair.a < 0 ? nullptr : &a->steps[static_cast<size_t>(pair.a)];
}

const Step* ImplementationPair::step_of_b(const StepPair& pair) const {
    return pair.b < 0 ? nullptr : &b->steps[static_cast<size_t>(pair.b)];
}

std::string ImplementationPair::title() const {
    return a->name == b->name ? a->title : a->title + " against " + b->title;
}

double ImplementationPair::count(StepChange change) const {
    double out = 0;
    for (const StepPair& s : steps)
        if (s.change == change) out += double((s.b >= 0 ? step_of_b(s) : step_of_a(s))->times);
    return out;
}

bool ImplementationPair::same_launches() const {
    return std::all_of(steps.begin(), steps.end(),
                       [](const StepPair& s) { return s.change == StepChange::same; });
}

bool ImplementationPair::same_but_for_libraries() const {
    return std::all_of(steps.begin(), steps.end(), [](const StepPair& s) {
        return s.change == StepChange::same || s.change == StepChange::resolved;
    });
}

const FigurePair& ImplementationPair::figure(std::string_view id) const {
    const auto found =
        std::find_if(figures.begin(), figures.end(), [&](const FigurePair& f) { return f.id == id; });
    if (found == figures.end()) throw Error("no figure '" + std::string(id) + "'", Exit::internal);
    return *found;
}

Comparison compare(const Analysis& a, const Analysis& b,
                   const std::vector<std::pair<std::string, std::string>>& pairs, const std::string& name_b) {
    Comparison c;
    c.name_b = name_b;
    c.by_hand = !pairs.empty();
    c.a = &a;
    c.b = &b;
    c.inputs = comparing::input_differences(a, b);
    c.machine = comparing::machine_differences(a, b);
    c.libraries = comparing::library_differences(a, b);
    const auto add = [&](const Implementation& x, const Implementation& y) {
        c.pairs.push_back({&x, &y, line_up(x.steps, y.steps), comparing::figures(x, y)});
    };
    for (const auto& [x, y] : pairs) add(named(a, x, "A"), named(b, y, name_b));
    if (pairs.empty()) {
        std::vector<bool> taken(b.implementations.size());
        for (const Implementation& x : a.implementations) {
            size_t k = 0;
            while (k < taken.size() && (taken[k] || b.implementations[k].name != x.name)) ++k;
            if (k == taken.size()) {
                c.only_a.push_back(x.title);
                continue;
            }
            taken[k] = true;
            add(x, b.implementations[k]);
        }
        for (size_t k = 0; k < taken.size(); ++k)
            if (!taken[k]) c.only_b.push_back(b.implementations[k].title);
    }
    c.nothing = why_nothing(c);
    return c;
}

}  // namespace attnscope
