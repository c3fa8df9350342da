#pragma once
// What a table's cell is made of.
#include <utility>

#include "attnscope/report.h"

namespace attnscope::parts {

/// `full` is shown on demand, where it is not the same.
inline Cell words_cell(std::string text, std::string full = {}) {
    Cell cell;
    cell.text = std::move(text);
    if (full != cell.text) cell.full_text = std::move(full);
    return cell;
}

/// `bar_of` > 0: with a bar of value / bar_of.
inline Cell value_cell(Value value, double bar_of = 0) {
    Cell cell;
    cell.value = std::move(value);
    cell.bar_of = bar_of;
    return cell;
}

}  // namespace attnscope::parts
