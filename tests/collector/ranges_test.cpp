// Right values: a second, slow way to find the same range.
#include "ranges.h"

#include <gtest/gtest.h>

#include <random>

namespace attnscope::collector {
namespace {

uint64_t g_now = 0;

struct Plain {
    uint32_t id;
    uint64_t start, end;
};

uint32_t slow_innermost(const std::vector<Plain>& all, uint64_t time) {
    const Plain* best = nullptr;
    for (const Plain& r : all)
        if (r.start <= time && time < r.end && (best == nullptr || r.start >= best->start)) best = &r;
    return best == nullptr ? 0 : best->id;
}

TEST(RangeBook, AgreesWithALinearSearchAlsoWhenRangesOverlap) {
    std::mt19937 random(3);
    RangeBook book;
    std::vector<Plain> all;
    std::vector<size_t> open;
    for (g_now = 1; g_now < 4000; ++g_now) {
        if (open.empty() || random() % 2 == 0) {
            const auto opened = book.open_process_range(g_now);
            open.push_back(all.size());
            all.push_back({opened.id, opened.start_ns, UINT64_MAX});
        } else {  // any open one, not only the last
            const size_t which = random() % open.size();
            all[open[which]].end = g_now;
            EXPECT_TRUE(book.close_process_range(all[open[which]].id, g_now));
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    for (uint64_t time = 0; time < 4100; ++time)
        ASSERT_EQ(book.innermost_at(time), slow_innermost(all, time)) << time;
}

TEST(RangeBook, ForgetsTheOldButNeverWhatIsOpen) {
    RangeBook book;
    g_now = 1;
    const auto outer = book.open_process_range(g_now);
    uint32_t last = 0;
    for (size_t i = 0; i < 5 * RangeBook::kKept; ++i) {
        g_now += 10;
        last = book.open_process_range(g_now).id;
        book.close_process_range(last, g_now + 5);
    }
    EXPECT_EQ(book.innermost_at(g_now + 1), last);
    EXPECT_EQ(book.innermost_at(g_now + 6), outer.id);
    EXPECT_EQ(book.innermost(), outer.id);
    EXPECT_TRUE(book.close_process_range(outer.id, g_now + 7));
    EXPECT_EQ(book.innermost_at(g_now + 8), 0u);
}

TEST(RangeBook, EndingTwiceOrTheUnknownIsRefused) {
    RangeBook book;
    g_now = 5;
    const auto range = book.open_process_range(g_now);
    EXPECT_FALSE(book.close_process_range(range.id + 1, 6));
    EXPECT_TRUE(book.close_process_range(range.id, 6));
    EXPECT_FALSE(book.close_process_range(range.id, 7));
}

}  // namespace
}  // namespace attnscope::collector
