#pragma once
// What a report says, before anybody formats it. Analysis fills it; reports/ only renders it and computes
// nothing.
#include <cstdint>
#include <string>
#include <vector>

#include "attnscope/value.h"

namespace attnscope {

/// A table cell: a value, or words.
struct Cell {
    Value value;
    std::string text;       ///< shown instead of the value when not empty
    std::string full_text;  ///< shown on demand (a full kernel name); empty when `text` is all
    double bar_of = 0;      ///< > 0: draw a bar of value/bar_of; the column says what that scale is
};

struct Column {
    std::string id;  ///< stable, for JSON: "theoretical_occupancy"
    std::string title;
    std::string meaning;    ///< one sentence: the definition, and what it does not tell
    std::string bar_scale;  ///< what a full bar is: "the SM's maximum"; empty when there are no bars
    bool numeric = true;
};

enum class RowStatus { normal, refused, failed, not_run, best };

struct Row {
    std::string id;
    RowStatus status = RowStatus::normal;
    std::string note;         ///< for a refused row: LibTorch's own sentence
    std::vector<Cell> cells;  ///< one per column
};

struct Table {
    std::string id;
    std::string title;
    std::string sentence;  ///< what it shows, in one sentence
    std::vector<Column> columns;
    std::vector<Row> rows;
};

/// One number a finding stands on.
struct Evidence {
    std::string label;
    Value value;
    std::string compared_with;  ///< the threshold or the other side, written out: "2 CTAs x 4 warps of 64"
};

enum class Severity { good, info, warning, problem };

/// Claim, evidence, counter-evidence, next step (DESIGN.md, law 7).
struct Finding {
    std::string id;       ///< rule name, stable: "low-occupancy-by-design"
    std::string subject;  ///< implementation or kernel: "sdpa_flash"
    Severity severity = Severity::info;
    std::string claim;
    std::vector<Evidence> evidence;
    std::vector<std::string> counter_evidence;
    std::string next_step;                 ///< a command or an experiment
    std::string nsight_compute_would_say;  ///< empty when it says nothing here
};

enum class NoticeLevel { info, warning, error, data_loss };

struct Notice {
    NoticeLevel level = NoticeLevel::info;
    std::string code;
    std::string message;
    std::string remedy;
    uint64_t count = 1;
    bool first = false;  ///< belongs right under the banner: what is missing, and what to do
};

/// A picture, as numbers. The renderer chooses geometry only.
struct Chart {
    enum class Kind { bars, stacked_bars, scatter };
    struct Point {
        std::string label;
        std::string series;
        double x = 0, y = 0;    ///< bars: x is the length
        bool measured = false;  ///< predicted points are hollow
    };
    std::string id, title;
    std::string sentence;  ///< what it shows
    Kind kind = Kind::bars;
    std::string x_title, y_title;
    Unit x_unit = Unit::none, y_unit = Unit::none;
    double x_full = 0, y_full = 0;  ///< the axis' end: a hardware peak or the shared maximum; 0 = fit
    std::string x_scale;            ///< says which: "the SM's 64 warps"
    bool x_log = false;
    std::vector<Point> points;
};

struct Fact {
    std::string label, value;
};

struct Section {
    std::string id, title, sentence;
    std::vector<Table> tables;
    std::vector<Chart> charts;
};

struct Report {
    std::string title;
    bool predicted = false;                     ///< banner: PREDICTED, nothing was measured; else MEASURED
    std::string banner;                         ///< the banner's sentence
    std::vector<std::string> exact, not_exact;  ///< on a virtual GPU: what is exact, what is not known
    std::vector<Fact> strip;                    ///< GPU, torch, CUDA, shape, date
    std::vector<std::string> answer;            ///< at most three sentences
    Table implementations;
    std::vector<Notice> notices;    ///< what affects the run, worst first
    std::vector<Finding> findings;  ///< ranked
    std::vector<Section> sections;  ///< charts, kernels per implementation, library calls, ...
    std::vector<std::string> cannot_tell;
    std::vector<Fact> checks_passed;
    Table methods;  ///< how every number was made: quantity, formula, source
    std::vector<Fact> environment;
    std::vector<std::string> commands;  ///< exact commands to reproduce
};

}  // namespace attnscope
