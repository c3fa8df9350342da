#pragma once
// The tables of a comparison's report.
#include <string>
#include <utility>

#include "analysis/cells.h"
#include "attnscope/compare.h"

namespace attnscope::comparing {

/// A comparison, and what several places of its report tell of it, made once. Where nothing could be compared
/// there is nothing to tell.
struct Told {
    explicit Told(const Comparison& c);

    const Comparison& comparison;
    FindingChanges findings;
    std::vector<PredictionError> errors;
};

/// One line an implementation of any of the runs; all comparisons have the same A.
Table implementations_table(const std::vector<Comparison>& comparisons);
/// Inputs, GPU and libraries that differ.
Section settings_section(const Comparison& comparison);
/// What the rules say of one run alone.
Section findings_section(const Told& told);
/// Predictions beside measurements: the errors by metric, the bounds, and each.
Section errors_section(const Told& told);
/// What changed in the kernels, in numbers; `everything`: also what is not told apart.
Section kernels_section(const Comparison& comparison, bool everything);
/// Each figure of an implementation; without `everything` only what differs.
Section figures_section(const Comparison& comparison, bool everything);
/// The line-up, launch by launch; without `everything` only what is not the same.
Section launches_section(const Comparison& comparison, bool everything);

using parts::value_cell, parts::words_cell;

/// "~" stands for what is not told apart, "=" for what is equal.
std::vector<Cell> change_cells(const FigurePair& figure);
/// A, B, B - A and relative: absolute before relative.
void add_figure(Row& row, const FigurePair& figure);
void add_figure_columns(Table& table, const std::string& name_b);
/// What "~" means in a table of these; empty where none stands in it.
std::string tilde_words(const std::vector<const FigurePair*>& figures);

}  // namespace attnscope::comparing
