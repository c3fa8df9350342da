#include "kernel_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <tuple>

#include "attnscope/names.h"
#include "kernel_code.h"

namespace attnscope::cli {
namespace {

std::string limiter_words(const Occupancy& occupancy, bool letters) {
    std::string words;
    for (const Limiter limiter : occupancy.limiters) {
        const std::string word = limiter == Limiter::shared_memory ? "shared" : to_string(limiter);
        if (letters)
            words += static_cast<char>(word[0] >= 'a' ? word[0] - 'a' + 'A' : word[0]);
        else
            words += (words.empty() ? "" : "+") + word;
    }
    return words;
}

std::string shortened(const std::string& text, size_t width) {
    return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

std::string cluster_words(const KernelResources& kernel) {
    const uint32_t* size = kernel.required_cluster;
    if (size[0] == 0) return "";
    return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

Row row_of(const Entry& entry, bool full) {
    const KernelResources& kernel = *entry.kernel;
    Row row;
    row.name = full ? entry.full_name : short_kernel_name(entry.full_name);
    if (const std::string cluster = cluster_words(kernel); !cluster.empty())
        row.name += " cluster " + cluster;
    const bool known = entry.block != 0 && entry.occupancy.reason.empty();
    row.cells = {std::to_string(kernel.registers),
                 std::to_string(kernel.static_shared_bytes),
                 std::to_string(kernel.local_bytes),
                 std::to_string(kernel.max_threads) + (kernel.launch_bounded ? "*" : " "),
                 known ? std::to_string(entry.occupancy.ctas_per_sm) : "-",
                 known ? percent(entry.occupancy.fraction) : "-"};
    row.code = code_line(entry.full_name, entry.code);
    row.entry = &entry;
    if (entry.occupancy.launchable || known) row.limiters = limiter_words(entry.occupancy, false);
    if (entry.occupancy.launchable || known) row.letters = limiter_words(entry.occupancy, true);
    return row;
}

}  // namespace

std::string grouped(uint64_t number) {
    std::string digits = std::to_string(number);
    for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
    return digits;
}

std::string percent(double fraction) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f%%", fraction * 100);
    return text;
}

size_t terminal_width() {
    winsize size{};
    if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 80)
        return size.ws_col;
    return 80;
}

std::vector<Row> rows_of(const std::vector<Entry>& entries, bool full) {
    std::vector<Row> rows;
    for (const Entry& entry : entries) rows.push_back(row_of(entry, full));
    const auto key = [](const Row& row) { return std::tie(row.name, row.cells, row.limiters, row.code); };
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
    std::vector<Row> merged;
    for (Row& row : rows) {
        if (!full && !merged.empty() && merged.back().same_as(row))
            ++merged.back().variants;
        else
            merged.push_back(std::move(row));
    }
    return merged;
}

void print_table(std::vector<Row> rows, bool full, bool mix, size_t width) {
    const std::vector<std::string> titles = {"regs", "shared", "local", "thr", "CTAs", "occ."};
    std::vector<size_t> widths;
    for (size_t i = 0; i < titles.size(); ++i) {
        size_t widest = titles[i].size();
        for (const Row& row : rows) widest = std::max(widest, row.cells[i].size());
        widths.push_back(widest);
    }
    size_t numbers = 0, words = std::string("limited by").size(), codes = 2, longest = 0;
    for (const size_t w : widths) numbers += w + 1;
    for (Row& row : rows) {
        if (row.variants > 1) row.name += " x" + std::to_string(row.variants);
        words = std::max(words, row.limiters.size());
        codes = std::max(codes, row.letters.size());
        longest = std::max(longest, row.name.size());
    }
    const bool letters = numbers + words + 1 + longest > width;  // words where there is room for them
    if (letters) words = codes;
    const size_t room = full ? longest : std::max<size_t>(width - std::min(width, numbers + words + 1), 16);
    const auto line = [&](const std::vector<std::string>& cells, std::string_view limiters,
                          std::string name) {
        if (name.size() > room)  // the end tells variants apart: _sm80, causal
            name = name.substr(0, room - 13) + "..." + name.substr(name.size() - 10);
        std::string text;
        for (size_t i = 0; i < cells.size(); ++i)
            text += std::string(widths[i] - cells[i].size(), ' ') + cells[i] + ' ';
        text += std::string(limiters) + std::string(words - std::min(words, limiters.size()) + 1, ' ') + name;
        std::cout << text << '\n';
    };
    line(titles, letters ? "by" : "limited by", "kernel");
    for (const Row& row : rows) {
        line(row.cells, letters ? row.letters : row.limiters, row.name);
        if (mix)
            std::cout << mix_block(row.entry->full_name, row.entry->code, width);
        else if (!row.code.empty())
            std::cout << "    " << shortened(row.code, full ? row.code.size() : width - 4) << '\n';
    }
    if (letters)
        std::cout << "by: limits the CTAs of an SM: R registers, S shared memory, W warps, C CTA slots\n";
}

}  // namespace attnscope::cli
