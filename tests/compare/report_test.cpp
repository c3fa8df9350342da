// What the comparison's report shows: kernels and findings that changed, predictions with their errors, and
// several runs beside one.
#include <gtest/gtest.h>

#include "attnscope/render.h"
#include "runs.h"

namespace attnscope {
namespace {

using test::blog;
using test::BlogOptions;
using test::measured_blog;

const Section* section(const Report& report, const std::string& id) {
    for (const Section& s : report.sections)
        if (s.id == id) return &s;
    return nullptr;
}

const Row* row(const Table& table, const std::string& first, const std::string& second = {}) {
    for (const Row& r : table.rows)
        if (r.cells.at(0).text == first && (second.empty() || r.cells.at(1).text == second)) return &r;
    return nullptr;
}

Implementation& named(Analysis& a, const std::string& name) {
    for (Implementation& i : a.implementations)
        if (i.name == name) return i;
    throw std::out_of_range(name);
}

TEST(CompareReport, AChangedKernelInAbsoluteNumbersThenRelative) {
    const Analysis a = blog();
    Analysis b = blog();
    Step& flash = named(b, "sdpa_flash").steps.at(0);
    flash.registers.number = 128;
    flash.occupancy.number = 25;
    const Report r = build_report(compare(a, b), false);
    const Section* kernels = section(r, "kernel-changes");
    ASSERT_NE(kernels, nullptr);
    ASSERT_EQ(kernels->tables.size(), 1U) << "one implementation changed";
    const Row* registers = row(kernels->tables[0], flash.name, "registers");
    ASSERT_NE(registers, nullptr);
    EXPECT_EQ(registers->cells[2].value.number, 255.0);
    EXPECT_EQ(registers->cells[3].value.number, 128.0);
    EXPECT_EQ(registers->cells[4].value.number, -127.0);
    EXPECT_NEAR(*registers->cells[5].value.number, -100 * 127.0 / 255, 1e-9);
    const Row* occupancy = row(kernels->tables[0], flash.name, "theoretical occupancy");
    ASSERT_NE(occupancy, nullptr);
    EXPECT_EQ(occupancy->cells[4].value.number, 12.5);
    EXPECT_NE(render_text(r, {80, false, true}).find("+12.5 %"), std::string::npos)
        << "a difference has its sign";
    EXPECT_NE(render_html(r).find(">+12.5"), std::string::npos);
}

TEST(CompareReport, KernelsAddedAndGoneHaveTheirTime) {
    BlogOptions refused;
    refused.ground = "real";
    refused.iterations = 5;
    refused.times = true;
    const Analysis a = blog(refused);
    const Report r = build_report(compare(a, a, {{"sdpa_flash", "sdpa_efficient"}}), false);
    const Section* kernels = section(r, "kernel-changes");
    ASSERT_NE(kernels, nullptr);
    bool time = false;
    for (const Row& one : kernels->tables.at(0).rows) time = time || one.cells[1].text == "GPU time";
    EXPECT_TRUE(time);
}

TEST(CompareReport, ATildeWithinTheNoise) {
    const Analysis a = measured_blog(5);
    Analysis b = measured_blog(5);
    Implementation& naive = named(b, "naive");
    naive.time.number = *naive.time.number * 1.01;
    naive.time_iqr.number = *naive.time.number * 0.03;
    const Comparison c = compare(a, b);
    const FigurePair& time = test::pair_named(c, "naive")->figure("time");
    EXPECT_EQ(time.relation, Relation::not_told_apart);
    const Report r = build_report(c, false);
    const Row* shown = row(r.implementations, "naive");
    ASSERT_NE(shown, nullptr);
    EXPECT_EQ(shown->cells[3].text, "~");
    EXPECT_EQ(shown->cells[4].text, "~");
    EXPECT_EQ(row(r.implementations, "sdpa_flash")->cells[3].text, "=");
}

TEST(CompareReport, FigureDifferencesNeedBothSides) {
    const Analysis a = blog(), b = measured_blog(5);
    const Comparison c = compare(a, b);
    const FigurePair& time = test::pair_named(c, "naive")->figure("time");
    EXPECT_FALSE(time.difference());
    EXPECT_NE(time.difference().absent.find("virtual GPU"), std::string::npos) << time.difference().absent;
    const Comparison other = compare(a, a, {{"sdpa_flash", "naive"}});
    const FigurePair& scores = test::pair_named(other, "sdpa_flash")->figure("score_bytes");
    EXPECT_TRUE(scores.difference());
    EXPECT_EQ(scores.relative().absent, "of 0");
}

TEST(FindingChanges, NewAndGoneByRuleAndSubject) {
    const Analysis a = blog();
    EXPECT_TRUE(compare_findings(compare(a, a)).all.empty());
    EXPECT_GT(compare_findings(compare(a, a)).same, 3U);
    BlogOptions options;
    options.refuse_flash = true;
    const Analysis b = blog(options);
    const auto has = [](const FindingChanges& changes, FindingChange::Kind kind, const std::string& id) {
        for (const FindingChange& change : changes.all)
            if (change.kind == kind && change.finding.id == id) return true;
        return false;
    };
    EXPECT_TRUE(has(compare_findings(compare(a, b)), FindingChange::Kind::added, "backend-refused"));
    EXPECT_TRUE(has(compare_findings(compare(b, a)), FindingChange::Kind::gone, "backend-refused"));
    // What is said of several is the same finding when it is about one less.
    BlogOptions fewer;
    fewer.without_inplace = true;
    const FindingChanges changes = compare_findings(compare(a, blog(fewer)));
    for (const FindingChange& change : changes.all) {
        EXPECT_NE(change.finding.id, "score-matrix-written");
        EXPECT_NE(change.finding.id, "bound-excludes");
    }
    const Report r = build_report(compare(a, b), false);
    ASSERT_NE(section(r, "finding-changes"), nullptr);
    EXPECT_NE(render_text(r, {80, false, true}).find("- new: "), std::string::npos);
}

// A rule that needs a real GPU is no finding that came with the program.
TEST(FindingChanges, RulesOfOneGroundAreNoChange) {
    const Analysis a = blog(), b = measured_blog(5);
    const FindingChanges changes = compare_findings(compare(a, b));
    EXPECT_GT(changes.one_sided, 0U);
    for (const FindingChange& change : changes.all) {
        EXPECT_NE(change.finding.id, "fastest");
        EXPECT_NE(change.finding.id, "not-decidable");
    }
}

TEST(PredictionErrors, ThePublishedRunIsPredictedExactly) {
    const Analysis a = blog(), b = measured_blog(5);
    std::string absent;
    const std::vector<PredictionError> errors = prediction_errors(compare(a, b), absent);
    EXPECT_EQ(absent, "");
    ASSERT_GT(errors.size(), 50U);
    size_t bounds = 0;
    for (const PredictionError& e : errors) {
        if (e.claim == PredictionError::Claim::exact) {
            EXPECT_TRUE(e.holds()) << e.implementation << " " << e.kernel << " " << e.figure.title;
        }
        bounds += e.claim != PredictionError::Claim::exact;
    }
    EXPECT_GT(bounds, 5U);
    // Whichever comes first: a prediction is held against a measurement.
    std::string swapped;
    EXPECT_EQ(prediction_errors(compare(b, a), swapped).size(), errors.size());
}

TEST(PredictionErrors, AWrongOneHasItsErrorAndLeadsItsMetric) {
    const Analysis a = blog();
    Analysis b = measured_blog(5);
    Step& flash = named(b, "sdpa_flash").steps.at(0);
    flash.registers.number = 200;
    named(b, "sdpa_math").peak_memory.number = 2.0 * 2285895680;
    const Report r = build_report(compare(a, b), false);
    const Section* errors = section(r, "prediction-errors");
    ASSERT_NE(errors, nullptr);
    const Row* registers = row(errors->tables.at(0), "registers of a kernel");
    ASSERT_NE(registers, nullptr);
    EXPECT_EQ(*registers->cells[1].value.number - *registers->cells[2].value.number, 1)
        << "all but one are exact";
    EXPECT_EQ(registers->cells[3].value.number, 0.0) << "the median error";
    EXPECT_NEAR(*registers->cells[4].value.number, 27.5, 1e-9) << "255 against 200, of 200";
    EXPECT_EQ(registers->cells[5].text.find("sdpa_flash: "), 0U) << registers->cells[5].text;
    const Row* memory = row(errors->tables.at(0), "peak memory");
    ASSERT_NE(memory, nullptr);
    EXPECT_NEAR(*memory->cells[4].value.number, 50, 1e-9);
    EXPECT_NE(r.answer.back().find("exact predictions are what was measured"), std::string::npos)
        << r.answer.back();
}

TEST(PredictionErrors, AreNotGivenForAnotherGpuOrOtherInputs) {
    const Analysis a = blog();
    Analysis b = measured_blog(5);
    b.device->name = "NVIDIA H100 80GB HBM3";
    std::string absent;
    EXPECT_TRUE(prediction_errors(compare(a, b), absent).empty());
    EXPECT_NE(absent.find("GPUs are not the same"), std::string::npos) << absent;
    BlogOptions small;
    small.batch = 1;
    const Analysis other = blog(small);
    absent.clear();
    EXPECT_TRUE(prediction_errors(compare(other, measured_blog(5)), absent).empty());
    EXPECT_NE(absent.find("batch"), std::string::npos) << absent;
    absent.clear();
    EXPECT_TRUE(prediction_errors(compare(a, a), absent).empty());
    EXPECT_NE(absent.find("both runs are predictions"), std::string::npos) << absent;
}

TEST(CompareReport, SeveralRunsAgainstOne) {
    BlogOptions options;
    options.refuse_flash = true;
    const Analysis a = blog(), b = blog(), c = blog(options), d = measured_blog(5);
    std::vector<Comparison> all = {compare(a, b), compare(a, c, {}, "C"), compare(a, d, {}, "D")};
    const Report r = build_report(all, false);
    EXPECT_EQ(r.title, "A against B, C and D");
    ASSERT_EQ(r.answer.size(), 3U);
    EXPECT_EQ(r.answer[1].find("C: "), 0U);
    EXPECT_EQ(r.commands.at(0).find("attnscope compare "), 0U);
    std::string columns;
    for (const Column& column : r.implementations.columns) columns += column.title + ", ";
    EXPECT_NE(columns.find("launches in A, launches in B, launches in C, launches in D"), std::string::npos)
        << columns;
    for (const Row& one : r.implementations.rows)
        EXPECT_LE(one.cells.size(), r.implementations.columns.size()) << one.id;
    for (const Finding& f : r.findings)
        if (f.id == "backend-changed") {
            EXPECT_NE(f.claim.find("and not in C"), std::string::npos) << f.claim;
        }
    ASSERT_NE(section(r, "finding-changes-C"), nullptr);
    EXPECT_EQ(section(r, "finding-changes-C")->title, "Findings, new and gone: C against A");
    for (const std::string& bytes :
         {render_text(r, {80, false, true}), render_markdown(r), render_html(r), render_json(r)})
        EXPECT_GT(bytes.size(), 500U);
    all.push_back(compare(a, b, {}, "E"));
    EXPECT_EQ(build_report(all, false).answer.back(), "D and E: see below.");
}

}  // namespace
}  // namespace attnscope
