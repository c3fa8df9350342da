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
    bool difference = false;  ///< its numbers are differences: a sign stands before each
    bool detail = false;      ///< may stand apart from the others where there is little room
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

/// A picture, as numbers. The renderer chooses geometry only. Without points it is left out, and `sentence`
/// says why.
struct Chart {
    enum class Kind {
        bars,          ///< a bar for each point, from the axis' start to x
        stacked_bars,  ///< a bar for each label: the x of its points follow one another
        dots,          ///< marks at x in the row of their label, joined; y is written beside
        scatter,       ///< marks at x, y; those of one label are joined
        lanes,         ///< from x on, y long, in the lane of their label
    };
    struct Axis {
        std::string title;
        Unit unit = Unit::none;
        double from = 0, full = 0;  ///< its ends: a hardware peak, or shared; `full` 0: fitted to the points
        std::string scale;          ///< says which: "the SM's 64 warps"
        bool log = false;
    };
    struct Point {
        std::string label;
        std::string series;     ///< stacked bars: of the sum of a label's points, empty
        Value x, y;             ///< where one that is drawn is absent, the point is in the table alone
        bool measured = false;  ///< others are hollow
        std::string note;       ///< beside the number: "2 of 16 CTAs"
        std::string group;      ///< rows of one group stand under its name
    };
    /// A roof, straight on the chart's axes.
    struct Line {
        std::string label;
        Value height;  ///< written behind the label
        double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
    };
    std::string id, title;
    std::string sentence;  ///< what it shows
    Kind kind = Kind::bars;
    Axis x, y;
    std::vector<Point> points;
    std::vector<Line> lines;
    std::vector<std::string> series;  ///< their order, where that of the points is not meant
    std::string shaded;               ///< a series that is hatched
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
