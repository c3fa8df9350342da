// The pictures' numbers: those of the tables and of the models, on a virtual and on a real GPU.
#include <gtest/gtest.h>

#include <map>

#include "attnscope/analysis.h"
#include "attnscope/render.h"
#include "blog_run.h"

namespace attnscope {
namespace {

Report report_of(const std::string& process, const char* ground) {
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json(ground));
    test::write_text(folder.path() / "p.jsonl", process);
    return build_report(analyze(read_run(folder.path())));
}

Report blog_report(const char* ground, bool counters = false) {
    test::TemporaryFolder folder;
    test::BlogOptions options;
    options.ground = ground;
    options.times = std::string(ground) != "virtual";
    if (counters)
        test::write_counted_blog_run(folder.path(), options);
    else
        test::write_blog_run(folder.path(), options);
    return build_report(analyze(read_run(folder.path())));
}

const Section& pictures(const Report& report) {
    for (const Section& s : report.sections)
        if (s.id == "charts") return s;
    throw std::runtime_error("no pictures");
}

Chart chart(const Report& report, std::string_view id) {
    for (const Chart& c : pictures(report).charts)
        if (c.id == id) return c;
    throw std::runtime_error("no chart " + std::string(id));
}

const Chart::Point& point(const Chart& c, std::string_view label, std::string_view series,
                          std::string_view group = {}) {
    for (const Chart::Point& p : c.points)
        if (p.label == label && p.series == series && p.group.starts_with(group)) return p;
    throw std::runtime_error("no point " + std::string(label) + "/" + std::string(series) + " in " + c.id);
}

double number(const Report& report, std::string_view table, std::string_view row, std::string_view column) {
    for (const Section& s : report.sections)
        for (const Table& t : s.tables)
            for (size_t c = 0; t.id == table && c < t.columns.size(); ++c)
                for (const Row& r : t.rows)
                    if (t.columns[c].id == column && r.id == row) return r.cells.at(c).value.number.value();
    throw std::runtime_error("no cell " + std::string(row) + "/" + std::string(column));
}

constexpr double kFlops = 17179869184;  // 4 x 8 x 16 x 1024 x 1024 x 64 / 2

TEST(Charts, SevenPicturesSayWhatTheyShowAndTheirScale) {
    for (const char* ground : {"virtual", "real"}) {
        const Report r = blog_report(ground);
        EXPECT_EQ(pictures(r).charts.size(), 7U);
        for (const Chart& c : pictures(r).charts) {
            EXPECT_FALSE(c.sentence.empty()) << c.id;
            if (c.points.empty()) continue;
            EXPECT_FALSE(c.x.scale.empty()) << c.id;
            for (const Chart::Point& p : c.points) {
                EXPECT_TRUE(p.x || !p.x.absent.empty()) << c.id;
                EXPECT_TRUE(!p.x || p.x.unit == c.x.unit) << c.id;
                EXPECT_TRUE(!p.y || p.y.unit == c.y.unit) << c.id;
                if (r.predicted) {
                    EXPECT_EQ(p.measured, p.series == "published") << c.id << " " << p.label;
                }
            }
        }
    }
}

TEST(Charts, AVirtualGpuHasNoTimelineAndSaysWhy) {
    const Chart timeline = chart(blog_report("virtual"), "timeline");
    EXPECT_TRUE(timeline.points.empty());
    EXPECT_EQ(timeline.sentence, "Not drawn: nothing was measured: virtual GPU.");
}

TEST(Charts, OccupancyAgainstThroughput) {
    const Report r = blog_report("real");
    const Chart c = chart(r, "occupancy-throughput");
    const Chart::Point& flash = point(c, "sdpa_flash", "measured");
    EXPECT_TRUE(flash.measured);
    EXPECT_DOUBLE_EQ(*flash.x.number, 12.5);
    EXPECT_NEAR(*flash.y.number, kFlops / 146.8e-6, 1);  // the published 146.8 us
    // Each kernel by its time (blog_run.cpp): products of 48 KiB, 3 CTAs of 4 warps of 64; scale, mask,
    // softmax.
    const Chart::Point& naive = point(c, "naive_inplace", "measured");
    EXPECT_NEAR(*naive.x.number, (875 * 18.75 + 330 * 100 + 400 * 100 + 350 * 62.5) / 1955, 0.01);
    EXPECT_NEAR(c.lines.at(0).y1, 312e12, 1);  // NVIDIA's A100 data sheet: 312 TFLOP/s in bf16
    EXPECT_NE(
        c.sentence.find("sdpa_efficient has 2 times the occupancy of sdpa_flash and 53% of its throughput"),
        std::string::npos)
        << c.sentence;
    for (const Chart::Point& p : c.points) EXPECT_NE(p.label, "sdpa_auto");
    EXPECT_EQ(pictures(r).sentence, "sdpa_auto is not drawn: it is sdpa_flash here.");
}

TEST(Charts, AchievedOccupancyWhereItWasCounted) {
    const Chart c = chart(blog_report("real", true), "occupancy-throughput");
    EXPECT_EQ(c.x.title, "achieved occupancy");
    EXPECT_DOUBLE_EQ(*point(c, "sdpa_flash", "measured").x.number, 11.5);  // the fixture's
}

TEST(Charts, WithoutATimeBoundsAndPublishedTimesStandInItsPlace) {
    const Report r = blog_report("virtual");
    const Chart c = chart(r, "occupancy-throughput");
    EXPECT_NEAR(*point(c, "sdpa_math", "bound").y.number,
                kFlops / number(r, "bounds", "sdpa_math", "bound") * 1e9, 1);
    EXPECT_FALSE(point(c, "sdpa_math", "bound").measured);
    EXPECT_NEAR(*point(c, "sdpa_flash", "published").y.number, kFlops / 146.8e-6, 1);
    EXPECT_EQ(point(c, "sdpa_cudnn", "bound").x.absent, "chosen by the library on a real GPU");
    const Chart compared = chart(r, "prediction-measurement");
    EXPECT_NEAR(*point(compared, "sdpa_flash", "published").y.number,
                100 * number(r, "bounds", "sdpa_flash", "bound") / 146800, 1e-9);
}

TEST(Charts, RooflineHasTheRoofOfTheInstructionsThatAreUsed) {
    const Report r = blog_report("virtual");
    const Chart c = chart(r, "roofline");
    std::map<std::string, double> roofs;
    for (const Chart::Line& line : c.lines) roofs[line.label] = *line.height.number;
    EXPECT_EQ(roofs.size(), 3U);
    EXPECT_DOUBLE_EQ(roofs.at("bf16 tensor cores"), number(r, "bounds", "sdpa_flash", "roof"));
    EXPECT_DOUBLE_EQ(roofs.at("fp32 CUDA cores"), number(r, "bounds", "sdpa_math", "roof"));
    for (const Chart::Point& p : c.points)
        if (p.series == "bound") {  // no bound is above its roofs
            EXPECT_NEAR(*p.x.number, kFlops / number(r, "amounts", p.label, "least_dram_bytes"), 1e-6);
            EXPECT_LE(*p.y.number, *p.x.number * roofs.at("DRAM") * 1.000001) << p.label;
            EXPECT_LE(*p.y.number, number(r, "bounds", p.label, "roof") * 1.000001) << p.label;
        }
    const Chart counted = chart(blog_report("real", true), "roofline");
    EXPECT_DOUBLE_EQ(*point(counted, "sdpa_flash", "measured").x.number, kFlops / 67108864);  // 48 + 16 MiB
}

TEST(Charts, BytesByLevelAreTheModels) {
    const Report r = blog_report("virtual");
    const Chart c = chart(r, "bytes");
    std::map<std::string, double> parts, totals;
    for (const Chart::Point& p : c.points)
        if (p.group.starts_with("L2: what")) (p.series.empty() ? totals : parts)[p.label] += *p.x.number;
    EXPECT_EQ(parts, totals);
    EXPECT_DOUBLE_EQ(totals.at("sdpa_math"), number(r, "amounts", "sdpa_math", "all_bytes"));
    EXPECT_DOUBLE_EQ(*point(c, "sdpa_math", "score matrix").x.number,
                     number(r, "amounts", "sdpa_math", "score_bytes"));
    EXPECT_DOUBLE_EQ(*point(c, "naive", "not told apart", "DRAM: the").x.number,
                     number(r, "amounts", "naive", "least_dram_bytes"));
    // 128 heads x 36 tiles of 128 x 128 under the diagonal, 4 bytes a score.
    EXPECT_DOUBLE_EQ(*point(c, "sdpa_flash", "score matrix", "registers").x.number,
                     128. * 36 * 128 * 128 * 4);
    // Those tiles' k and v, and 8 tiles of q, of 128 x 64 x 2 bytes.
    EXPECT_DOUBLE_EQ(*point(c, "sdpa_flash", "q, k, v, o and copies of them", "shared").x.number,
                     128. * (36 * 2 + 8) * 128 * 64 * 2);
    // 136 tiles of 64 x 64, each with its q, k and v (kernel_forward.h of PyTorch).
    EXPECT_DOUBLE_EQ(*point(c, "sdpa_efficient", "q, k, v, o and copies of them", "shared").x.number,
                     128. * 136 * 3 * 64 * 64 * 2);
    const Chart counted = chart(blog_report("real", true), "bytes");
    EXPECT_TRUE(point(counted, "sdpa_flash", "not told apart", "DRAM: counted").measured);
    EXPECT_DOUBLE_EQ(*point(counted, "sdpa_flash", "not told apart", "DRAM: counted").x.number, 67108864);
}

TEST(Charts, StackedTimesAddUp) {
    for (const char* ground : {"virtual", "real"}) {
        const Report r = blog_report(ground);
        const Chart c = chart(r, "time-by-kernel");
        std::map<std::string, double> parts, totals;
        for (const Chart::Point& p : c.points) (p.series.empty() ? totals : parts)[p.label] += *p.x.number;
        ASSERT_EQ(parts.size(), 6U);
        for (const auto& [label, sum] : parts) EXPECT_NEAR(sum, totals.at(label), 1e-6 * sum) << label;
        // The published time, or the table's bound.
        EXPECT_DOUBLE_EQ(totals.at("naive_inplace"),
                         r.predicted ? number(r, "bounds", "naive_inplace", "bound") : 1955000);
        EXPECT_EQ(point(c, "sdpa_math", "").note, "20 launches");
    }
}

TEST(Charts, DistanceToEachLimit) {
    const Chart c = chart(blog_report("virtual"), "limits");
    const std::string flash = "sdpa_flash:";
    // 255 registers x 128 threads: 2 CTAs; 48 KiB of 164 KiB: 3; 4 warps of 64: 16; 32 slots.
    EXPECT_DOUBLE_EQ(*point(c, "registers", "no further CTA fits", flash).x.number, 100);
    EXPECT_DOUBLE_EQ(*point(c, "shared memory", "has room", flash).x.number, 100. * 2 / 3);
    EXPECT_DOUBLE_EQ(*point(c, "warps", "has room", flash).x.number, 12.5);
    EXPECT_EQ(point(c, "CTAs", "has room", flash).note, "2 of 32 CTAs");
    EXPECT_NE(c.sentence.find("registers stop sdpa_flash at 2 CTAs an SM, 8 of 64 warps"), std::string::npos)
        << c.sentence;
    // The same kernel with the same limits is one picture.
    EXPECT_EQ(point(c, "registers", "no further CTA fits", "naive").group,
              "naive, naive_inplace and sdpa_math: softmax_warp_forward");
}

TEST(Charts, TimelineIsOfTheMedianIteration) {
    const Chart c = chart(blog_report("real"), "timeline");
    const Chart::Point& flash = point(c, "sdpa_flash", "attention");
    EXPECT_DOUBLE_EQ(*flash.x.number, 0);
    EXPECT_DOUBLE_EQ(*flash.y.number, 146800);
    EXPECT_TRUE(flash.measured);
    EXPECT_DOUBLE_EQ(*point(c, "naive_inplace", "scale, add").x.number, 400500) << "after 400 us and a gap";
}

TEST(Charts, ManyLaunchesStayABoundedPicture) {
    test::ProcessWriter w("real");
    w.a100();
    constexpr int launches = 20000;
    for (int i = 0; i < launches; ++i) {
        // Long ones among short ones, so that not everything is one block.
        test::KernelSpec kernel{i % 1000 > 1 ? "some_kernel" : "softmax_warp_forward"};
        kernel.registers = 32;
        w.kernel(kernel, 0, i % 1000 > 1 ? 300 : 2000000);
    }
    w.end();
    const Report r = report_of(w.text(), "real");
    const Chart c = chart(r, "timeline");
    EXPECT_LE(c.points.size(), 80U);
    EXPECT_GT(c.points.size(), 10U);
    double told = 0, last = -1;
    for (const Chart::Point& p : c.points) {
        EXPECT_GE(*p.x.number, last) << "blocks of a stream do not overlap";
        last = *p.x.number + *p.y.number;
        std::string note = p.note;
        std::erase(note, ',');
        told += note.empty() ? 1 : std::stod(note);
    }
    EXPECT_LE(last, c.x.full);
    EXPECT_EQ(told, launches) << "none is lost by merging";
    EXPECT_NE(c.sentence.find("20,000 launches in"), std::string::npos) << c.sentence;
    EXPECT_LT(render_html(r).size(), 200000U);
}

TEST(Charts, AProgramThatMarksNothingHasItsKernelsByName) {
    test::ProcessWriter w("real");
    w.a100();
    for (int i = 0; i < 20; ++i)
        w.kernel({"kernel_" + std::to_string(i), {8, 1, 1}, {128, 1, 1}, 32}, 0, 1000 + uint64_t(i) * 1000);
    w.end();
    const Report r = report_of(w.text(), "real");
    const Chart c = chart(r, "time-by-kernel");
    EXPECT_EQ(c.series.size(), 8U) << "seven names and the rest";
    EXPECT_EQ(c.series.front(), "kernel_19");
    EXPECT_DOUBLE_EQ(*c.points.front().x.number, 20000);
    EXPECT_EQ(pictures(r).charts.size(), 3U) << "time, limits, timeline";
    EXPECT_NE(pictures(r).sentence.find("\"Roofline\""), std::string::npos) << pictures(r).sentence;
}

TEST(Charts, ARunThatLaunchesNothingHasNone) {
    test::ProcessWriter w("real");
    w.a100();
    w.end();
    for (const Section& s : report_of(w.text(), "real").sections) EXPECT_NE(s.id, "charts");
}

}  // namespace
}  // namespace attnscope
