// Random damage to a whole run, from the file to the rendered report: nothing crashes, no number is without
// origin or reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "attnscope/analysis.h"
#include "attnscope/error.h"
#include "attnscope/render.h"
#include "blog_run.h"
#include "mutate.h"

namespace attnscope {
namespace {

TEST(Fuzz, DamagedRunsGiveReports) {
    std::mt19937_64 random(test::from_environment("ATTNSCOPE_FUZZ_SEED", 1));
    const uint64_t rounds = test::from_environment("ATTNSCOPE_FUZZ_ROUNDS", 200);
    test::TemporaryFolder folder;
    test::BlogOptions options;
    options.times = true;
    uint64_t reports = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
        options.ground = round % 2 ? "real" : "virtual";
        test::write_text(folder.path() / "run.json", test::run_json(options.ground));
        std::string text = test::blog_process(options);
        for (int i = 0; i < 10; ++i) text = test::mutate(text, random);
        test::write_text(folder.path() / "p.jsonl", text);
        try {
            const Report r = build_report(analyze(read_run(folder.path())));
            ++reports;
            for (const Row& row : r.implementations.rows)
                ASSERT_EQ(row.cells.size(), r.implementations.columns.size());
            ASSERT_FALSE(render_text(r, {80, false, true}).empty());
            ASSERT_FALSE(render_markdown(r).empty());
            ASSERT_FALSE(render_html(r).empty());
            ASSERT_FALSE(render_json(r).empty());
        } catch (const Error&) {  // a version that became a newer one
        }
    }
    EXPECT_GT(reports, rounds / 2);
}

TEST(Fuzz, DamagedCountedRunsGiveReports) {
    std::mt19937_64 random(test::from_environment("ATTNSCOPE_FUZZ_SEED", 1));
    const uint64_t rounds = test::from_environment("ATTNSCOPE_FUZZ_ROUNDS", 100);
    test::TemporaryFolder folder;
    test::BlogOptions options;
    options.times = true;
    uint64_t reports = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
        options.ground = round % 2 ? "real" : "virtual";
        test::write_counted_blog_run(folder.path(), options);
        std::vector<std::filesystem::path> files(std::filesystem::directory_iterator(folder.path()), {});
        std::sort(files.begin(), files.end());
        for (int i = 0; i < 4; ++i) {
            const auto& file = files[random() % files.size()];
            test::write_text(file, test::mutate(test::read_text(file), random));
        }
        try {
            const Report r = build_report(analyze(read_run(folder.path())));
            ++reports;
            for (const Row& row : r.implementations.rows) {
                ASSERT_EQ(row.cells.size(), r.implementations.columns.size());
                for (const Cell& cell : row.cells)
                    ASSERT_TRUE(!cell.text.empty() ||
                                cell.value.number.has_value() != !cell.value.absent.empty());
            }
            ASSERT_FALSE(render_text(r, {80, false, true}).empty());
            ASSERT_FALSE(render_markdown(r).empty());
            ASSERT_FALSE(render_html(r).empty());
        } catch (const Error&) {  // a version that became a newer one
        }
    }
    EXPECT_GT(reports, rounds / 2);
}

}  // namespace
}  // namespace attnscope
