// TOML -> Policy. The only file that knows toml++.
#include <toml++/toml.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "attnscope/error.h"
#include "attnscope/metrics.h"
#include "attnscope/policy.h"

namespace attnscope::gate {
namespace {

constexpr uintmax_t kLargestFile = 1u << 20;

class Reader {
  public:
    explicit Reader(const std::string& origin) : origin_(origin) { policy_.file = origin; }

    Policy read(const toml::table& root);

  private:
    [[noreturn]] void fail(const toml::source_region& at, const std::string& what) const {
        throw Error(origin_ + ":" + std::to_string(at.begin.line) + ":" + std::to_string(at.begin.column) +
                    ": " + what);
    }
    static std::string quoted(std::string_view text) { return "'" + std::string(text.substr(0, 100)) + "'"; }

    /// Every key is known, or the nearest that is is named.
    void check_keys(const toml::table& table, const std::vector<std::string>& known,
                    const std::string& what) const {
        for (const auto& [key, value] : table) {
            if (std::find(known.begin(), known.end(), std::string(key.str())) != known.end()) continue;
            fail(key.source(), what + " has no key " + quoted(key.str()) + "; did you mean '" +
                                   nearest_names(key.str(), known, 1).front() + "'?");
        }
    }
    std::string text(const toml::node& node, const std::string& key) const {
        const auto value = node.value_exact<std::string>();
        if (!value || value->empty()) fail(node.source(), key + " must be words in quotes");
        return *value;
    }
    bool flag(const toml::node& node, const std::string& key) const {
        const auto value = node.value_exact<bool>();
        if (!value) fail(node.source(), key + " must be true or false");
        return *value;
    }
    double amount(const toml::node& node, const std::string& key) const {
        const auto value = node.value<double>();
        if (!node.is_number() || !value || !std::isfinite(*value) || *value < 0)
            fail(node.source(), key + " must be a number from 0 up");
        return *value;
    }
    /// "5%", or a number.
    Allowance allowance(const toml::node& node, const std::string& key) const {
        if (node.is_number()) return {amount(node, key), false};
        const std::string words = node.value_or(std::string());
        double value = 0;
        const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
        std::string_view rest(end, static_cast<size_t>(words.data() + words.size() - end));
        while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
        if (error != std::errc() || rest != "%" || !std::isfinite(value) || value < 0)
            fail(node.source(), key + " must be a number, or a share as \"5%\"");
        return {value / 100, true};
    }
    double share(const toml::node& node, const std::string& key) const {
        const Allowance a = allowance(node, key);
        if (!a.relative || a.amount <= 0 || a.amount >= 1)
            fail(node.source(), key + " must be a share between 0% and 100%, as \"3%\"");
        return a.amount;
    }
    template <class T>
    T choice(const toml::node& node, const std::string& key,
             const std::vector<std::pair<std::string, T>>& choices) const {
        const std::string word = text(node, key);
        std::string all;
        for (const auto& [name, value] : choices) {
            if (name == word) return value;
            all += (all.empty() ? "\"" : ", \"") + name + "\"";
        }
        fail(node.source(), key + " is " + quoted(word) + "; it can be " + all);
    }
    const toml::table& table(const toml::node& node, const std::string& key) const {
        if (!node.is_table()) fail(node.source(), key + " must be a table: [" + key + "]");
        return *node.as_table();
    }
    Limit limit(const toml::table& table) const;
    void check_bounds(const toml::table& table, const Limit& limit) const;
    void check_metric(const toml::node& node, const Limit& limit) const;
    void check_against_others(const toml::table& table, const Limit& limit) const;

    std::string origin_;
    Policy policy_;
};

Policy Reader::read(const toml::table& root) {
    check_keys(root,
               {"version", "cannot_judge", "environment", "data_loss", "new", "classes", "time", "limit"},
               "the policy");
    if (const toml::node* node = root.get("version"); node && node->value<int64_t>() != 1)
        fail(node->source(), "this attnscope reads policies of version 1");
    const std::vector<std::pair<std::string, OnDifference>> on_difference = {
        {"report", OnDifference::report},
        {"cannot-judge", OnDifference::cannot_judge},
        {"fail", OnDifference::fail}};
    if (const toml::node* node = root.get("cannot_judge"))
        policy_.cannot_judge = choice<CannotJudge>(
            *node, "cannot_judge",
            {{"exit-3", CannotJudge::exit_3}, {"pass", CannotJudge::pass}, {"fail", CannotJudge::fail}});
    if (const toml::node* node = root.get("environment"))
        policy_.environment = choice<OnDifference>(*node, "environment", on_difference);
    if (const toml::node* node = root.get("new"))
        policy_.unknown = choice<OnDifference>(*node, "new", on_difference);
    if (const toml::node* node = root.get("data_loss"))
        policy_.allow_data_loss =
            choice<bool>(*node, "data_loss", {{"cannot-judge", false}, {"allow", true}});
    if (const toml::node* node = root.get("classes")) {
        const toml::table& classes = table(*node, "classes");
        check_keys(classes, {"exact", "counters", "time"}, "[classes]");
        if (const toml::node* n = classes.get("exact")) policy_.exact = flag(*n, "exact");
        if (const toml::node* n = classes.get("counters")) policy_.counters = flag(*n, "counters");
        if (const toml::node* n = classes.get("time")) policy_.time = flag(*n, "time");
        if (!policy_.exact && !policy_.counters && !policy_.time)
            fail(node->source(), "every class is switched off: nothing would be judged");
    }
    if (const toml::node* node = root.get("time")) {
        const toml::table& time = table(*node, "time");
        check_keys(time, {"matters", "false_alarms"}, "[time]");
        if (const toml::node* n = time.get("matters")) policy_.time_matters = share(*n, "matters");
        if (const toml::node* n = time.get("false_alarms")) policy_.false_alarms = share(*n, "false_alarms");
    }
    if (const toml::node* node = root.get("limit")) {
        if (!node->is_array_of_tables()) fail(node->source(), "limit must be a list of tables: [[limit]]");
        for (const toml::node& one : *node->as_array()) {
            const Limit next = limit(*one.as_table());
            check_against_others(*one.as_table(), next);
            policy_.limits.push_back(next);
        }
    }
    return policy_;
}

Limit Reader::limit(const toml::table& table) const {
    check_keys(table,
               {"implementation", "kernel", "metric", "may_worsen", "noise", "at_most", "at_least", "is",
                "not", "ignore"},
               "[[limit]]");
    Limit out;
    out.line = static_cast<int>(table.source().begin.line);
    const toml::node* metric = table.get("metric");
    if (!metric) fail(table.source(), "this [[limit]] has no metric: name one, as metric = \"launches\"");
    out.metric = text(*metric, "metric");
    if (const toml::node* n = table.get("implementation")) out.implementation = text(*n, "implementation");
    if (const toml::node* n = table.get("kernel")) out.kernel = text(*n, "kernel");
    if (const toml::node* n = table.get("may_worsen")) out.may_worsen = allowance(*n, "may_worsen");
    if (const toml::node* n = table.get("noise")) out.noise = share(*n, "noise");
    if (const toml::node* n = table.get("at_most")) out.at_most = amount(*n, "at_most");
    if (const toml::node* n = table.get("at_least")) out.at_least = amount(*n, "at_least");
    if (const toml::node* n = table.get("is")) out.is = text(*n, "is");
    if (const toml::node* n = table.get("not")) out.is_not = text(*n, "not");
    if (const toml::node* n = table.get("ignore")) out.ignore = flag(*n, "ignore");
    check_metric(*metric, out);
    check_bounds(table, out);
    return out;
}

/// The pattern names at least one metric, and the bound is of its kind.
void Reader::check_metric(const toml::node& node, const Limit& limit) const {
    std::vector<std::string> names;
    bool any = false, on_kernels = false, words = false, numbers = false, counters = false;
    for (const GateMetric& m : gate_metrics()) {
        names.push_back(m.name);
        if (!matches(limit.metric, m.name)) continue;
        any = true;
        on_kernels = on_kernels || m.of_kernel || m.of_library_call || m.of_copy;
        counters = counters || m.kind == MetricClass::counter;
        (m.kind == MetricClass::exact && m.unit == Unit::none ? words : numbers) = true;
    }
    if (!any)
        fail(node.source(), "there is no metric " + quoted(limit.metric) + "; did you mean '" +
                                nearest_names(limit.metric, names, 1).front() + "'?");
    if (!limit.kernel.empty() && !on_kernels)
        fail(node.source(), "a kernel has no " + quoted(limit.metric) + "; leave 'kernel' out");
    if ((!limit.is.empty() || !limit.is_not.empty()) && !words)
        fail(node.source(), limit.metric + " is a number: bound it with at_most, at_least or may_worsen");
    if ((limit.at_most || limit.at_least || limit.may_worsen) && !numbers)
        fail(node.source(), limit.metric + " is words: bound it with is or not");
    if (limit.noise && !counters)
        fail(node.source(), limit.metric + " has no noise floor: only counters have one; use may_worsen");
}

void Reader::check_bounds(const toml::table& table, const Limit& limit) const {
    if (!limit.ignore && !limit.absolute() && !limit.may_worsen && !limit.noise)
        fail(table.source(),
             "this [[limit]] sets no bound: give may_worsen, noise, at_most, at_least, is, not or ignore");
    if (limit.ignore && (limit.absolute() || limit.may_worsen || limit.noise))
        fail(table.source(), "this [[limit]] both ignores and bounds: it can do one");
    if (limit.at_most && limit.at_least && *limit.at_least > *limit.at_most)
        fail(table.source(), "at_least is greater than at_most: nothing can satisfy both");
    if (!limit.is.empty() && limit.is == limit.is_not)
        fail(table.source(), "'is' and 'not' say the same words: nothing can satisfy both");
}

/// Absolute bounds of one and the same thing add up; they must leave room for a value.
void Reader::check_against_others(const toml::table& table, const Limit& limit) const {
    for (const Limit& other : policy_.limits) {
        if (other.implementation != limit.implementation || other.kernel != limit.kernel ||
            other.metric != limit.metric)
            continue;
        const bool room = !((limit.at_least && other.at_most && *limit.at_least > *other.at_most) ||
                            (limit.at_most && other.at_least && *limit.at_most < *other.at_least));
        const bool words = (limit.is.empty() || other.is.empty() || limit.is == other.is) &&
                           (limit.is.empty() || limit.is != other.is_not) &&
                           (other.is.empty() || other.is != limit.is_not);
        if (!room || !words)
            fail(table.source(), "this [[limit]] contradicts that of line " + std::to_string(other.line) +
                                     ": nothing can satisfy both");
    }
}

}  // namespace

Policy read_policy(std::string_view text, const std::string& origin) {
    toml::table root;
    try {
        root = toml::parse(text, origin);
    } catch (const toml::parse_error& e) {
        throw Error(origin + ":" + std::to_string(e.source().begin.line) + ":" +
                    std::to_string(e.source().begin.column) + ": not TOML: " + std::string(e.description()));
    }
    return Reader(origin).read(root);
}

Policy load_policy(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) throw Error("there is no policy " + file);
    if (std::filesystem::file_size(file, error) > kLargestFile || error)
        throw Error("the policy " + file + " is larger than 1 MiB: is it another file?");
    std::ifstream in(file, std::ios::binary);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    if (!in) throw Error("the policy " + file + " cannot be read");
    return read_policy(bytes.str(), file);
}

}  // namespace attnscope::gate
