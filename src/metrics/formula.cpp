#include "formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "attnscope/error.h"

namespace attnscope::metrics {
namespace {

constexpr int kDeepest = 32;  // of parentheses: a user's table may hold anything

bool begins_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool continues_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

std::string as_text(double value) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 10).ptr};
}

/// Recursive descent: sum = product (+- product)*, product = factor (*/ factor)*.
class Walk {
  public:
    /// `use` gives a name's value; nullopt ends the walk without a result.
    Walk(std::string_view formula, const MetricLookup& use) : formula_(formula), use_(use) {}

    double run() {
        const double value = sum();
        if (at_ != formula_.size()) fail("an operator");
        return value;
    }
    bool complete() const { return complete_; }
    const std::string& text() const { return text_; }

  private:
    [[noreturn]] void fail(const char* expected) const {
        throw Error("formula \"" + std::string(formula_.substr(0, 200)) + "\": expected " + expected +
                    " at character " + std::to_string(at_ + 1));
    }
    char peek() {
        while (at_ < formula_.size() && formula_[at_] == ' ') ++at_;
        return at_ < formula_.size() ? formula_[at_] : '\0';
    }
    bool take(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }

    double sum() {
        double value = product();
        while (true) {
            if (take('+')) {
                text_ += " + ";
                value += product();
            } else if (take('-')) {
                text_ += " - ";
                value -= product();
            } else {
                return value;
            }
        }
    }
    double product() {
        double value = factor();
        while (true) {
            if (take('*')) {
                text_ += " x ";
                value *= factor();
            } else if (take('/')) {
                text_ += " / ";
                value /= factor();
            } else {
                return value;
            }
        }
    }
    double factor() {
        const char c = peek();
        if (c == '(') {
            if (++depth_ > kDeepest) fail("fewer parentheses");
            ++at_;
            text_ += "(";
            const double value = sum();
            if (!take(')')) fail("\")\"");
            text_ += ")";
            --depth_;
            return value;
        }
        return begins_name(c) ? name() : number();
    }
    double name() {
        const size_t begin = at_;
        while (at_ < formula_.size() && continues_name(formula_[at_])) ++at_;
        const std::string_view word = formula_.substr(begin, at_ - begin);
        const std::optional<double> value = use_(word);
        complete_ = complete_ && value.has_value();
        text_.append(word);
        if (value) text_ += " " + as_text(*value);
        return value.value_or(0);
    }
    double number() {
        double value = 0;
        const char* const end = formula_.data() + formula_.size();
        const auto [stop, error] = std::from_chars(formula_.data() + at_, end, value);
        if (error != std::errc()) fail("a metric's name or a number");
        at_ = static_cast<size_t>(stop - formula_.data());
        text_ += as_text(value);
        return value;
    }

    std::string_view formula_;
    const MetricLookup& use_;
    size_t at_ = 0;
    int depth_ = 0;
    bool complete_ = true;
    std::string text_;
};

}  // namespace

void check_formula(std::string_view formula) {
    const MetricLookup any = [](std::string_view) { return std::optional<double>(1); };
    Walk(formula, any).run();
}

std::optional<MetricResult> evaluate_formula(std::string_view formula, const MetricLookup& lookup) {
    Walk walk(formula, lookup);
    const double value = walk.run();
    if (!walk.complete() || !std::isfinite(value)) return std::nullopt;
    return MetricResult{value, walk.text()};
}

}  // namespace attnscope::metrics

namespace attnscope {

std::vector<std::string> vendor_names(std::string_view formula) {
    std::vector<std::string> names;
    const MetricLookup note = [&](std::string_view name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
        return std::optional<double>(1);
    };
    metrics::evaluate_formula(formula, note);
    return names;
}

const std::string* formula_of(const MetricRole& role, const std::function<bool(const std::string&)>& known) {
    for (const std::string& formula : role.formulas) {
        const std::vector<std::string> names = vendor_names(formula);
        if (std::all_of(names.begin(), names.end(), known)) return &formula;
    }
    return nullptr;
}

std::optional<MetricResult> evaluate(const MetricRole& role, const MetricLookup& lookup) {
    for (const std::string& formula : role.formulas)
        if (std::optional<MetricResult> result = metrics::evaluate_formula(formula, lookup)) return result;
    return std::nullopt;
}

}  // namespace attnscope
