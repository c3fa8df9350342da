#pragma once
// A table with its cells as words, the same in every format: one scale a column, tags, and notes for what is
// missing.
#include <string>
#include <vector>

#include "attnscope/report.h"

namespace attnscope::reports {

/// Why values are missing: the same reason has the same number.
class Footnotes {
  public:
    size_t number_of(const std::string& reason);  ///< from 1
    const std::vector<std::string>& reasons() const { return reasons_; }

  private:
    std::vector<std::string> reasons_;
};

struct CellView {
    enum class Kind { words, number, missing };
    Kind kind = Kind::missing;
    std::string text;  ///< clean: "flash_fwd", "268.4 MB", "—"
    std::string tag;   ///< of a number: "bv"
    size_t note = 0;   ///< of a missing value
    const Cell* cell = nullptr;
};

struct ColumnView {
    const Column* column = nullptr;
    std::string title;
    std::string shared_tag;   ///< when every number of the column has it
    bool has_values = false;  ///< not all missing
};

struct RowView {
    const Row* row = nullptr;
    std::vector<CellView> cells;  ///< one per column
    bool only_name = false;       ///< refused, failed or not run, and nothing but its name is known: its note
                                  ///< stands for the rest
    std::string note;             ///< clean
};

struct TableView {
    std::vector<ColumnView> columns;
    std::vector<RowView> rows;
    Footnotes notes;
};

TableView view_of(const Table& table);

/// Why a column has no values at all, when that is one reason: " (needs a GPU)"; else empty.
std::string reason_for_all(const TableView& view, size_t column);

/// No column of numbers: each row is a sentence or two.
bool is_prose(const Table& table);

/// A missing value of which an earlier cell of the row has the reason: a sentence does not say it twice.
bool is_told(const RowView& row, size_t cell);

inline constexpr const char* dash = "—";

}  // namespace attnscope::reports
