// Random damage to a run that has counters, two collections and clocks: the reader never crashes, indices
// stay valid, and values are finite.
#include <gtest/gtest.h>

#include <cmath>

#include "attnscope/error.h"
#include "attnscope/run.h"
#include "mutate.h"
#include "run_writer.h"

namespace attnscope {
namespace {

std::string process(bool for_time) {
    test::ProcessWriter w("real", for_time ? "" : test::kCountersCollection);
    const auto outer = w.open("attnscope.implementation/x");
    const auto inner = w.open("attnscope.iteration", outer);
    for (int i = 0; i < 4; ++i) w.kernel({"k", {1, 2, 3}}, inner, for_time ? 100 : 0);
    w.copy("DtoD", 64, inner);
    w.line(
        R"({"type":"kernel","correlation":9,"name":1,"graph":3,"graph_node":1,"uncounted":"counters-captured"})");
    w.close(inner);
    w.close(outer);
    w.end();
    return w.text();
}

std::string counters() {
    test::CounterWriter c("p-1.jsonl");
    for (uint64_t i = 1; i <= 4; ++i) c.launch(i, i % 2 ? "m" : "n", double(i));
    c.value("\"range\":2", "m", 1);
    c.value("\"correlation\":9,\"graph_node\":1", "m", 1);
    c.absent("\"correlation\":1", "n", "why");
    c.end();
    return c.text();
}

TEST(Fuzz, DamagedCountersNeverCrashTheReader) {
    std::mt19937_64 random(test::from_environment("ATTNSCOPE_FUZZ_SEED", 1));
    const uint64_t rounds = test::from_environment("ATTNSCOPE_FUZZ_ROUNDS", 500);
    test::TemporaryFolder folder;
    const std::string summary =
        test::counters_run_json("real", R"(,"diagnostics":[{"code":"counters-busy"}])");
    const std::string clocks = R"({"type":"clock","time_unix_ns":5,"uuid":"GPU-1","sm_mhz":1980})"
                               "\n";
    uint64_t loaded = 0, joined = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
        const auto file = [&](const char* name, const std::string& text, uint64_t which) {
            test::write_text(folder.path() / name, random() % 3 == which ? test::mutate(text, random) : text);
        };
        file("run.json", summary, 2);
        file("p-1.jsonl", process(false), 1);
        file("p-2.jsonl", process(true), 1);
        file("p-1.counters.jsonl", counters(), 0);
        file("clocks.jsonl", clocks, 1);
        try {
            const auto run = read_run(folder.path());
            ++loaded;
            ASSERT_LE(run.processes.size(), 2U);
            for (const Process& p : run.processes) {
                joined += !p.counters_from.empty();
                for (const Launch& l : p.launches)
                    ASSERT_TRUE(l.counters == kNone || l.counters < p.counters.size());
                for (const Range& r : p.ranges)
                    ASSERT_TRUE(r.counters == kNone || r.counters < p.counters.size());
                for (const CounterSet& set : p.counters)
                    for (const CounterValue& v : set) {
                        ASSERT_LT(v.metric, p.metrics.size());
                        ASSERT_TRUE(v.value ? std::isfinite(*v.value) && *v.value >= 0 : !v.absent.empty());
                    }
            }
        } catch (const Error&) {  // a version that became a newer one, a summary that is none
        }
    }
    EXPECT_GT(loaded, rounds / 2);
    EXPECT_GT(joined, rounds / 10);
}

}  // namespace
}  // namespace attnscope
