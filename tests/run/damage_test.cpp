// Every way in which a file can be bad: it loads as far as it goes, and the loss is said.
#include <gtest/gtest.h>

#include <algorithm>

#include "attnscope/error.h"
#include "attnscope/run.h"
#include "run_writer.h"

namespace attnscope {
namespace {

using test::ProcessWriter;
using test::TemporaryFolder;
using test::write_text;

struct Folder {
    Folder() { write_text(folder.path() / "run.json", test::run_json()); }
    Process read(std::string_view bytes) {
        write_text(folder.path() / "p.jsonl", bytes);
        return read_run(folder.path()).processes.at(0);
    }
    TemporaryFolder folder;
};

const Diagnostic* find(const Process& p, std::string_view code) {
    for (const Diagnostic& d : p.diagnostics)
        if (d.code == code) return &d;
    return nullptr;
}

bool lost_something(const Process& p) {
    return std::any_of(p.diagnostics.begin(), p.diagnostics.end(),
                       [](const Diagnostic& d) { return d.level == DiagnosticLevel::data_loss; });
}

std::string small_file() {
    ProcessWriter w;
    w.a100();
    const auto outer = w.open("attnscope.implementation/naive");
    const auto inner = w.open("attnscope.iteration", outer);
    w.kernel({"_Z1av", {2, 3, 4}, {128, 1, 1}, 255, 16, 49152, 88}, inner);
    w.copy("DtoD", 268435456, inner);
    w.gemm("bf16", 1024, 1024, 64, inner);
    w.close(inner);
    w.mark("attnscope.workload {\"batch\":8}");
    w.end();
    return w.text();
}

TEST(Damage, CutAtEveryByteLoadsAndSaysSo) {
    const std::string whole = small_file();
    Folder folder;
    EXPECT_FALSE(lost_something(folder.read(whole)));
    size_t launches_before = 0;
    for (size_t length = 0; length + 1 < whole.size(); ++length) {
        Process p;
        ASSERT_NO_THROW(p = folder.read(std::string_view(whole).substr(0, length))) << length;
        EXPECT_TRUE(lost_something(p)) << "cut at byte " << length;
        for (const Diagnostic& d : p.diagnostics)
            EXPECT_FALSE(d.message.empty() || d.remedy.empty()) << d.code;
        EXPECT_GE(p.launches.size(), launches_before) << "a longer file holds no less";
        launches_before = p.launches.size();
        // Inside a line, the lost bytes are counted exactly.
        const size_t newline = length == 0 ? std::string::npos : whole.rfind('\n', length - 1);
        const size_t tail = length - (newline == std::string::npos ? 0 : newline + 1);
        const Diagnostic* cut = find(p, "cut-tail");
        if (tail == 0 || whole[length] == '\n')
            EXPECT_FALSE(cut) << length;
        else {
            ASSERT_TRUE(cut) << length;
            EXPECT_NE(cut->message.find("its last " + std::to_string(tail) + " bytes"), std::string::npos)
                << cut->message;
            EXPECT_NE(cut->message.find("p.jsonl, line "), std::string::npos);
        }
    }
    // Only the last newline is missing: nothing is lost.
    EXPECT_FALSE(lost_something(folder.read(std::string_view(whole).substr(0, whole.size() - 1))));
}

TEST(Damage, BrokenLineInTheMiddleIsCountedAndSkipped) {
    Folder folder;
    std::string text = small_file();
    text.insert(text.find('\n') + 1,
                "{\"type\":\"kernel\",,}\nnot json\n[1,2]\n\"text\"\n\n   "
                "\n\xff\xfe\n{\"a\":1e999}\n{\"a\":123456789012345678901234567890}\n");
    const Process p = folder.read(text);
    ASSERT_TRUE(find(p, "broken-line"));
    EXPECT_EQ(find(p, "broken-line")->count, 7U) << "the two blank lines are none";
    EXPECT_NE(find(p, "broken-line")->message.find("line 2"), std::string::npos);
    EXPECT_EQ(p.launches.size(), 3U);
}

TEST(Damage, WrongTypesAreAbsentNotZero) {
    Folder folder;
    const Process p = folder.read(
        R"({"type":"process","version":"1.0","ground":"virtual","pid":"many"}
{"type":"name","id":1,"name":"k"}
{"type":"kernel","correlation":1,"name":1,"registers":"255","static_shared":-1,"dynamic_shared":4294967296,"local_per_thread":1.5,"grid_x":1,"grid_y":null,"grid_z":1}
{"type":"kernel","correlation":"two","name":1}
{"type":"kernel","name":1}
{"type":"memcpy","correlation":2,"bytes":18446744073709551616}
{"type":42}
{"type":"end","kernels":1}
)");
    ASSERT_EQ(p.launches.size(), 1U);
    const Launch& k = p.launches[0];
    EXPECT_FALSE(k.registers || k.static_shared || k.dynamic_shared || k.local_per_thread || k.has_grid ||
                 k.has_block);
    EXPECT_FALSE(p.pid);
    ASSERT_TRUE(find(p, "wrong-type"));
    ASSERT_TRUE(find(p, "incomplete-record"));
    EXPECT_EQ(find(p, "incomplete-record")->count, 2U);
    EXPECT_TRUE(find(p, "broken-line")) << "a number that no 64 bits hold";
}

TEST(Damage, DuplicateAndUnknownIds) {
    Folder folder;
    const Process p = folder.read(
        R"({"type":"process","version":"1.0","ground":"virtual","pid":1}
{"type":"process","version":"1.0","ground":"real","pid":2}
{"type":"name","id":1,"name":"first"}
{"type":"name","id":1,"name":"second"}
{"type":"range","id":1,"parent":99,"kind":"process","name":"r"}
{"type":"range","id":1,"kind":"process","name":"again"}
{"type":"range_end","id":55}
{"type":"kernel","correlation":1,"name":1,"range":7}
{"type":"kernel","correlation":2,"name":2}
{"type":"end","kernels":2,"memcpys":0,"memsets":0,"library_calls":0,"dropped":3}
)");
    EXPECT_EQ(p.pid, 1U);
    EXPECT_EQ(p.ground, Ground::virtual_gpu);
    ASSERT_TRUE(find(p, "duplicate-id"));
    EXPECT_EQ(find(p, "duplicate-id")->count, 3U);
    EXPECT_EQ(p.names.at(p.launches.at(0).name), "first");
    EXPECT_EQ(p.launches.at(1).name, kNone);
    ASSERT_TRUE(find(p, "unknown-id"));
    EXPECT_EQ(find(p, "unknown-id")->count, 4U);
    ASSERT_TRUE(find(p, "dropped"));
    EXPECT_EQ(find(p, "dropped")->count, 3U);
}

TEST(Damage, CountsThatDoNotMatchTheEndRecord) {
    Folder folder;
    std::string text = small_file();
    const size_t at = text.find("{\"type\":\"memcpy\"");
    text.erase(at, text.find('\n', at) + 1 - at);
    const Process p = folder.read(text);
    ASSERT_TRUE(find(p, "count-mismatch"));
    EXPECT_NE(find(p, "count-mismatch")->message.find("1 copies were recorded, the file holds 0"),
              std::string::npos);
}

TEST(Damage, RangesThatAreTheirOwnAncestorsEnd) {
    Folder folder;
    std::string text = R"({"type":"process","version":"1.0","ground":"virtual","pid":1})"
                       "\n";
    for (int i = 1; i <= 5; ++i)
        text += R"({"type":"range","id":)" + std::to_string(i) + R"(,"parent":)" + std::to_string(i % 5 + 1) +
                R"(,"name":"r"})"
                "\n";
    text += R"({"type":"range","id":6,"parent":6,"name":"self"})"
            "\n";
    const Process p = folder.read(text);
    ASSERT_EQ(p.ranges.size(), 6U);
    for (uint32_t i = 0; i < p.ranges.size(); ++i) {
        size_t steps = 0;
        for (uint32_t at = i; at != kNone; at = p.ranges[at].parent) ASSERT_LT(++steps, 10U);
    }
}

TEST(Damage, VeryLongLineIsSkippedNotLoaded) {
    Folder folder;
    std::string text = R"({"type":"process","version":"1.0","ground":"virtual","pid":1})"
                       "\n";
    text += std::string(70u << 20, 'x') + "\n" +
            R"({"type":"memset","correlation":1,"bytes":4})"
            "\n";
    const Process p = folder.read(text);
    ASSERT_TRUE(find(p, "broken-line"));
    EXPECT_NE(find(p, "broken-line")->message.find("64 MiB"), std::string::npos);
    EXPECT_EQ(p.launches.size(), 1U);
}

TEST(Damage, DeepNestingIsABrokenLine) {
    Folder folder;
    const std::string deep =
        "{\"type\":\"mark\",\"name\":" + std::string(200000, '[') + std::string(200000, ']') + "}\n";
    EXPECT_TRUE(find(folder.read(deep), "broken-line"));
}

}  // namespace
}  // namespace attnscope
