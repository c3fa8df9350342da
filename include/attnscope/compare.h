#pragma once
// Two runs side by side, launch by launch: where they differ, and where reality left the prediction. Says
// what changed, never whether that is good enough: no verdict.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnscope/analysis.h"
#include "attnscope/report.h"

namespace attnscope {

/// A thing that is known of both runs and is not the same. What one of them does not hold is no difference.
struct Difference {
    std::string what;  ///< "head_dim", "grid", "cuDNN"
    std::string a, b;  ///< in words
};

enum class StepChange : uint8_t {
    same,
    changed,   ///< the same kernel, copy or call with another grid, other resources, bytes or attributes
    replaced,  ///< another kernel for the same work, in the same place
    resolved,  ///< a library call on one side, the kernels that the library chose on the other
    added,     ///< in B alone
    gone,      ///< in A alone
};
const char* to_string(StepChange change);

/// One line of the line-up.
struct StepPair {
    StepChange change = StepChange::same;
    int a = -1, b = -1;  ///< index into Implementation::steps; -1: none on that side
    std::vector<Difference> differences;
};

/// Lines two sequences of launches up: first by what they are (kernel name, library operation, direction of a
/// copy) as a longest common subsequence, then, between those, by what they are for. In the order of issue.
/// Sequences whose product of lengths, common ends left out, is beyond 10^9 are lined up at their ends alone.
std::vector<StepPair> line_up(const std::vector<Step>& a, const std::vector<Step>& b);

enum class Relation : uint8_t {
    equal,
    less,            ///< B's is
    more,            ///< B's is
    not_told_apart,  ///< the difference is within both spreads, or a spread is not known
    unknown,         ///< one or both are absent
};
const char* to_string(Relation relation);

/// One figure of an implementation in both runs.
struct FigurePair {
    std::string id, title;
    Value a, b;
    Relation relation = Relation::unknown;
    std::string note;                     ///< why it is not told apart
    std::optional<double> ratio() const;  ///< b / a
    bool told_apart() const { return relation == Relation::less || relation == Relation::more; }
    Value difference() const;  ///< b - a
    Value relative() const;    ///< (b - a) / |a|, percent
};

struct ImplementationPair {
    const Implementation *a = nullptr, *b = nullptr;  ///< neither is null
    std::vector<StepPair> steps;
    std::vector<FigurePair> figures;  ///< all of them, unknown ones with their reasons

    const Step* step_of_a(const StepPair& pair) const;  ///< nullptr: not in that run
    const Step* step_of_b(const StepPair& pair) const;
    std::string title() const;  ///< "sdpa_flash"; "sdpa_flash against sdpa_math" where names differ
    double count(StepChange change) const;  ///< launches, not lines
    bool same_launches() const;
    bool same_but_for_libraries() const;  ///< the same, and library calls against their kernels
    const FigurePair& figure(std::string_view id) const;  ///< of an id that is among them
};

struct Comparison {
    const Analysis *a = nullptr, *b = nullptr;
    std::string name_b = "B";           ///< what findings and tables call the second run; the first is A
    bool by_hand = false;               ///< the caller said what to hold against what
    std::vector<Difference> inputs;     ///< shape, dtype, masks, and the inputs of the calls: named first
    std::vector<Difference> machine;    ///< GPU, driver, clocks' limits
    std::vector<Difference> libraries;  ///< torch, CUDA runtime, cuBLAS, cuDNN ...
    std::vector<ImplementationPair> pairs;
    std::vector<std::string> only_a, only_b;  ///< titles of those without a partner
    /// Why nothing can be compared; empty: something can.
    std::string nothing;

    /// One of the two is a prediction, the other is not.
    bool reality_against_prediction() const { return a->predicted() != b->predicted(); }
};

/// Pairs implementations by name, several of one name by their order; `pairs`, where not empty, says instead
/// which of A's (first) to hold against which of B's. Both analyses must outlive the result. Throws Error for
/// a name in `pairs` that its run does not hold.
Comparison compare(const Analysis& a, const Analysis& b,
                   const std::vector<std::pair<std::string, std::string>>& pairs = {},
                   const std::string& name_b = "B");

/// input-changed, gpu-changed, library-changed, backend-changed, kernels-changed, more-bytes-than-predicted,
/// less-of-the-roof, bound-broken; what explains the others comes first.
std::vector<Finding> find_differences(const Comparison& comparison);

/// What one launch's figures are in both runs; nullptr: it is not in that run.
std::vector<FigurePair> step_figures(const Step* a, const Step* b);

/// What a rule (attnscope/rules.h) found in one run and not in the other.
struct FindingChange {
    enum class Kind : uint8_t { added, gone, severity } kind = Kind::added;
    Finding finding;                   ///< B's; of what is gone A's
    Severity before = Severity::info;  ///< severity: A's
};
struct FindingChanges {
    std::vector<FindingChange> all;  ///< added, then of another severity, then gone
    size_t same = 0;
    size_t one_sided =
        0;  ///< of rules that can speak of one of the two grounds alone: no change of the program
};
/// Told by rule and implementation; claims may differ in their numbers.
FindingChanges compare_findings(const Comparison& comparison);

/// One predicted figure beside its measurement.
struct PredictionError {
    enum class Claim : uint8_t {
        exact,     ///< the prediction says how much
        at_least,  ///< a lower bound
        at_most,   ///< an upper bound
    } claim = Claim::exact;
    std::string implementation;  ///< its title
    std::string kernel;          ///< short name; empty: of the whole implementation
    FigurePair figure;           ///< a: measured, b: predicted
    bool holds() const;          ///< the same number; the bound is not broken
};
/// Of figures that both runs have; of kernels that were matched, those outside of library calls. Empty, with
/// the reason in `absent`, unless one run is a prediction for the other's inputs and GPU.
std::vector<PredictionError> prediction_errors(const Comparison& comparison, std::string& absent);

/// `everything`: also launches and figures that are the same, and both environments.
Report build_report(const Comparison& comparison, bool everything);
/// Several runs, each against the same A, as one report.
Report build_report(const std::vector<Comparison>& comparisons, bool everything);

}  // namespace attnscope
