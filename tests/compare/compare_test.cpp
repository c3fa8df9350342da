// Which implementations are held against each other, their figures, and what cannot be compared.
#include <gtest/gtest.h>

#include "attnscope/error.h"
#include "attnscope/render.h"
#include "runs.h"

namespace attnscope {
namespace {

using test::blog;
using test::BlogOptions;
using test::measured_blog;
using test::pair_named;

TEST(Compare, ARunAgainstItselfDiffersInNothing) {
    const Analysis a = blog();
    const Comparison c = compare(a, a);
    EXPECT_EQ(c.nothing, "");
    EXPECT_EQ(c.pairs.size(), 7U);
    EXPECT_TRUE(c.inputs.empty() && c.machine.empty() && c.libraries.empty());
    EXPECT_TRUE(find_differences(c).empty());
    for (const ImplementationPair& p : c.pairs) {
        EXPECT_TRUE(p.same_launches()) << p.title();
        for (const FigurePair& f : p.figures)
            EXPECT_TRUE(f.relation == Relation::equal || f.relation == Relation::unknown) << f.id;
    }
}

TEST(Compare, VirtualRunsHaveNoTimes) {
    const Analysis a = blog();
    const Comparison c = compare(a, a);
    const FigurePair& time = pair_named(c, "sdpa_flash")->figure("time");
    EXPECT_EQ(time.relation, Relation::unknown);
    EXPECT_FALSE(time.a.absent.empty());
    const std::string text = render_text(build_report(c, false));
    EXPECT_EQ(text.find("COMPARED"), 0U);
    EXPECT_NE(text.find("no time is in either"), std::string::npos) << text;
    EXPECT_EQ(text.find(" ms"), std::string::npos) << text;
}

// A prediction against its measurement: LibTorch's own kernels are the same, calls have become kernels.
TEST(Compare, PredictionAgainstMeasurement) {
    const Analysis predicted = blog(), measured = measured_blog(5);
    const Comparison c = compare(predicted, measured);
    ASSERT_TRUE(c.reality_against_prediction());
    EXPECT_TRUE(pair_named(c, "sdpa_flash")->same_launches());
    const ImplementationPair& naive = *pair_named(c, "naive");
    EXPECT_EQ(naive.count(StepChange::resolved), 2.0);
    EXPECT_EQ(naive.count(StepChange::same), 4.0);
    EXPECT_EQ(naive.count(StepChange::added) + naive.count(StepChange::gone), 0.0);
    EXPECT_EQ(pair_named(c, "sdpa_cudnn")->count(StepChange::resolved), 1.0);
    const FigurePair& share = pair_named(c, "sdpa_flash")->figure("share_of_bound");
    EXPECT_FALSE(share.a);
    EXPECT_NEAR(*share.b.number, 100 * 17179869184.0 / 312e12 / 146.8e-6, 1e-6);
}

TEST(Compare, TimesAreToldApartBySpreadAlone) {
    const Analysis two = measured_blog(2), five = measured_blog(5);
    const FigurePair no_spread = pair_named(compare(two, five), "naive")->figure("time");
    EXPECT_EQ(no_spread.relation, Relation::equal);
    Analysis slower = five;
    for (Implementation& i : slower.implementations) {
        i.time.number = *i.time.number * 1.02;
        i.time_iqr.number = *i.time.number * 0.03;
    }
    EXPECT_EQ(pair_named(compare(five, slower), "naive")->figure("time").relation, Relation::not_told_apart);
    for (Implementation& i : slower.implementations) i.time_iqr.number = *i.time.number * 0.01;
    EXPECT_EQ(pair_named(compare(five, slower), "naive")->figure("time").relation, Relation::more);
    EXPECT_EQ(pair_named(compare(slower, five), "naive")->figure("time").relation, Relation::less);
    const FigurePair unknown = pair_named(compare(two, slower), "naive")->figure("time");
    EXPECT_EQ(unknown.relation, Relation::not_told_apart);
    EXPECT_NE(unknown.note.find("no spread is known"), std::string::npos) << unknown.note;
}

TEST(Compare, ByHandPairsDifferentImplementations) {
    const Analysis a = blog();
    const Comparison c = compare(a, a, {{"sdpa_flash", "sdpa_math"}});
    ASSERT_EQ(c.pairs.size(), 1U);
    EXPECT_EQ(c.pairs[0].title(), "sdpa_flash against sdpa_math");
    EXPECT_EQ(c.pairs[0].count(StepChange::gone), 1.0);
    EXPECT_EQ(c.pairs[0].count(StepChange::added), 20.0);
    EXPECT_EQ(c.pairs[0].figure("score_bytes").a.number, 0.0);
    EXPECT_FALSE(c.pairs[0].figure("score_bytes").ratio()) << "nothing is a multiple of 0";
    try {
        compare(a, a, {{"sdpa_flash", "sdpa_fastest"}});
        ADD_FAILURE() << "an unknown name was accepted";
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("sdpa_fastest"), std::string::npos);
        EXPECT_NE(std::string(e.what()).find("sdpa_efficient"), std::string::npos) << "names those there are";
    }
}

TEST(Compare, WhatOnlyOneRunHoldsIsNamed) {
    BlogOptions less;
    less.without_inplace = true;
    const Analysis a = blog(), b = blog(less);
    const Comparison c = compare(a, b);
    EXPECT_EQ(c.only_a, std::vector<std::string>{"naive_inplace"});
    EXPECT_TRUE(c.only_b.empty());
    EXPECT_EQ(compare(b, a).only_b, std::vector<std::string>{"naive_inplace"});
    EXPECT_NE(render_markdown(build_report(c, false)).find("only in A"), std::string::npos);
}

TEST(Compare, NothingInCommonSaysWhatThereIs) {
    test::ProcessWriter x, y, empty;
    x.a100();
    x.kernel({"k"}, x.open("mine"));
    x.end();
    y.a100();
    y.kernel({"k"}, y.open("other"));
    y.end();
    empty.a100();
    empty.end();
    const Analysis a = test::of_lines(x), b = test::of_lines(y), none = test::of_lines(empty);
    EXPECT_EQ(compare(a, a).nothing, "");
    const std::string nothing = compare(a, b).nothing;
    EXPECT_NE(nothing.find("A holds mine"), std::string::npos) << nothing;
    EXPECT_NE(nothing.find("B holds other"), std::string::npos) << nothing;
    EXPECT_NE(compare(a, none).nothing.find("run B"), std::string::npos);
    EXPECT_NE(compare(none, a).nothing.find("run A"), std::string::npos);
    const Report r = build_report(compare(a, none), true);
    ASSERT_EQ(r.answer.size(), 1U);
    EXPECT_EQ(r.answer[0].find("Nothing was compared"), 0U);
}

// Processes have their number in the title, and another one in every run.
TEST(Compare, ProcessesArePairedInTheirOrder) {
    Analysis a = blog(), b = blog();
    for (Analysis* x : {&a, &b}) {
        const std::vector<Implementation> once = x->implementations;
        for (Implementation i : once) {
            i.title = i.name + (x == &a ? " (process 1)" : " (process 99)");
            x->implementations.push_back(i);
        }
    }
    const Comparison c = compare(a, b);
    EXPECT_EQ(c.pairs.size(), 14U);
    EXPECT_TRUE(c.only_a.empty() && c.only_b.empty());
}

TEST(Compare, ACutRunSaysWhatItLost) {
    const Analysis whole = blog();
    test::TemporaryFolder folder;
    test::write_blog_run(folder.path() / "run", {});
    const auto file = folder.path() / "run" / "test-4242-1764500000000000000.jsonl";
    const std::string text = test::read_text(file);
    test::write_text(file, text.substr(0, text.size() * 2 / 3));
    const Analysis cut = analyze(read_run(folder.path() / "run"));
    const Report r = build_report(compare(whole, cut), false);
    ASSERT_FALSE(r.notices.empty());
    EXPECT_EQ(r.notices[0].message.find("B: "), 0U) << r.notices[0].message;
    EXPECT_TRUE(r.notices[0].first);
}

TEST(Compare, HostileNamesReachEveryRenderer) {
    const std::string evil = "<script>|`\x1b[31m\n# x \xff";
    test::ProcessWriter x, y;
    for (test::ProcessWriter* w : {&x, &y}) {
        w->a100();
        const auto range = w->open("|<b>`evil`</b>");
        w->kernel({w == &x ? "plain" : "<script>|`[31m# x"}, range);
        w->end();
    }
    Analysis a = test::of_lines(x), b = test::of_lines(y);
    b.implementations.at(0).steps.at(0).name = evil;
    b.implementations.at(0).reason = evil;
    const Report r = build_report(compare(a, b), true);
    for (const std::string& bytes : {render_text(r), render_markdown(r), render_html(r), render_json(r)})
        EXPECT_EQ(bytes.find('\x1b'), std::string::npos);
    EXPECT_EQ(render_html(r).find("<script>|"), std::string::npos);
}

TEST(Compare, TextIsEightyColumns) {
    BlogOptions other;
    other.batch = 1;
    const Analysis a = blog(), b = measured_blog(other);
    TextOptions options;
    options.details = true;
    const std::string text = render_text(build_report(compare(a, b), true), options);
    size_t start = 0;
    while (start < text.size()) {
        const size_t end = text.find('\n', start);
        size_t columns = 0;
        for (size_t i = start; i < end && i < text.size(); ++i) columns += (text[i] & 0xC0) != 0x80;
        EXPECT_LE(columns, 80U) << text.substr(start, end - start);
        start = end + 1;
    }
}

}  // namespace
}  // namespace attnscope
