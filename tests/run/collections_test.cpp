// A program that ran twice, once for counters and once for time, is one run: joined launch by launch, or not
// at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "attnscope/run.h"
#include "run_writer.h"

namespace attnscope {
namespace {

using test::CounterWriter;
using test::KernelSpec;
using test::ProcessWriter;
using test::write_text;

const Diagnostic* find(const std::vector<Diagnostic>& all, std::string_view code) {
    for (const Diagnostic& d : all)
        if (d.code == code) return &d;
    return nullptr;
}

std::optional<double> value(const Process& p, uint32_t set) {
    return set == kNone ? std::nullopt : p.counters.at(set).at(0).value;
}

constexpr const char* kRank0 = R"(,"rank":0)";

/// A folder with one process a collection; the counters' launches have 10 x correlation of metric "m".
class TwoRuns {
  public:
    using Program = std::function<void(ProcessWriter&, bool for_time)>;

    TwoRuns() { write_text(folder_.path() / "run.json", test::counters_run_json()); }

    void add(const Program& program, const std::string& extra = {}, const std::string& stem = "p",
             const std::string& ground = "real") {
        ProcessWriter c(ground, test::kCountersCollection + extra), a(ground, extra);
        program(c, false);
        program(a, true);
        c.end();
        a.end();
        write_text(folder_.path() / (stem + "-1.jsonl"), c.text());
        write_text(folder_.path() / (stem + "-2.jsonl"), a.text());
        CounterWriter values(stem + "-1.jsonl", ground == "real" ? "real" : "fixture");
        const std::string text = c.text();
        for (size_t at = text.find("\"kernel\",\"correlation\":"); at != std::string::npos;
             at = text.find("\"kernel\",\"correlation\":", at + 1)) {
            const uint64_t correlation = std::stoull(text.substr(at + 23));
            values.launch(correlation, "m", 10.0 * double(correlation));
        }
        values.end();
        write_text(folder_.path() / (stem + "-1.counters.jsonl"), values.text());
    }
    Run read() const { return read_run(folder_.path()); }
    const std::filesystem::path& path() const { return folder_.path(); }

  private:
    test::TemporaryFolder folder_;
};

void plain(ProcessWriter& w, bool for_time) {
    const uint64_t ns = for_time ? 1000 : 0;
    // What a process does besides launching takes correlation numbers, and not the same ones in each run.
    if (for_time) w.copy("HtoH", 1, 0);
    w.copy("HtoD", 64, 0, ns);
    w.kernel({"a", {1, 2, 3}}, 0, ns);
    w.kernel({"b"}, 0, ns);
    w.kernel({"b"}, 0, 2 * ns);
}

TEST(Collections, AreJoinedLaunchByLaunch) {
    TwoRuns runs;
    runs.add(plain);
    const auto run = runs.read();
    ASSERT_EQ(run.processes.size(), 1U);
    const Process& p = run.processes[0];
    EXPECT_EQ(p.file, "p-2.jsonl") << "launches and times of the undisturbed run";
    EXPECT_EQ(p.counters_from, "p-1.jsonl");
    EXPECT_EQ(p.collection, Collection::activity);
    EXPECT_EQ(p.counter_ground, Ground::real);
    ASSERT_EQ(p.launches.size(), 5U);
    // In the run for counters the kernels had the correlations 2, 3, 4; here they have 3, 4, 5.
    EXPECT_EQ(value(p, p.launches[2].counters), 20.0);
    EXPECT_EQ(value(p, p.launches[3].counters), 30.0);
    EXPECT_EQ(value(p, p.launches[4].counters), 40.0);
    EXPECT_EQ(*p.launches[4].end_ns - *p.launches[4].start_ns, 2000U);
    ASSERT_TRUE(find(p.diagnostics, "collections-copies-differ"));
    EXPECT_NE(find(p.diagnostics, "collections-copies-differ")
                  ->message.find("1 copies and memsets in the run for counters, 2 in the run for time"),
              std::string::npos);
}

// What differs, and what the first difference is called.
TEST(Collections, ThatDifferCarryNothing) {
    struct Case {
        const char* what;
        TwoRuns::Program program;
        const char* says;
    };
    const std::vector<Case> cases = {
        {"name", [](ProcessWriter& w, bool t) { w.kernel({"a"}, 0), w.kernel({t ? "b" : "c"}, 0); },
         "launch 2 is c, grid 1 x 1 x 1, block 128 x 1 x 1, 0 bytes of dynamic shared memory in the run for "
         "counters, and b, "},
        {"grid",
         [](ProcessWriter& w, bool t) {
             w.kernel({"a", {t ? 8U : 4U, 1, 1}}, 0);
         },
         "launch 1 is a, grid 4 x 1 x 1"},
        {"block",
         [](ProcessWriter& w, bool t) {
             w.kernel({"a", {1, 1, 1}, {t ? 64U : 32U, 1, 1}}, 0);
         },
         "block 32 x 1 x 1"},
        {"dynamic shared memory",
         [](ProcessWriter& w, bool t) {
             w.kernel({"a", {1, 1, 1}, {32, 1, 1}, 32, 0, t ? 0U : 512U}, 0);
         },
         "512 bytes of dynamic shared memory"},
        {"one more",
         [](ProcessWriter& w, bool t) {
             w.kernel({"a"}, 0);
             if (t) w.kernel({"a"}, 0);
         },
         "launch 2 is nothing (1 in all) in the run for counters, and a, "},
        {"a library call in between",
         [](ProcessWriter& w, bool t) {
             w.gemm("bf16", t ? 64 : 32, 64, 64, 0);
             w.kernel({"a"}, 0);
         },
         "launch 1 is cuBLAS gemm m=32"},
    };
    for (const Case& c : cases) {
        TwoRuns runs;
        runs.add(c.program);
        const auto run = runs.read();
        ASSERT_EQ(run.processes.size(), 1U) << c.what << ": nothing is counted twice";
        const Process& p = run.processes[0];
        EXPECT_EQ(p.file, "p-1.jsonl") << c.what;
        EXPECT_EQ(p.collection, Collection::counters) << c.what;
        for (const Launch& l : p.launches) {
            EXPECT_FALSE(l.start_ns) << c.what;
            EXPECT_EQ(l.counters != kNone, l.kind == LaunchKind::kernel) << "its own counters stay";
        }
        const Diagnostic* d = find(p.diagnostics, "collections-differ");
        ASSERT_TRUE(d) << c.what;
        EXPECT_NE(d->message.find(c.says), std::string::npos) << d->message;
        EXPECT_NE(d->message.find("is left out"), std::string::npos) << d->message;
        EXPECT_NE(d->remedy.find("autotuning"), std::string::npos);
    }
}

TEST(Collections, EqualResourcesThatOneRunDidNotRecordSpeakAgainstNothing) {
    TwoRuns runs;
    runs.add([](ProcessWriter& w, bool for_time) {
        w.line(R"({"type":"name","id":1,"name":"k"})");
        w.line(R"({"type":"kernel","correlation":1,"name":1,"grid_x":1,"grid_y":1,"grid_z":1)" +
               std::string(for_time ? R"(,"dynamic_shared":5)" : "") + "}");
    });
    EXPECT_FALSE(find(runs.read().processes.at(0).diagnostics, "collections-differ"));
}

TEST(Collections, AreJoinedByRank) {
    TwoRuns runs;
    // Rank 1's files come first, and its kernel has another grid.
    runs.add([](ProcessWriter& w, bool) { w.kernel({"k", {9, 1, 1}}, 0); }, R"(,"rank":1)", "a");
    runs.add([](ProcessWriter& w, bool) { w.kernel({"k", {4, 1, 1}}, 0); }, kRank0, "b");
    const auto run = runs.read();
    ASSERT_EQ(run.processes.size(), 2U);
    EXPECT_EQ(run.processes[0].rank, 0U);
    EXPECT_EQ(run.processes[0].counters_from, "b-1.jsonl");
    EXPECT_EQ(run.processes[1].counters_from, "a-1.jsonl");
}

TEST(Collections, ARankThatOneRunLacksIsSaid) {
    TwoRuns runs;
    runs.add([](ProcessWriter& w, bool) { w.kernel({"k"}, 0); }, kRank0);
    ProcessWriter lonely("real", R"(,"rank":1)");
    lonely.kernel({"k"}, 0);
    lonely.end();
    write_text(runs.path() / "z.jsonl", lonely.text());
    const auto run = runs.read();
    ASSERT_EQ(run.processes.size(), 1U);
    ASSERT_TRUE(find(run.diagnostics, "collections-differ"));
    EXPECT_NE(find(run.diagnostics, "collections-differ")->message.find("1 processes of the run for time (1"),
              std::string::npos);
}

TEST(Collections, AnotherProgramIsNoPartner) {
    TwoRuns runs;
    runs.add(plain);
    std::string text = test::read_text(runs.path() / "p-2.jsonl");
    text.replace(text.find("/bin/attention_workload"), 23, "/bin/another__workload_");
    write_text(runs.path() / "p-2.jsonl", text);
    const auto run = runs.read();
    ASSERT_EQ(run.processes.size(), 1U);
    EXPECT_TRUE(find(run.processes[0].diagnostics, "collections-differ"));
}

TEST(Collections, WithoutLaunchesInTheRunForCountersTheOtherStays) {
    TwoRuns runs;
    runs.add([](ProcessWriter& w, bool for_time) {
        if (for_time)
            w.kernel({"k"}, 0, 5);
        else
            w.line(
                R"({"type":"diagnostic","severity":"error","code":"counters-permission","message":"m","remedy":"r","count":1})");
    });
    const auto run = runs.read();
    ASSERT_EQ(run.processes.size(), 2U);
    EXPECT_EQ(run.processes[1].launches.size(), 1U);
    EXPECT_TRUE(find(run.processes[0].diagnostics, "counters-permission"));
}

TEST(Collections, ThreadsMayLaunchInAnotherOrder) {
    const auto kernel = [](ProcessWriter& w, int correlation, int thread, int name) {
        w.line(R"({"type":"kernel","correlation":)" + std::to_string(correlation) + R"(,"name":)" +
               std::to_string(name) + R"(,"thread":)" + std::to_string(thread) + "}");
    };
    TwoRuns runs;
    runs.add([&](ProcessWriter& w, bool for_time) {
        w.line(R"({"type":"name","id":1,"name":"a"})");
        w.line(R"({"type":"name","id":2,"name":"b"})");
        if (!for_time) {  // thread 10: a a, thread 11: b
            kernel(w, 1, 10, 1), kernel(w, 2, 11, 2), kernel(w, 3, 10, 1);
        } else {  // the one that was 11 is first, and called 20
            kernel(w, 1, 20, 2), kernel(w, 2, 21, 1), kernel(w, 3, 21, 1);
        }
    });
    const auto run = runs.read();
    const Process& p = run.processes.at(0);
    ASSERT_FALSE(find(p.diagnostics, "collections-differ"));
    EXPECT_EQ(value(p, p.launches[0].counters), 20.0);
    EXPECT_EQ(value(p, p.launches[1].counters), 10.0);
    EXPECT_EQ(value(p, p.launches[2].counters), 30.0);
}

// A graph of a, b, a: activity records come in any order, the run for counters numbers its kernels.
TEST(Collections, KernelsOfAGraphAreHeldInTheOrderInWhichTheyRan) {
    TwoRuns runs;
    runs.add([](ProcessWriter& w, bool for_time) {
        w.line(R"({"type":"name","id":1,"name":"a"})");
        w.line(R"({"type":"name","id":2,"name":"b"})");
        const auto kernel = [&](int name, const std::string& more) {
            w.line(R"({"type":"kernel","correlation":1,"graph":3,"name":)" + std::to_string(name) + more +
                   "}");
        };
        if (for_time) {
            kernel(1, R"(,"graph_node":900,"start_ns":500,"end_ns":600)");
            kernel(2, R"(,"graph_node":901,"start_ns":300,"end_ns":400)");
            kernel(1, R"(,"graph_node":902,"start_ns":100,"end_ns":200)");
        } else {
            kernel(1, R"(,"graph_node":1)");
            kernel(2, R"(,"graph_node":2)");
            kernel(1, R"(,"graph_node":3)");
        }
    });
    CounterWriter c("p-1.jsonl");
    for (int node = 1; node <= 3; ++node)
        c.value("\"correlation\":1,\"graph_node\":" + std::to_string(node), "m", node);
    c.end();
    write_text(runs.path() / "p-1.counters.jsonl", c.text());
    const auto run = runs.read();
    const Process& p = run.processes.at(0);
    ASSERT_FALSE(find(p.diagnostics, "collections-differ"));
    EXPECT_EQ(value(p, p.launches.at(0).counters), 3.0) << "the a that ran last";
    EXPECT_EQ(value(p, p.launches.at(1).counters), 2.0);
    EXPECT_EQ(value(p, p.launches.at(2).counters), 1.0) << "the a that ran first";
}

TEST(Collections, RangesByNameAndOrder) {
    TwoRuns runs;
    const auto program = [](int extra_in_time) {
        return [extra_in_time](ProcessWriter& w, bool for_time) {
            if (for_time) w.close(w.open("something before"));
            for (const char* name : {"attnscope.implementation/x", "attnscope.implementation/y"}) {
                const auto outer = w.open(name);
                for (int i = 0; i < 2 + (for_time && name[25] == 'y' ? extra_in_time : 0); ++i) {
                    const auto inner = w.open("attnscope.iteration", outer);
                    if (i < 2) w.kernel({"k"}, inner);
                    w.close(inner);
                }
                w.close(outer);
            }
        };
    };
    const auto values = [&] {
        CounterWriter c("p-1.jsonl");
        for (const int range : {2, 3, 5, 6}) c.value("\"range\":" + std::to_string(range), "m", range);
        c.end();
        write_text(runs.path() / "p-1.counters.jsonl", c.text());
    };
    runs.add(program(0));
    values();
    auto run = runs.read();
    {
        const Process& p = run.processes.at(0);
        ASSERT_EQ(p.file, "p-2.jsonl");
        const std::vector<std::optional<double>> right = {std::nullopt, std::nullopt, 2.0, 3.0,
                                                          std::nullopt, 5.0,          6.0};
        ASSERT_EQ(p.ranges.size(), right.size());
        for (size_t i = 0; i < right.size(); ++i) EXPECT_EQ(value(p, p.ranges[i].counters), right[i]) << i;
    }
    runs.add(program(1));  // y has an iteration more in the run for time: which is which?
    values();
    run = runs.read();
    const Process& p = run.processes.at(0);
    EXPECT_EQ(value(p, p.ranges.at(2).counters), 2.0) << "x is as before";
    EXPECT_EQ(p.ranges.at(5).counters, kNone);
    ASSERT_TRUE(find(p.diagnostics, "counters-unjoined"));
    EXPECT_EQ(find(p.diagnostics, "counters-unjoined")->count, 2U);
}

}  // namespace
}  // namespace attnscope
