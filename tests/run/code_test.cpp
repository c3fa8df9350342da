// code/kernels.jsonl: what is read, and that damage costs its own mixes alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "attnscope/error.h"
#include "attnscope/run.h"
#include "attnscope/sass.h"
#include "mutate.h"
#include "run_writer.h"

namespace attnscope {
namespace {

constexpr const char* kHeader = R"({"type":"code","schema":"attnscope-code","version":"1.1"})"
                                "\n";
constexpr const char* kFlash =
    R"({"type":"kernel_code","id":1,"name":"flash","compute_major":9,"compute_minor":0,"library":"/lib/a.so","sm":90,"arch_specific":false,"instructions":600,"padding":4,"unknown":3,"exponentials":2,"spill_stores":35,"spill_loads":37}
{"type":"instruction","kernel":1,"mnemonic":"LDL","count":37}
{"type":"instruction","kernel":1,"mnemonic":"HMMA","count":512}
{"type":"instruction","kernel":1,"mnemonic":"STL","count":35}
{"type":"instruction","kernel":1,"mnemonic":"MUFU","count":13}
)";
constexpr const char* kAbsent =
    R"({"type":"kernel_code","id":2,"name":"jit","compute_major":9,"compute_minor":0,"absent":"compiled at run time"}
)";
constexpr const char* kEnd = R"({"type":"end","kernels":2,"instructions":4})"
                             "\n";

std::string whole() {
    return std::string(kHeader) + kFlash + kAbsent + kEnd;
}

/// A process of two kernels on a device of compute capability 9.0 that has loaded `library`.
Run run_with(const std::string& code, const std::string& library = "/lib/a.so") {
    test::TemporaryFolder folder;
    test::ProcessWriter w;
    w.line(R"({"type":"library","name":"a.so","path":")" + library + "\"}");
    w.line(R"({"type":"device","device":0,"ground":"virtual","compute_major":9,"compute_minor":0})");
    w.kernel({"flash"}, 0);
    w.kernel({"jit"}, 0);
    w.end();
    test::write_text(folder.path() / "run.json", test::run_json());
    test::write_text(folder.path() / "p.jsonl", w.text());
    if (!code.empty()) {
        std::filesystem::create_directory(folder.path() / "code");
        test::write_text(folder.path() / "code" / "kernels.jsonl", code);
    }
    return read_run(folder.path());
}

/// Of the kernel with this name in the only process.
const NamedCode* code_of(const Run& run, const std::string& name) {
    const Process& p = run.processes.at(0);
    for (const NamedCode& code : p.code)
        if (p.names.at(code.name) == name) return &code;
    return nullptr;
}

size_t count(const Run& run, std::string_view diagnostic) {
    return static_cast<size_t>(std::count_if(run.diagnostics.begin(), run.diagnostics.end(),
                                             [&](const Diagnostic& d) { return d.code == diagnostic; }));
}

TEST(Code, IsReadAsWritten) {
    const auto run = run_with(whole());
    EXPECT_TRUE(run.diagnostics.empty()) << run.diagnostics.front().message;
    const NamedCode* flash = code_of(run, "flash");
    ASSERT_NE(flash, nullptr);
    ASSERT_TRUE(flash->mix) << flash->absent;
    EXPECT_EQ(flash->library, "/lib/a.so");
    EXPECT_EQ(flash->major, 9U);
    const InstructionMix& mix = *flash->mix;
    EXPECT_EQ(mix.sm, 90);
    EXPECT_EQ(mix.total, 600U);
    EXPECT_EQ(mix.padding, 4U);
    EXPECT_EQ(mix.unknown, 3U);
    EXPECT_EQ(mix.exponentials, 2U);
    EXPECT_EQ(mix.spill_stores, 35U);
    EXPECT_EQ(mix.spill_loads, 37U);
    EXPECT_EQ(mix.tensor(), 512U);
    EXPECT_EQ(mix.count(InstructionClass::local_load), 37U);
    EXPECT_EQ(mix.by_mnemonic.front().mnemonic, "HMMA") << "most frequent first";
    const NamedCode* jit = code_of(run, "jit");
    ASSERT_NE(jit, nullptr);
    EXPECT_FALSE(jit->mix);
    EXPECT_EQ(jit->absent, "compiled at run time");
}

TEST(Code, OfARunWithoutItIsAbsentWithAReason) {
    const auto run = run_with("");
    EXPECT_TRUE(run.processes[0].code.empty());
    EXPECT_NE(run.processes[0].code_absent.find("the run holds no code"), std::string::npos);
    EXPECT_TRUE(run.diagnostics.empty()) << "nothing was lost";
}

TEST(Code, OfAFileThatThisProcessDidNotLoadIsNotItsOwn) {
    const auto run = run_with(whole(), "/lib/b.so");
    const NamedCode* flash = code_of(run, "flash");
    ASSERT_NE(flash, nullptr);
    EXPECT_FALSE(flash->mix);
    EXPECT_NE(flash->absent.find("/lib/a.so"), std::string::npos) << flash->absent;
    EXPECT_NE(flash->absent.find("did not load"), std::string::npos) << flash->absent;
}

TEST(Code, TheLoadedFileWinsOverAnotherOneAndOverNone) {
    std::string other = kFlash;
    for (size_t at; (at = other.find("/lib/a.so")) != std::string::npos;) other.replace(at, 9, "/lib/b.so");
    for (size_t at; (at = other.find("\"id\":1,")) != std::string::npos;) other.replace(at, 7, "\"id\":8,");
    for (size_t at; (at = other.find("\"kernel\":1,")) != std::string::npos;)
        other.replace(at, 11, "\"kernel\":8,");
    const std::string none =
        R"({"type":"kernel_code","id":9,"name":"flash","compute_major":9,"compute_minor":0,"absent":"no"})"
        "\n";
    for (const std::string& text :
         {kHeader + other + kFlash + none + kEnd, std::string(kHeader) + none + kFlash + other + kEnd}) {
        const auto run = run_with(text);
        ASSERT_NE(code_of(run, "flash"), nullptr);
        EXPECT_EQ(code_of(run, "flash")->library, "/lib/a.so");
        EXPECT_TRUE(code_of(run, "flash")->mix);
    }
}

struct Damage {
    const char* name;
    std::string (*make)(const std::string&);
    const char* diagnostic;
    bool flash_survives;
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), with);
}

TEST(Code, DamageCostsItsOwnMixes) {
    const Damage all[] = {
        {"no header", [](const std::string& t) { return t.substr(t.find('\n') + 1); }, nullptr, false},
        {"no end", [](const std::string& t) { return t.substr(0, t.rfind("{\"type\":\"end\"")); },
         "code-tail", true},
        {"cut tail", [](const std::string& t) { return t.substr(0, t.size() - 9); }, "cut-tail", true},
        {"a count changed", [](const std::string& t) { return replaced(t, "512", "511"); },
         "impossible-value", false},
        {"an instruction lost",
         [](const std::string& t) { return replaced(t, R"("mnemonic":"MUFU")", R"("mnemonics":"MUFU")"); },
         "incomplete-record", false},
        {"counts that overflow",
         [](const std::string& t) { return replaced(t, "512", "18446744073709551615"); }, "impossible-value",
         false},
        {"more spills than stores",
         [](const std::string& t) { return replaced(t, R"("spill_stores":35)", R"("spill_stores":36)"); },
         "impossible-value", false},
        {"more exponentials than MUFU",
         [](const std::string& t) { return replaced(t, R"("exponentials":2)", R"("exponentials":14)"); },
         "impossible-value", false},
        {"an instruction of nobody",
         [](const std::string& t) {
             return replaced(t, R"("kernel":1,"mnemonic":"HMMA")", R"("kernel":7,"mnemonic":"HMMA")");
         },
         "unknown-id", false},
        {"the id twice", [](const std::string& t) { return replaced(t, R"("id":2,)", R"("id":1,)"); },
         "duplicate-id", true},
        {"no library", [](const std::string& t) { return replaced(t, R"("library":"/lib/a.so",)", ""); },
         "incomplete-record", false},
        {"no JSON", [](const std::string& t) { return t + "garbage\n"; }, "broken-line", true},
    };
    for (const Damage& damage : all) {
        SCOPED_TRACE(damage.name);
        const auto run = run_with(damage.make(whole()));
        ASSERT_EQ(run.processes.size(), 1U);
        EXPECT_EQ(run.processes[0].launches.size(), 2U) << "the launches do not depend on it";
        const NamedCode* flash = code_of(run, "flash");
        EXPECT_EQ(flash != nullptr && flash->mix, damage.flash_survives);
        if (flash == nullptr) {
            EXPECT_TRUE(!run.processes[0].code.empty() || !run.processes[0].code_absent.empty());
        } else {
            EXPECT_NE(flash->mix == nullptr, flash->absent.empty());
        }
        if (damage.diagnostic) {
            EXPECT_EQ(count(run, damage.diagnostic), 1U);
        }
        for (const Diagnostic& d : run.diagnostics)
            EXPECT_LE(d.level, DiagnosticLevel::warning) << "no number of the run is lost: " << d.message;
    }
}

TEST(Code, OfANewerMajorIsRefused) {
    try {
        run_with(replaced(whole(), "\"1.1\"", "\"2.0\""));
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("2.0"), std::string::npos) << e.what();
    }
}

TEST(Code, MutatedNeverCrashesTheReader) {
    std::mt19937_64 random(test::from_environment("ATTNSCOPE_FUZZ_SEED", 3));
    const uint64_t rounds = test::from_environment("ATTNSCOPE_FUZZ_ROUNDS", 500);
    uint64_t loaded = 0, with_mix = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
        try {
            const auto run = run_with(test::mutate(whole(), random));
            ++loaded;
            for (const NamedCode& code : run.processes.at(0).code) {
                ASSERT_LT(code.name, run.processes[0].names.size());
                ASSERT_NE(code.mix == nullptr, code.absent.empty());
                if (!code.mix) continue;
                ++with_mix;
                uint64_t sum = code.mix->unknown;
                for (const InstructionCount& entry : code.mix->by_mnemonic) sum += entry.count;
                ASSERT_EQ(sum, code.mix->total);
                ASSERT_FALSE(sentences(*code.mix).empty());
            }
        } catch (const Error&) {  // a newer major version
        }
    }
    EXPECT_GT(loaded, rounds / 2);
    EXPECT_GT(with_mix, 0U);
}

}  // namespace
}  // namespace attnscope
