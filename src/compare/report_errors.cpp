// Predictions beside their measurements.
#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"
#include "analysis/words.h"
#include "report_tables.h"

namespace attnscope::comparing {
namespace {

using Errors = std::vector<const PredictionError*>;

std::string subject(const PredictionError& e) {
    return e.kernel.empty() ? e.implementation : e.implementation + ": " + e.kernel;
}

/// Of one metric each, in the order in which they come first.
std::vector<Errors> by_metric(const std::vector<PredictionError>& all, bool bounds) {
    std::vector<Errors> out;
    for (const PredictionError& e : all) {
        if ((e.claim != PredictionError::Claim::exact) != bounds) continue;
        auto known = std::find_if(out.begin(), out.end(), [&](const Errors& errors) {
            return errors.front()->figure.id == e.figure.id;
        });
        if (known == out.end()) known = out.emplace(out.end());
        known->push_back(&e);
    }
    return out;
}

/// How far a prediction is off, percent of what was measured; a prediction of something where nothing was
/// measured has no such share.
Value size_of_error(const PredictionError& e) {
    Value out = e.figure.relative();
    if (!out && e.holds()) return Value::of(0, Unit::percent, out.provenance);
    if (out) *out.number = std::fabs(*out.number);
    return out;
}

Value share(const PredictionError& e) {
    const Value relative = e.figure.relative();
    return relative ? Value::of(100 + *relative.number, Unit::percent, relative.provenance) : relative;
}

Value median(const Errors& errors, Value (*of)(const PredictionError&)) {
    std::vector<double> numbers;
    Value some = of(*errors.front());
    for (const PredictionError* e : errors)
        if (const Value value = of(*e)) {
            numbers.push_back(*value.number);
            some = value;
        }
    if (numbers.empty()) return some;
    std::sort(numbers.begin(), numbers.end());
    return Value::of(quantile(numbers, 0.5), Unit::percent, some.provenance);
}

Value counted(double number, const PredictionError& e) {
    return Value::of(number, Unit::count,
                     {Source::computed, weaker(e.figure.a.provenance.ground, e.figure.b.provenance.ground)});
}

double holding(const Errors& errors) {
    return double(
        std::count_if(errors.begin(), errors.end(), [](const PredictionError* e) { return e->holds(); }));
}

/// The one with the largest value; those without one are the largest.
const PredictionError& largest(const Errors& errors, Value (*of)(const PredictionError&)) {
    return **std::max_element(errors.begin(), errors.end(),
                              [of](const PredictionError* x, const PredictionError* y) {
                                  return of(*x).number.value_or(INFINITY) < of(*y).number.value_or(INFINITY);
                              });
}

Table summary(const std::vector<PredictionError>& all) {
    Table table;
    table.id = "errors-by-metric";
    table.title = "Errors by metric";
    table.sentence = "An error is predicted - measured, of the measured figure.";
    table.columns = {{"metric", "metric", "", "", false},
                     {"compared", "compared", "Figures that both runs have.", "", true},
                     {"exact", "exact", "Predicted and measured are the same number.", "", true},
                     {"median", "median error", "Without their signs.", "", true},
                     {"largest", "largest error", "", "", true},
                     {"of", "of", "", "", false}};
    for (const Errors& errors : by_metric(all, false)) {
        const PredictionError& worst = largest(errors, size_of_error);
        Row row;
        row.id = worst.figure.id;
        row.cells = {words_cell(worst.figure.title),
                     value_cell(counted(double(errors.size()), worst)),
                     value_cell(counted(holding(errors), worst)),
                     value_cell(median(errors, size_of_error)),
                     value_cell(size_of_error(worst)),
                     words_cell(worst.holds() ? "none" : subject(worst))};
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table bounds(const std::vector<PredictionError>& all) {
    Table table;
    table.id = "bounds-by-metric";
    table.title = "Bounds against measurements";
    table.sentence = "A bound says what cannot be passed, not how much it is.";
    table.columns = {{"metric", "bound", "", "", false},
                     {"compared", "compared", "", "", true},
                     {"hold", "hold", "Measurements on the right side of their bound.", "", true},
                     {"median", "bound / measured, median", "", "", true},
                     {"closest", "closest or broken", "", "", true},
                     {"of", "of", "", "", false}};
    for (const Errors& errors : by_metric(all, true)) {
        const bool least = errors.front()->claim == PredictionError::Claim::at_least;
        const auto nearness = +[](const PredictionError& e) {
            Value value = share(e);
            if (value && e.claim == PredictionError::Claim::at_most) *value.number = -*value.number;
            return value;
        };
        const PredictionError& closest = largest(errors, nearness);
        Row row;
        row.id = closest.figure.id;
        row.cells = {words_cell(closest.figure.title + (least ? " (at least)" : " (at most)")),
                     value_cell(counted(double(errors.size()), closest)),
                     value_cell(counted(holding(errors), closest)),
                     value_cell(median(errors, share)),
                     value_cell(share(closest)),
                     words_cell(subject(closest))};
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table each(const std::vector<PredictionError>& all) {
    Table table;
    table.id = "errors";
    table.title = "Each prediction";
    table.columns = {{"of", "of", "", "", false},
                     {"metric", "metric", "", "", false},
                     {"predicted", "predicted", "", "", true},
                     {"measured", "measured", "", "", true},
                     {"error", "error", "Predicted - measured.", "", true, true},
                     {"relative", "relative", "Of the measured figure.", "", true, true}};
    size_t right = 0;
    for (const PredictionError& e : all) {
        if (e.claim == PredictionError::Claim::exact && e.holds()) {
            ++right;
            continue;
        }
        Row row;
        row.id = std::to_string(table.rows.size() + 1);
        const char* bound = e.claim == PredictionError::Claim::at_least  ? " (at least)"
                            : e.claim == PredictionError::Claim::at_most ? " (at most)"
                                                                         : "";
        row.cells = {
            words_cell(subject(e)), words_cell(e.figure.title + bound), value_cell(e.figure.b),
            value_cell(e.figure.a), value_cell(e.figure.difference()),  value_cell(e.figure.relative())};
        if (!e.holds() && *bound) row.note = "the bound is broken";
        table.rows.push_back(std::move(row));
    }
    table.sentence =
        words::plural(double(right), "exact prediction") + (right == 1 ? " is" : " are") + " not shown.";
    return table;
}

}  // namespace

Section errors_section(const Told& told) {
    Section section;
    section.id = "prediction-errors";
    section.title = "Predictions and their errors";
    const std::vector<PredictionError>& all = told.errors;
    if (all.empty()) return section;
    const Comparison& c = told.comparison;
    const std::string predicted = c.a->predicted() ? "A" : c.name_b,
                      measured = c.a->predicted() ? c.name_b : "A";
    section.sentence = predicted + " is the prediction, " + measured + " the measurement.";
    for (Table table : {summary(all), bounds(all), each(all)})
        if (!table.rows.empty()) section.tables.push_back(std::move(table));
    return section;
}

}  // namespace attnscope::comparing
