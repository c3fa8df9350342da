// What the hardware counted, per kernel and per iteration. Right values: computed by hand beside each test.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "attnscope/analysis.h"
#include "attnscope/metrics.h"
#include "attnscope/render.h"
#include "run_writer.h"

namespace attnscope {
namespace {

using test::CounterWriter;
using test::ProcessWriter;

constexpr const char* kCycles = "sm__cycles_active.avg";
constexpr const char* kElapsed = "sm__cycles_elapsed.avg";
constexpr const char* kWarps = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kTensorElapsed = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kRead = "dram__bytes_read.sum";
constexpr const char* kWrite = "dram__bytes_write.sum";
constexpr const char* kDuration = "gpu__time_duration.sum";

using Values = std::map<std::string, double>;

/// A run with counters: launches and their values side by side, in one collection or in two.
class CountedRun {
  public:
    explicit CountedRun(const std::string& ground = "real", const std::string& values_ground = "real",
                        const std::string& extra = test::kCountersCollection)
        : process_(ground, extra), time_(ground), values_("p.jsonl", values_ground), ground_(ground) {
        both([](ProcessWriter& w) { w.a100(); });
    }
    void both(const std::function<void(ProcessWriter&)>& write) {
        write(process_);
        write(time_);
    }
    uint64_t open(const std::string& name, uint64_t parent = 0) {
        time_.open(name, parent);
        return process_.open(name, parent);
    }
    void close(uint64_t range) {
        both([&](ProcessWriter& w) { w.close(range); });
    }
    void kernel(const std::string& name, uint64_t range, const Values& values, uint64_t ns = 0) {
        process_.kernel({name}, range);
        time_.kernel({name}, range, ns);
        for (const auto& [metric, value] : values) values_.launch(process_.launches(), metric, value);
    }
    ProcessWriter& process() { return process_; }
    CounterWriter& values() { return values_; }
    attnscope::Run read(bool two_collections = false, const std::string& more = {}) {
        test::TemporaryFolder folder;
        write(folder.path(), two_collections, more);
        return read_run(folder.path());
    }
    void write(const std::filesystem::path& folder, bool two_collections, const std::string& more) {
        both([](ProcessWriter& w) { w.end(); });
        values_.end();
        test::write_text(folder / "run.json", test::counters_run_json(ground_, more));
        test::write_text(folder / "p.jsonl", process_.text());
        if (values_written_) test::write_text(folder / "p.counters.jsonl", values_.text());
        if (two_collections) test::write_text(folder / "q.jsonl", time_.text());
    }
    void without_values() { values_written_ = false; }

  private:
    ProcessWriter process_, time_;
    CounterWriter values_;
    std::string ground_;
    bool values_written_ = true;
};

const Implementation& get(const Analysis& a, std::string_view name) {
    for (const Implementation& i : a.implementations)
        if (i.name == name) return i;
    throw std::runtime_error("no implementation " + std::string(name));
}

bool says(const std::vector<std::string>& sentences, std::string_view part) {
    return std::any_of(sentences.begin(), sentences.end(),
                       [&](const std::string& s) { return s.find(part) != std::string::npos; });
}

const CounterRole& role(const Analysis& a, std::string_view name) {
    for (const CounterRole& r : a.counter_roles)
        if (r.role == name) return r;
    throw std::runtime_error("no role " + std::string(name));
}

/// Two kernels, two iterations: a of 100 active cycles, b of 300.
CountedRun two_kernels(const std::string& ground = "real", const std::string& values = "real") {
    CountedRun run(ground, values);
    const auto outer = run.open("attnscope.implementation/x");
    for (const double more : {0.0, 100.0}) {
        const auto iteration = run.open("attnscope.iteration", outer);
        run.kernel("a", iteration,
                   {{kCycles, 100},
                    {kElapsed, 200},
                    {kWarps, 20},
                    {kTensor, 0},
                    {kTensorElapsed, 0},
                    {kRead, 1000 + more},
                    {kWrite, 10},
                    {kDuration, 5000}},
                   700);
        run.kernel("b", iteration,
                   {{kCycles, 300},
                    {kElapsed, 400},
                    {kWarps, 60},
                    {kTensor, 40},
                    {kTensorElapsed, 30},
                    {kRead, 500},
                    {kWrite, 40},
                    {kDuration, 6000}},
                   300);
        run.close(iteration);
    }
    run.close(outer);
    run.both([](ProcessWriter& w) { w.mark(R"(attnscope.implementation {"name":"x","status":"ran"})"); });
    return run;
}

TEST(Counters, OfAnIterationAddUpOrAreWeightedByActiveCycles) {
    const Analysis a = analyze(two_kernels().read());
    const Implementation& x = get(a, "x");
    // First iteration 1000 + 500 + 10 + 40 = 1550, second 1650: their median.
    EXPECT_EQ(x.counter("dram_bytes").number, 1600.0);
    EXPECT_EQ(x.counter("dram_read").number, 1550.0);
    EXPECT_EQ(x.counter("dram_write").number, 50.0);
    EXPECT_EQ(x.counter("dram_bytes").formula,
              "median of 2 iterations; the first: sum over 2 kernels: dram__bytes_read.sum 1500 + "
              "dram__bytes_write.sum 50");
    // (20 x 100 + 60 x 300) / 400
    EXPECT_EQ(x.counter("achieved_occupancy").number, 50.0);
    EXPECT_EQ(x.counter("achieved_occupancy").formula,
              "median of 2 iterations; the first: mean over 2 kernels, weighted by sm__cycles_active.avg: " +
                  std::string(kWarps) + " 50");
    EXPECT_EQ(x.counter("tensor_pipe").number, 30.0) << "(0 x 100 + 40 x 300) / 400";
    EXPECT_EQ(x.counter("tensor_pipe_elapsed").number, 20.0) << "(0 x 200 + 30 x 400) / 600";
    EXPECT_EQ(x.counter("sm_active_cycles").number, 400.0);
    EXPECT_NEAR(*x.counter("sm_busy").number, 100 * 400.0 / 600, 1e-9);
    for (const Measured& m : x.counters) {
        EXPECT_EQ(m.value.provenance.source, Source::counter) << m.role;
        EXPECT_EQ(m.value.provenance.ground, Ground::real) << m.role;
    }
    EXPECT_EQ(find_role(x.counters, "dram_bytes")->spread.absent, "needs at least 4 iterations");
}

TEST(Counters, OfAKernelAreItsOwn) {
    const Analysis a = analyze(two_kernels().read());
    const Implementation& x = get(a, "x");
    ASSERT_EQ(x.steps.size(), 2U);
    EXPECT_EQ(find_role(x.steps[0].counters, "achieved_occupancy")->value.number, 20.0);
    EXPECT_EQ(find_role(x.steps[1].counters, "achieved_occupancy")->value.number, 60.0);
    EXPECT_EQ(find_role(x.steps[0].counters, "dram_bytes")->value.number, 1060.0)
        << "median of 1010 and 1110";
    EXPECT_EQ(find_role(x.steps[1].counters, "kernel_time")->value.number, 6000.0);
}

/// An implementation x with an iteration for each of these, of the kernels that `launch` adds.
Analysis of_iterations(std::initializer_list<double> each,
                       const std::function<void(CountedRun&, uint64_t, double)>& launch) {
    CountedRun run;
    const auto outer = run.open("attnscope.implementation/x");
    for (const double one : each) {
        const auto iteration = run.open("attnscope.iteration", outer);
        launch(run, iteration, one);
        run.close(iteration);
    }
    run.close(outer);
    return analyze(run.read());
}

TEST(Counters, SpreadIsTheInterquartileRange) {
    const Analysis a = of_iterations({40, 10, 30, 20}, [](CountedRun& run, uint64_t iteration, double bytes) {
        run.kernel("a", iteration, {{kRead, bytes}, {kWrite, 0}});
    });
    const Measured& dram = *find_role(get(a, "x").counters, "dram_bytes");
    EXPECT_EQ(dram.value.number, 25.0);
    EXPECT_EQ(dram.spread.number, 15.0) << "quartiles of 10, 20, 30, 40: 17.5 and 32.5";
}

TEST(Counters, RoundingOfAWeightedMeanIsNoSpread) {
    const Analysis a = of_iterations(
        {203417, 203514, 203611, 203708}, [](CountedRun& run, uint64_t iteration, double cycles) {
            run.kernel("a", iteration, {{kCycles, cycles}, {kWarps, 88.1}});
            run.kernel("b", iteration, {{kCycles, 3 * cycles + 1}, {kWarps, 88.1}});
        });
    EXPECT_EQ(find_role(get(a, "x").counters, counter_role::kAchievedOccupancy)->spread.number, 0.0);
}

TEST(Counters, OneKernelWithoutAValueLeavesNoHalfSum) {
    CountedRun run;
    run.process().line(
        R"({"type":"diagnostic","severity":"info","code":"counters-captured","message":"launched while its stream was captured","remedy":"-","count":1})");
    const auto outer = run.open("attnscope.implementation/x");
    const auto iteration = run.open("attnscope.iteration", outer);
    run.kernel("a", iteration, {{kCycles, 100}, {kWarps, 20}, {kRead, 1000}, {kWrite, 10}});
    run.process().line(
        R"({"type":"kernel","correlation":77,"name":1,"device":0,"range":2,"uncounted":"counters-captured"})");
    run.close(iteration);
    run.close(outer);
    const Analysis a = analyze(run.read());
    const Implementation& x = get(a, "x");
    for (const char* name : {"dram_bytes", "achieved_occupancy"}) {
        EXPECT_FALSE(x.counter(name)) << name;
        EXPECT_EQ(x.counter(name).absent,
                  "1 of 2 kernels have no value: launched while its stream was captured");
    }
    EXPECT_EQ(find_role(x.steps.at(0).counters, "dram_bytes")->value.number, 1010.0);
    EXPECT_EQ(find_role(x.steps.at(1).counters, "dram_bytes")->value.absent,
              "launched while its stream was captured");
    EXPECT_TRUE(role(a, "dram_bytes").measured) << "one kernel has it";
}

TEST(Counters, RatiosOfSumsAreExactAndOtherRatiosDoNotCombine) {
    CountedRun run;
    const auto outer = run.open("attnscope.implementation/x");
    const auto iteration = run.open("attnscope.iteration", outer);
    const char* hit = "lts__t_sectors_lookup_hit.sum";
    const char* all = "lts__t_sectors.sum";
    const char* l1 = "l1tex__t_sector_hit_rate.pct";
    run.kernel("a", iteration, {{hit, 5}, {all, 20}, {l1, 50}, {kWarps, 20}});
    run.kernel("b", iteration, {{hit, 30}, {all, 40}, {l1, 70}, {kWarps, 30}});
    run.close(iteration);
    run.close(outer);
    const Analysis a = analyze(run.read());
    const Implementation& x = get(a, "x");
    EXPECT_NEAR(*x.counter("l2_hit_rate").number, 100 * 35.0 / 60, 1e-9);
    EXPECT_NE(x.counter("l2_hit_rate")
                  .formula.find("100 x lts__t_sectors_lookup_hit.sum 35 / lts__t_sectors.sum 60"),
              std::string::npos)
        << x.counter("l2_hit_rate").formula;
    EXPECT_EQ(
        x.counter("l1_hit_rate").absent,
        "not combined over 2 kernels: l1tex__t_sector_hit_rate.pct neither adds up nor is a share of an "
        "SM's cycles");
    EXPECT_EQ(find_role(x.steps.at(1).counters, "l1_hit_rate")->value.number, 70.0);
    EXPECT_EQ(x.counter("achieved_occupancy").absent,
              "not combined over 2 kernels: that needs sm__cycles_active.avg of each, above 0");
}

TEST(Counters, ALibraryCallHasKernelsThatNobodyCounted) {
    CountedRun run("virtual", "fixture");
    const auto outer = run.open("attnscope.implementation/x");
    run.kernel("a", outer, {{kRead, 1000}, {kWrite, 10}});
    run.both([&](ProcessWriter& w) { w.gemm("bf16", 8, 8, 8, outer); });
    run.close(outer);
    const Analysis a = analyze(run.read());
    EXPECT_EQ(get(a, "x").counter("dram_bytes").absent,
              "1 library call: their kernels are chosen by the library on a real GPU");
}

TEST(Counters, CopiesAreSaidToBeLeftOut) {
    CountedRun run;
    const auto outer = run.open("attnscope.implementation/x");
    run.kernel("a", outer, {{kRead, 1000}, {kWrite, 10}});
    run.both([&](ProcessWriter& w) { w.copy("DtoD", 64, outer); });
    run.close(outer);
    const Analysis a = analyze(run.read());
    EXPECT_EQ(get(a, "x").counter("dram_bytes").number, 1010.0);
    EXPECT_NE(get(a, "x").counter("dram_bytes").formula.find("1 copy or memset is not counted"),
              std::string::npos);
}

TEST(Counters, AlikeLaunchesOfAnyProgramAreSummed) {
    CountedRun run;
    for (const double n : {1.0, 2.0, 3.0})
        run.kernel("a", 0, {{kCycles, 100 * n}, {kWarps, 10 * n}, {kRead, 1000 * n}, {kWrite, 1}});
    const Analysis a = analyze(run.read());
    const Implementation& whole = a.implementations.at(0);
    ASSERT_EQ(whole.steps.size(), 1U);
    EXPECT_EQ(find_role(whole.steps[0].counters, "dram_bytes")->value.number, 6003.0);
    // (10 x 100 + 20 x 200 + 30 x 300) / 600
    EXPECT_NEAR(*find_role(whole.steps[0].counters, "achieved_occupancy")->value.number, 14000.0 / 600, 1e-9);
    EXPECT_EQ(whole.counter("dram_bytes").number, 6003.0);
}

// The program's time is that of the undisturbed run, and never what a kernel takes under counters.
TEST(Counters, TimesAreThoseOfTheUndisturbedRun) {
    const Analysis both = analyze(two_kernels().read(true));
    EXPECT_TRUE(both.two_collections);
    EXPECT_FALSE(both.serialised_only);
    EXPECT_EQ(get(both, "x").time.number, 1000.0) << "700 + 300 ns";
    EXPECT_EQ(get(both, "x").counter("kernel_time").number, 11000.0) << "serialised: 5000 + 6000 ns";
    EXPECT_EQ(get(both, "x").counter("dram_bytes").number, 1600.0);
    const Report r = build_report(both);
    EXPECT_EQ(r.implementations.columns.at(1).id, "time") << "where it was measured it comes second";
    EXPECT_NE(r.banner.find("times in a second, undisturbed run"), std::string::npos) << r.banner;

    CountedRun alone = two_kernels();
    const Analysis counters = analyze(alone.read());
    EXPECT_TRUE(counters.serialised_only);
    EXPECT_FALSE(counters.timed());
    EXPECT_NE(get(counters, "x").time.absent.find("--timing separate"), std::string::npos);
    EXPECT_NE(build_report(counters).banner.find("its own times are not known"), std::string::npos);
}

TEST(Counters, TimesUnderCountersAreNoTimesEvenWhereTheRecordHasThem) {
    ProcessWriter w("real", test::kCountersCollection);
    w.kernel({"k"}, 0, 5000);
    w.end();
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::counters_run_json());
    test::write_text(folder.path() / "p.jsonl", w.text());
    const Analysis a = analyze(read_run(folder.path()));
    EXPECT_FALSE(a.timed());
    EXPECT_FALSE(a.implementations.at(0).steps.at(0).time);
}

TEST(Counters, DifferingCollectionsHaveNoTimes) {
    CountedRun run = two_kernels();
    run.process().kernel({"only here"}, 0);
    const Analysis a = analyze(run.read(true));
    EXPECT_FALSE(a.timed());
    EXPECT_EQ(get(a, "x").time.absent, "the run for time launched different kernels");
    EXPECT_EQ(get(a, "x").counter("dram_bytes").number, 1600.0) << "its own counters stay";
    ASSERT_FALSE(a.notices.empty());
    const auto notice = std::find_if(a.notices.begin(), a.notices.end(),
                                     [](const Notice& n) { return n.code == "collections-differ"; });
    ASSERT_NE(notice, a.notices.end());
    EXPECT_TRUE(notice->first);
    EXPECT_EQ(a.total_kernels.number, 5.0) << "nothing is counted twice";
}

TEST(Counters, OfRangesStandForTheWholeIteration) {
    CountedRun run;
    std::vector<uint64_t> iterations;
    const auto outer = run.open("attnscope.implementation/x");
    for (int i = 0; i < 2; ++i) {
        iterations.push_back(run.open("attnscope.iteration", outer));
        run.kernel("a", iterations.back(), {});
        run.kernel("b", iterations.back(), {});
        run.close(iterations.back());
    }
    run.close(outer);
    for (size_t i = 0; i < 2; ++i) {
        const std::string range = "\"range\":" + std::to_string(iterations[i]);
        run.values().value(range, kRead, 100 + 20 * double(i));
        run.values().value(range, kWrite, 5);
        run.values().value(range, kWarps, 33);
    }
    for (const bool two : {false, true}) {
        CountedRun copy = run;
        const Analysis a = analyze(copy.read(two));
        const Implementation& x = get(a, "x");
        EXPECT_EQ(x.counter("dram_bytes").number, 115.0) << "median of 105 and 125";
        EXPECT_EQ(x.counter("achieved_occupancy").number, 33.0);
        EXPECT_EQ(find_role(x.steps.at(0).counters, "dram_bytes")->value.absent,
                  "counted for whole ranges, not kernel by kernel");
    }
}

TEST(Counters, OfOutermostRangesOfAnyProgram) {
    CountedRun run;
    for (int i = 0; i < 2; ++i) {
        const auto step = run.open("step");
        run.kernel("a", step, {});
        run.close(step);
        run.values().value("\"range\":" + std::to_string(step), kRead, 100);
        run.values().value("\"range\":" + std::to_string(step), kWrite, 1);
    }
    const Analysis a = analyze(run.read());
    EXPECT_EQ(get(a, "step").counter("dram_bytes").number, 202.0);
}

TEST(NotCounted, SaysWhyInTheLaunchersOrTheProcesssWords) {
    const auto reason = [](CountedRun run, const std::string& more = {}) {
        run.without_values();
        return get(analyze(run.read(false, more)), "x").counter("tensor_pipe").absent;
    };
    CountedRun on_virtual = two_kernels("virtual");
    on_virtual.process().line(
        R"({"type":"diagnostic","severity":"info","code":"counters-virtual","message":"a virtual GPU has none","remedy":"r","count":1})");
    EXPECT_EQ(reason(on_virtual), "not measured: virtual GPU");
    EXPECT_NE(reason(two_kernels()).find("their values are not in the run"), std::string::npos);
    CountedRun denied = two_kernels();
    denied.process().line(
        R"({"type":"diagnostic","severity":"error","code":"counters-permission","message":"counters need permission","remedy":"r","count":1})");
    EXPECT_EQ(reason(denied), "counters need permission");
    EXPECT_EQ(
        reason(
            two_kernels(),
            R"(,"diagnostics":[{"severity":"warning","code":"counters-no-config","message":"no config","remedy":"r"}])"),
        "no config");
    // A run that nobody asked to count.
    ProcessWriter w("real");
    const auto outer = w.open("attnscope.implementation/x");
    w.kernel({"k"}, outer, 5);
    w.end();
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json("real"));
    test::write_text(folder.path() / "p.jsonl", w.text());
    const Analysis a = analyze(read_run(folder.path()));
    EXPECT_EQ(get(a, "x").counter("tensor_pipe").absent, "not asked for: attnscope collect --counters core");
    const Report r = build_report(a);
    for (const Column& c : r.implementations.columns)
        EXPECT_EQ(a.counter_roles.end(), std::find_if(a.counter_roles.begin(), a.counter_roles.end(),
                                                      [&](const CounterRole& x) { return x.role == c.id; }))
            << "a column that no one has is not shown";
    EXPECT_TRUE(says(r.cannot_tell, "not asked for: attnscope collect --counters core"));
}

TEST(NotCounted, ARoleThatWasNotAskedForOrThatTheChipLacks) {
    CountedRun run;
    const auto outer = run.open("attnscope.implementation/x");
    run.kernel("a", outer, {{kRead, 1}, {kWrite, 1}});
    run.close(outer);
    const Analysis a = analyze(run.read());
    EXPECT_EQ(get(a, "x").counter("tensor_pipe").absent, "not asked for: attnscope collect --counters core");
    EXPECT_FALSE(role(a, "tensor_pipe").measured);

    CountedRun orin;
    const auto range = orin.open("attnscope.implementation/x");
    orin.kernel("a", range, {{kWarps, 5}});
    orin.close(range);
    test::TemporaryFolder folder;
    orin.write(folder.path(), false, {});
    std::string text = test::read_text(folder.path() / "p.jsonl");
    text.replace(text.find("\"GA100\""), 7, "\"GA10B\"");
    test::write_text(folder.path() / "p.jsonl", text);
    const Analysis b = analyze(read_run(folder.path()));
    EXPECT_EQ(get(b, "x").counter("dram_bytes").absent,
              "not on GA10B: " + *find_metric_role("dram_read")->absent_on("GA10B"));
}

TEST(Fixture, IsSaidWithEveryValue) {
    const Analysis a = analyze(two_kernels("virtual", "fixture").read());
    EXPECT_EQ(a.counter_ground, Ground::fixture);
    EXPECT_TRUE(a.predicted());
    const Implementation& x = get(a, "x");
    for (const Measured& m : x.counters) EXPECT_EQ(m.value.provenance.ground, Ground::fixture) << m.role;
    for (const Measured& m : x.steps.at(0).counters) EXPECT_EQ(m.value.provenance.ground, Ground::fixture);
    const Report r = build_report(a);
    EXPECT_NE(r.banner.find("Counter values come from a fixture file: no GPU measured them."),
              std::string::npos);
    EXPECT_NE(render_text(r).substr(0, 400).find("fixture"), std::string::npos);
    EXPECT_NE(render_markdown(r).substr(0, 600).find("fixture"), std::string::npos);
    EXPECT_NE(render_text(r).find("fixture: made for a test"), std::string::npos) << "the tag's meaning";
    EXPECT_NE(render_json(r).find("\"source\": \"counter\",\n"), std::string::npos);
    const std::string json = render_json(r);
    size_t counted = 0;
    for (size_t at = json.find("\"source\": \"counter\""); at != std::string::npos;
         at = json.find("\"source\": \"counter\"", at + 1)) {
        ++counted;
        EXPECT_NE(json.substr(at, 60).find("\"ground\": \"fixture\""), std::string::npos)
            << json.substr(at, 60);
    }
    EXPECT_GT(counted, 8U);
}

TEST(Report, ShowsTheThreeInTheMainTableAndAllInTheSection) {
    const Report r = build_report(analyze(two_kernels().read(true)));
    std::vector<std::string> ids;
    for (const Column& c : r.implementations.columns) ids.push_back(c.id);
    for (const char* id : {"achieved_occupancy", "dram_bytes", "tensor_pipe"})
        EXPECT_NE(std::find(ids.begin(), ids.end(), id), ids.end()) << id;
    EXPECT_EQ(std::find(ids.begin(), ids.end(), "kernel_time"), ids.end()) << "serialised: not the program's";
    const auto section = std::find_if(r.sections.begin(), r.sections.end(),
                                      [](const Section& s) { return s.id == "counters"; });
    ASSERT_NE(section, r.sections.end());
    EXPECT_GT(section->tables.at(0).columns.size(), 8U);
    const auto method = std::find_if(r.methods.rows.begin(), r.methods.rows.end(),
                                     [](const Row& row) { return row.id == "achieved occupancy"; });
    ASSERT_NE(method, r.methods.rows.end());
    EXPECT_NE(method->cells[1].text.find("weighted by sm__cycles_active.avg"), std::string::npos);
    EXPECT_FALSE(says(r.cannot_tell, "really active"));
}

TEST(Report, SaysFirstWhatIsMissingWorstFirst) {
    CountedRun run = two_kernels();
    run.without_values();
    for (const auto& [severity, code] : {std::pair("info", "counters-collective"),
                                         {"error", "counters-permission"},
                                         {"warning", "counters-busy"}})
        run.process().line(std::string(R"({"type":"diagnostic","severity":")") + severity + R"(","code":")" +
                           code + R"(","message":"it is )" + code + R"(","remedy":"do this","count":1})");
    const Report r = build_report(analyze(run.read()));
    const std::string text = render_text(r);
    size_t before = 0;
    for (const char* code : {"counters-permission", "counters-busy", "counters-collective"}) {
        const size_t at = text.find(std::string("it is ") + code);
        ASSERT_NE(at, std::string::npos) << code;
        EXPECT_GT(at, before) << code;
        EXPECT_LT(at, text.find("Attention")) << "before the title";
        before = at;
    }
    EXPECT_NE(text.find("do this"), std::string::npos);
}

TEST(Clocks, RangeMedianAndReasons) {
    CountedRun run = two_kernels();
    test::TemporaryFolder folder;
    run.write(folder.path(), false, {});
    std::string lines;
    int n = 0;
    for (const int mhz : {1980, 345, 1200})
        lines += R"({"type":"clock","time_unix_ns":1,"uuid":"GPU-1","sm_mhz":)" + std::to_string(mhz) +
                 R"(,"memory_mhz":2619,"sm_max_mhz":1980,"throttle_reasons":)" + (n++ ? "4}" : "1}") + "\n";
    test::write_text(folder.path() / "clocks.jsonl", lines);
    const Analysis a = analyze(read_run(folder.path()));
    ASSERT_TRUE(a.clocks.sm && a.clocks.memory);
    EXPECT_EQ(a.clocks.sm->least, 345);
    EXPECT_EQ(a.clocks.sm->median, 1200);
    EXPECT_EQ(a.clocks.sm->most, 1980);
    const auto fact = [&](std::string_view label) {
        for (const Fact& f : a.environment)
            if (f.label == label) return f.value;
        return std::string();
    };
    EXPECT_EQ(fact("SM clock during the run"),
              "least 345, median 1,200, most 1,980 MHz of at most 1,980; not fixed");
    EXPECT_EQ(fact("Memory clock during the run"),
              "least 2,619, median 2,619, most 2,619 MHz; the same in every sample");
    EXPECT_EQ(fact("Clocks held down by"), "power cap (2 of 3 samples)") << "idle (bit 0) is no brake";
}

TEST(Catalogue, HasTheRolesThatRulesAndReportsName) {
    for (const char* name :
         {counter_role::kAchievedOccupancy, counter_role::kDramRead, counter_role::kDramWrite,
          counter_role::kTensorPipe, counter_role::kSerialisedTime, "sm_active_cycles"})
        EXPECT_TRUE(find_metric_role(name)) << name;
}

}  // namespace
}  // namespace attnscope
