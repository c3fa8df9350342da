// Counter values reach exactly the launch or range that their record names (schema/README.md, "Counters").
#include <gtest/gtest.h>

#include <algorithm>

#include "attnscope/error.h"
#include "attnscope/run.h"
#include "run_writer.h"

namespace attnscope {
namespace {

using test::CounterWriter;
using test::kCountersCollection;
using test::ProcessWriter;
using test::write_text;

struct Folder {
    explicit Folder(const std::string& summary = test::counters_run_json()) {
        write_text(folder.path() / "run.json", summary);
    }
    Run read(std::string_view process, std::string_view counters = {}) {
        write_text(folder.path() / "p.jsonl", process);
        if (!counters.empty()) write_text(folder.path() / "p.counters.jsonl", counters);
        return read_run(folder.path());
    }
    test::TemporaryFolder folder;
};

const Diagnostic* find(const std::vector<Diagnostic>& all, std::string_view code) {
    for (const Diagnostic& d : all)
        if (d.code == code) return &d;
    return nullptr;
}

/// The value of one metric for one launch; nullopt when it has none.
std::optional<double> value(const Process& p, const Launch& l, std::string_view metric) {
    if (l.counters == kNone) return std::nullopt;
    for (const CounterValue& v : p.counters.at(l.counters))
        if (p.metrics.at(v.metric) == metric) return v.value;
    return std::nullopt;
}

std::string three_kernels(const char* ground = "real") {
    ProcessWriter w(ground, kCountersCollection);
    w.a100();
    w.kernel({"a"}, 0);
    w.copy("HtoD", 64, 0);
    w.kernel({"b"}, 0);
    w.kernel({"c"}, 0);
    w.end();
    return w.text();
}

TEST(Counters, ReachTheLaunchThatTheyName) {
    CounterWriter c;
    c.launch(4, "dram__bytes_read.sum", 400);  // out of order, and before the others
    c.launch(1, "dram__bytes_read.sum", 100.5);
    c.launch(1, "sm__cycles_active.avg", 0);
    c.absent("\"correlation\":3", "dram__bytes_read.sum", "not collected: the range was dropped");
    c.end();
    Folder folder;
    const auto run = folder.read(three_kernels(), c.text());
    const Process& p = run.processes.at(0);
    EXPECT_EQ(run.processes.size(), 1U) << "the values' file is no process";
    EXPECT_TRUE(p.diagnostics.empty()) << p.diagnostics[0].message;
    EXPECT_EQ(p.collection, Collection::counters);
    EXPECT_EQ(p.counter_ground, Ground::real);
    EXPECT_EQ(p.metrics, (std::vector<std::string>{"dram__bytes_read.sum", "sm__cycles_active.avg"}));
    EXPECT_EQ(value(p, p.launches[0], "dram__bytes_read.sum"), 100.5);
    EXPECT_EQ(value(p, p.launches[0], "sm__cycles_active.avg"), 0.0) << "0 is a value";
    EXPECT_EQ(p.launches[1].counters, kNone) << "a copy has none";
    EXPECT_FALSE(value(p, p.launches[2], "dram__bytes_read.sum"));
    EXPECT_EQ(p.counters.at(p.launches[2].counters).at(0).absent, "not collected: the range was dropped");
    EXPECT_EQ(value(p, p.launches[3], "dram__bytes_read.sum"), 400.0);
}

TEST(Counters, WhatWasAskedForIsInTheRun) {
    Folder folder(test::counters_run_json(
        "real",
        R"(,"diagnostics":[{"severity":"error","code":"counters-permission","message":"m","remedy":"r","count":3}])"));
    const auto run = folder.read(three_kernels());
    EXPECT_EQ(run.collections, std::vector<Collection>{Collection::counters});
    EXPECT_EQ(run.counters_request, "core");
    EXPECT_EQ(run.counters_range, "kernel");
    EXPECT_EQ(run.counters_metrics, std::vector<std::string>{"dram__bytes_read.sum"});
    ASSERT_EQ(run.counters_passes.size(), 1U);
    EXPECT_EQ(run.counters_passes[0], (std::pair<std::string, uint64_t>{"GA100", 1}));
    ASSERT_TRUE(find(run.diagnostics, "counters-permission"));
    EXPECT_EQ(find(run.diagnostics, "counters-permission")->level, DiagnosticLevel::error);
    EXPECT_EQ(find(run.diagnostics, "counters-permission")->count, 3U);
    EXPECT_FALSE(find(run.processes.at(0).diagnostics, "counters-not-evaluated"))
        << "the launcher's word explains it";
}

TEST(Counters, NotEvaluatedIsSaidWithTheCommand) {
    Folder folder;
    const auto run = folder.read(three_kernels());
    const Diagnostic* d = find(run.processes.at(0).diagnostics, "counters-not-evaluated");
    ASSERT_TRUE(d);
    EXPECT_NE(d->remedy.find("attnscope collect --evaluate " + folder.folder.path().string()),
              std::string::npos);
}

TEST(Counters, GraphKernelsByTheirNode) {
    ProcessWriter w("real", kCountersCollection);
    w.line(R"({"type":"name","id":1,"name":"k"})");
    for (int node : {1, 2, 3})
        w.line(R"({"type":"kernel","correlation":9,"name":1,"graph":5,"graph_node":)" + std::to_string(node) +
               "}");
    w.line(R"({"type":"end","kernels":3})");
    CounterWriter c;
    c.value(R"("correlation":9,"graph_node":2)", "m", 2);
    c.value(R"("correlation":9,"graph_node":4)", "m", 4);  // no such node
    c.value(R"("correlation":9)", "m", 7);                 // which of three?
    c.end();
    Folder folder;
    const auto run = folder.read(w.text(), c.text());
    const Process& p = run.processes.at(0);
    EXPECT_FALSE(value(p, p.launches.at(0), "m"));
    EXPECT_EQ(value(p, p.launches.at(1), "m"), 2.0);
    EXPECT_FALSE(value(p, p.launches.at(2), "m"));
    ASSERT_TRUE(find(p.diagnostics, "counters-unjoined"));
    EXPECT_EQ(find(p.diagnostics, "counters-unjoined")->count, 2U);
}

TEST(Counters, OfRanges) {
    ProcessWriter w("real", kCountersCollection);
    const auto outer = w.open("attnscope.implementation/x");
    const auto inner = w.open("attnscope.iteration", outer);
    w.kernel({"k"}, inner);
    w.close(inner);
    w.close(outer);
    w.end();
    CounterWriter c;
    c.value("\"range\":" + std::to_string(inner), "m", 12);
    c.value("\"range\":77", "m", 13);
    c.end();
    Folder folder;
    const auto run = folder.read(w.text(), c.text());
    const Process& p = run.processes.at(0);
    EXPECT_EQ(p.ranges.at(0).counters, kNone);
    ASSERT_NE(p.ranges.at(1).counters, kNone);
    EXPECT_EQ(p.counters.at(p.ranges[1].counters).at(0).value, 12.0);
    EXPECT_EQ(p.launches.at(0).counters, kNone) << "a range's value is not its kernels'";
    EXPECT_EQ(find(p.diagnostics, "counters-unjoined")->count, 1U);
}

TEST(Counters, AnUncountedLaunchKeepsItsReason) {
    ProcessWriter w("real", kCountersCollection);
    w.line(
        R"({"type":"diagnostic","severity":"info","code":"counters-captured","message":"captured","remedy":"-","count":1})");
    w.line(R"({"type":"name","id":1,"name":"k"})");
    w.line(R"({"type":"kernel","correlation":1,"name":1,"uncounted":"counters-captured"})");
    w.line(R"({"type":"end","kernels":1})");
    CounterWriter c;
    c.launch(1, "m", 5);  // of a launch that was not counted: another's
    c.end();
    Folder folder;
    const Process p = folder.read(w.text(), c.text()).processes.at(0);
    EXPECT_EQ(p.launches.at(0).uncounted, "counters-captured");
    EXPECT_EQ(p.launches[0].counters, kNone);
    EXPECT_TRUE(find(p.diagnostics, "counters-unjoined"));
}

TEST(Counters, NoVirtualGpuHasRealOnes) {
    Folder folder;
    CounterWriter fixture("p.jsonl", "fixture"), real;
    for (CounterWriter* c : {&fixture, &real}) {
        c->launch(1, "m", 5);
        c->end();
    }
    Process p = folder.read(three_kernels("virtual"), fixture.text()).processes.at(0);
    EXPECT_EQ(p.counter_ground, Ground::fixture);
    EXPECT_FALSE(find(p.diagnostics, "counters-ground"));
    p = folder.read(three_kernels("virtual"), real.text()).processes.at(0);
    EXPECT_EQ(p.counter_ground, Ground::fixture);
    EXPECT_TRUE(find(p.diagnostics, "counters-ground"));
    p = folder.read(three_kernels("real"), fixture.text()).processes.at(0);
    EXPECT_EQ(p.counter_ground, Ground::fixture);
}

TEST(Counters, OfNoProcessAreSaid) {
    Folder folder;
    CounterWriter c("gone.jsonl");
    c.end();
    write_text(folder.folder.path() / "gone.counters.jsonl", c.text());
    const auto run = folder.read(three_kernels());
    EXPECT_EQ(run.processes.size(), 1U);
    ASSERT_TRUE(find(run.diagnostics, "counters-unjoined"));
    EXPECT_EQ(find(run.diagnostics, "counters-unjoined")->level, DiagnosticLevel::data_loss);
}

TEST(Clocks, AreSamplesAndWhatIsLeftOutStaysAbsent) {
    Folder folder;
    write_text(
        folder.folder.path() / "clocks.jsonl",
        R"({"type":"clock","time_unix_ns":5,"device":0,"uuid":"GPU-1","name":"H200","sm_mhz":1980,"memory_mhz":3201,"sm_max_mhz":1980,"memory_max_mhz":3201,"throttle_reasons":4,"temperature_c":40,"power_mw":300000}
{"type":"clock","time_unix_ns":6,"uuid":"GPU-1","sm_mhz":"fast"}
{"type":"clock","time_un)");
    const auto run = folder.read(three_kernels());
    ASSERT_EQ(run.clocks.size(), 2U);
    EXPECT_EQ(run.clocks[0].sm, 1980U);
    EXPECT_EQ(run.clocks[0].memory, 3201U);
    EXPECT_EQ(run.clocks[0].throttle_reasons, 4U);
    EXPECT_FALSE(run.clocks[1].sm || run.clocks[1].memory || run.clocks[1].throttle_reasons);
    ASSERT_TRUE(find(run.diagnostics, "cut-tail"));
    EXPECT_EQ(find(run.diagnostics, "cut-tail")->level, DiagnosticLevel::warning)
        << "no other number depends on it";
    EXPECT_EQ(run.processes.size(), 1U);
}

}  // namespace
}  // namespace attnscope
