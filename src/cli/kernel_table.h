#pragma once
// The text table of `attnscope kernels`.
#include <cstddef>
#include <string>
#include <vector>

#include "attnscope/binary.h"
#include "attnscope/occupancy.h"
#include "attnscope/sass.h"

namespace attnscope::cli {

/// One kernel with the launch that its occupancy is for.
struct Entry {
    const KernelResources* kernel;
    std::string full_name;
    uint32_t block = 0;  ///< 0: not known, so no occupancy
    Occupancy occupancy;
    KernelMix code;
};

std::string grouped(uint64_t number);  ///< 49152 -> "49,152"
std::string percent(double fraction);  ///< 0.125 -> "12.5%"
size_t terminal_width();               ///< 80 when stdout is no terminal

/// One line of the table.
struct Row {
    std::vector<std::string> cells;  ///< the numbers
    std::string limiters, letters, name;
    std::string code;              ///< the line below; empty: none
    const Entry* entry = nullptr;  ///< the first of its variants
    size_t variants = 1;
    bool same_as(const Row& other) const {
        return cells == other.cells && limiters == other.limiters && name == other.name && code == other.code;
    }
};

/// Template variants with the same short name and numbers (types, evenness) are one row, unless `full`.
std::vector<Row> rows_of(const std::vector<Entry>& entries, bool full);
/// No line is longer than `width`, unless `full` asks for whole names. `mix`: below each row all that is
/// known of its name and code.
void print_table(std::vector<Row> rows, bool full, bool mix, size_t width);

}  // namespace attnscope::cli
