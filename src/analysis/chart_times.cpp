// Where the time goes, kernel by kernel; where there is none, the bound in its place. And one against the
// other.
#include <algorithm>
#include <cmath>
#include <map>

#include "chart_parts.h"
#include "kinds.h"
#include "models.h"
#include "words.h"

namespace attnscope::parts {
namespace {

using chart::bare;

constexpr size_t kMostNames = 7;  // of kernels, where kinds say too little

/// Kinds of kernels or, in a program that is not attention's, the names that take most of the time.
class Series {
  public:
    explicit Series(const Drawn& of) {
        double other = 0, all = 0;
        std::map<std::string, double> by_name;
        for (const Implementation* i : of.list)
            for (const Step& s : i->steps) {
                const double time = s.time.number.value_or(0);
                all += time;
                by_name[s.name] += time;
                if (kinds::of(s.kind, s.role) == std::string(kinds::kOther)) other += time;
            }
        if (other <= all / 2) {
            list_ = kinds::all();
            return;
        }
        by_name_ = true;
        std::vector<std::pair<double, std::string>> order;
        for (const auto& [name, time] : by_name) order.emplace_back(-time, name);
        std::sort(order.begin(), order.end());
        for (size_t k = 0; k < order.size() && k < kMostNames; ++k) list_.push_back(order[k].second);
        list_.push_back(kinds::kOther);
    }
    const std::vector<std::string>& list() const { return list_; }
    std::string of(const Step& s) const {
        if (!by_name_) return kinds::of(s.kind, s.role);
        return std::find(list_.begin(), list_.end(), s.name) == list_.end() ? kinds::kOther : s.name;
    }

  private:
    bool by_name_ = false;
    std::vector<std::string> list_;
};

/// Parts of one bar in the order of the series, then its whole.
void add_bar(Chart& c, const std::string& label, const std::map<std::string, double>& parts,
             const Value& whole, const std::string& note) {
    for (const std::string& series : c.series) {
        const auto part = parts.find(series);
        if (part == parts.end() || !(part->second > 0)) continue;
        c.points.push_back({label,
                            series,
                            Value::of(part->second, Unit::nanoseconds, whole.provenance),
                            {},
                            chart::is_measured(whole),
                            "",
                            ""});
    }
    c.points.push_back({label, "", bare(whole), {}, chart::is_measured(whole), note, ""});
}

std::string launches(const Implementation& i) {
    return i.launches ? words::plural(*i.launches.number, "launch") : "";
}

/// "Of 7.24 ms of sdpa_math ...": the largest part of the longest bar.
std::string sentence(const Chart& c, bool bound) {
    const Chart::Point *longest = nullptr, *part = nullptr;
    for (const Chart::Point& p : c.points)
        if (p.series.empty() && p.x && (!longest || *p.x.number > *longest->x.number)) longest = &p;
    if (!longest) return {};
    for (const Chart::Point& p : c.points)
        if (!p.series.empty() && p.label == longest->label && p.x && (!part || *p.x.number > *part->x.number))
            part = &p;
    const bool alone = std::none_of(c.points.begin(), c.points.end(),
                                    [&](const Chart::Point& p) { return p.label != longest->label; });
    std::string text = longest->label + (bound ? " has the highest bound" : " takes longest");
    if (part && *longest->x.number > 0) {
        const std::string share = words::percent(std::round(100 * *part->x.number / *longest->x.number));
        text = alone ? share + " of " + longest->label + " is " + part->series
                     : text + "; " + share + " of it is " + part->series;
    }
    return text + (bound ? ". Bounds, not times: no run is faster, each may be slower." : ".");
}

}  // namespace

Chart times_chart(const Analysis& a, const Drawn& of) {
    const bool bound = !a.timed();
    const char* of_what = a.has_convention ? "one iteration" : "all launches";
    Chart c;
    c.id = "time-by-kernel";
    c.title = bound ? "Time bound by kernel" : "GPU time by kernel";
    c.kind = Chart::Kind::stacked_bars;
    c.x = {(bound ? "least time of " : "GPU time of ") + std::string(of_what),
           Unit::nanoseconds,
           0,
           0,
           "one axis for all",
           false};
    const Series series(of);
    c.series = bound ? kinds::all() : series.list();
    bool any = false;
    for (const Implementation* i : of.list) {
        std::map<std::string, double> parts;
        if (bound)
            for (const ModelKernel& k : i->prediction.kernels) parts[kinds::of(k)] += k.bound;
        else
            for (const Step& s : i->steps) parts[series.of(s)] += s.time.number.value_or(0);
        const Value& whole = bound ? i->prediction.bound : i->time;
        if (!whole) parts.clear();
        // Iterations that differ have no times of their launches.
        if (whole &&
            std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.second == 0; }))
            parts[kinds::kSeveral] = *whole.number;
        any = any || whole;
        add_bar(c, i->title, parts, whole, launches(*i));
    }
    if (!any)
        return chart::none(c, "Neither a time nor a bound is known: " + c.points.front().x.absent + ".");
    c.sentence = sentence(c, bound);
    return c;
}

Chart prediction_chart(const Analysis& a, const Drawn& of) {
    Chart c;
    c.id = "prediction-measurement";
    c.title = "Predicted against measured";
    c.kind = Chart::Kind::dots;
    c.x = {"time of one iteration", Unit::nanoseconds, 0, 0, "one axis for all", true};
    c.y = {"bound / time", Unit::percent, 0, 0, "how much of what its roofs allow it reaches", false};
    c.series = chart::kinds_of_time();
    const Implementation* nearest = nullptr;
    double nearest_share = 0;
    std::string absent;
    for (const Implementation* i : of.list) {
        const Value& bound = i->prediction.bound;
        const chart::Time time = chart::time_of(a, *i);
        if (!bound || !time.value || !(*time.value.number > 0)) {
            absent = bound ? time.value.absent : bound.absent;
            continue;
        }
        c.points.push_back({i->title, "bound", bare(bound), {}, false, "", ""});
        Value share = bare(share_of_bound(bound, time.value));
        if (!nearest || *share.number > nearest_share) {
            nearest = i;
            nearest_share = *share.number;
        }
        c.points.push_back(
            {i->title, time.series, time.value, std::move(share), chart::is_measured(time.value), "", ""});
    }
    if (!nearest) return chart::none(c, "Nothing to compare: " + absent + ".");
    c.sentence = nearest->title + " comes nearest to its bound, " +
                 words::percent(std::round(nearest_share)) +
                 " of it; the gap is what DRAM, FLOPs and exponentials do not explain.";
    return c;
}

}  // namespace attnscope::parts
