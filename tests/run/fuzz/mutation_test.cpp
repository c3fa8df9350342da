// Random damage to a valid file: the reader never crashes and never throws anything but Error. Run it with
// ATTNSCOPE_SANITIZE=ON; ATTNSCOPE_FUZZ_ROUNDS and ATTNSCOPE_FUZZ_SEED widen it.
#include <gtest/gtest.h>

#include <random>

#include "attnscope/error.h"
#include "attnscope/run.h"
#include "mutate.h"
#include "run_writer.h"

namespace attnscope {
namespace {

std::string seed_file() {
    test::ProcessWriter w;
    w.a100();
    w.mark(
        R"(attnscope.workload {"batch":8,"heads":16,"kv_heads":16,"query_length":1024,"key_length":1024,"head_dim":64,"dtype":"bf16","causal":true})");
    const auto outer = w.open("attnscope.implementation/naive");
    const auto inner = w.open("attnscope.iteration", outer);
    w.kernel({"_Z1av", {2, 3, 4}, {128, 1, 1}, 255, 16, 49152, 88}, inner, 1000);
    w.copy("DtoD", 268435456, inner);
    w.gemm("bf16", 1024, 1024, 64, inner);
    w.close(inner);
    w.close(outer);
    w.line(
        R"({"type":"uncomputed_read","cause":"memcpy","bytes":4,"returned":"zeros","location":"a.py:1","count":2})");
    w.line(R"({"type":"diagnostic","severity":"data_loss","code":"x","message":"m","remedy":"r","count":1})");
    w.end();
    return w.text();
}

TEST(Fuzz, DamagedFilesNeverCrashTheReader) {
    std::mt19937_64 random(test::from_environment("ATTNSCOPE_FUZZ_SEED", 1));
    const uint64_t rounds = test::from_environment("ATTNSCOPE_FUZZ_ROUNDS", 2000);
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json());
    const std::string seed = seed_file();
    uint64_t loaded = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
        test::write_text(folder.path() / "p.jsonl", test::mutate(seed, random));
        try {
            const auto run = read_run(folder.path());
            ++loaded;
            for (const Process& p : run.processes)
                for (const Launch& l : p.launches) {
                    ASSERT_TRUE(l.name == kNone || l.name < p.names.size());
                    ASSERT_TRUE(l.range == kNone || l.range < p.ranges.size());
                    ASSERT_TRUE(l.call == kNone || l.call < p.calls.size());
                    ASSERT_EQ(l.start_ns.has_value(), l.end_ns.has_value());
                    ASSERT_LE(l.start_ns.value_or(0), l.end_ns.value_or(0));
                }
        } catch (const Error&) {  // a version that became a newer one
        }
    }
    EXPECT_GT(loaded, rounds / 2);
}

}  // namespace
}  // namespace attnscope
