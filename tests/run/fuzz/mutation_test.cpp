// Random damage to a valid file: the reader never crashes and never throws anything but Error. Run it with
// ATTNSCOPE_SANITIZE=ON; ATTNSCOPE_FUZZ_ROUNDS and ATTNSCOPE_FUZZ_SEED widen it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "attnscope/error.h"
#include "attnscope/run.h"
#include "run_writer.h"

namespace attnscope {
namespace {

uint64_t from_environment(const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

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
    static const std::vector<std::string> tokens = {"null",
                                                    "-1",
                                                    "0",
                                                    "18446744073709551615",
                                                    "18446744073709551616",
                                                    "1e308",
                                                    "1e999",
                                                    "-0.0",
                                                    "\"\"",
                                                    "[]",
                                                    "{}",
                                                    "true",
                                                    "\"id\":1,",
                                                    "\"parent\":1,",
                                                    "\"correlation\":0,",
                                                    "\xff",
                                                    "\xed\xa0\x80",
                                                    "\\u0000",
                                                    "\"",
                                                    "\\",
                                                    "\n",
                                                    "}\n{",
                                                    "\"type\":\"kernel\",",
                                                    "4294967296",
                                                    std::string("\0", 1)};
    std::mt19937_64 random(from_environment("ATTNSCOPE_FUZZ_SEED", 1));
    const uint64_t rounds = from_environment("ATTNSCOPE_FUZZ_ROUNDS", 2000);
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json());
    const std::string seed = seed_file();
    uint64_t loaded = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
        std::string text = seed;
        for (uint64_t edits = 1 + random() % 8; edits > 0 && !text.empty(); --edits) {
            const size_t at = random() % text.size();
            switch (random() % 6) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, random() % 40);
                    break;
                case 2:
                    text.insert(at, tokens[random() % tokens.size()]);
                    break;
                case 3:
                    text.insert(at, text.substr(random() % text.size(), random() % 200));
                    break;
                case 4:
                    text.resize(at);
                    break;
                case 5: {  // a value for another
                    const size_t colon = text.find(':', at);
                    if (colon == std::string::npos) break;
                    const size_t end = text.find_first_of(",}", colon);
                    if (end != std::string::npos)
                        text.replace(colon + 1, end - colon - 1, tokens[random() % tokens.size()]);
                    break;
                }
            }
        }
        test::write_text(folder.path() / "p.jsonl", text);
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
