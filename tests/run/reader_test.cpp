// What a whole run holds, and what the reader refuses. Right values: the lines written here and
// schema/README.md.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "attnscope/error.h"
#include "attnscope/run.h"
#include "run_writer.h"

namespace attnscope {
namespace {

using test::ProcessWriter;
using test::TemporaryFolder;
using test::write_text;

/// The sentence of the refusal; fails when there is none.
std::string refusal(const std::filesystem::path& folder) {
    try {
        read_run(folder);
    } catch (const Error& e) {
        EXPECT_EQ(e.exit(), Exit::bad_input);
        return e.what();
    }
    ADD_FAILURE() << "read_run accepted " << folder;
    return {};
}

bool has(const std::vector<Diagnostic>& diagnostics, std::string_view code) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [&](const Diagnostic& d) { return d.code == code; });
}

attnscope::Run read_lines(const std::string& lines) {
    TemporaryFolder folder;
    write_text(folder.path() / "run.json", test::run_json());
    write_text(folder.path() / "test-4242-1.jsonl", lines);
    return read_run(folder.path());
}

TEST(Reader, WholeRun) {
    ProcessWriter w;
    w.a100();
    const auto outer = w.open("attnscope.implementation/naive");
    const auto inner = w.open("attnscope.iteration", outer);
    w.kernel({"_Z1av", {2, 3, 4}, {128, 1, 1}, 255, 16, 49152, 88}, inner);
    w.copy("DtoD", 268435456, inner);
    w.gemm("bf16", 1024, 1024, 64, inner);
    w.close(inner);
    w.close(outer);
    w.mark("hello");
    w.end();
    const auto run = read_lines(w.text());
    EXPECT_EQ(run.ground, Ground::virtual_gpu);
    EXPECT_TRUE(run.diagnostics.empty());
    ASSERT_EQ(run.processes.size(), 1U);
    const Process& p = run.processes[0];
    EXPECT_TRUE(p.diagnostics.empty()) << p.diagnostics[0].message;
    EXPECT_EQ(p.pid, 4242U);
    EXPECT_EQ(p.cuda_driver, 13000U);
    ASSERT_EQ(p.devices.size(), 1U);
    EXPECT_EQ(p.devices[0].sm_count, 108U);
    EXPECT_EQ(p.devices[0].dram_bytes_per_second, std::nullopt);
    ASSERT_EQ(p.launches.size(), 3U);
    const Launch& k = p.launches[0];
    EXPECT_EQ(k.kind, LaunchKind::kernel);
    EXPECT_EQ(p.names.at(k.name), "_Z1av");
    EXPECT_EQ(k.grid, (Dim3{2, 3, 4}));
    EXPECT_FALSE(k.has_cluster);
    EXPECT_EQ(k.registers, 255U);
    EXPECT_EQ(k.dynamic_shared, 49152U);
    EXPECT_EQ(k.local_per_thread, 88U);
    EXPECT_FALSE(k.start_ns);
    EXPECT_EQ(p.ranges.at(k.range).name, "attnscope.iteration");
    EXPECT_EQ(p.ranges.at(p.ranges.at(k.range).parent).name, "attnscope.implementation/naive");
    EXPECT_TRUE(p.ranges[0].ended);
    EXPECT_EQ(p.launches[1].bytes, 268435456U);
    EXPECT_EQ(p.copy_kinds.at(p.launches[1].copy_kind), "DtoD");
    const LibraryCall& call = p.calls.at(p.launches[2].call);
    EXPECT_EQ(call.library, "cuBLAS");
    ASSERT_TRUE(call.attribute("m"));
    EXPECT_EQ(*call.attribute("m"), "1024");
    EXPECT_EQ(*call.attribute("type_a"), "bf16");
    EXPECT_EQ(call.attribute("correlation"), nullptr);
    ASSERT_EQ(p.marks.size(), 1U);
    ASSERT_TRUE(p.end);
    EXPECT_EQ(p.end->kernels, 1U);
}

// CUPTI hands buffers over in any order: correlation orders, parents and names may come late.
TEST(Reader, OrderOfIssueWinsOverOrderInTheFile) {
    const auto run = read_lines(
        R"({"type":"process","schema":"attnscope-run","version":"1.7","ground":"real","pid":1}
{"type":"memset","correlation":3,"bytes":5,"value":0,"range":2}
{"type":"kernel","correlation":2,"name":9}
{"type":"kernel","correlation":1,"name":9,"start_ns":0,"end_ns":0}
{"type":"range","id":2,"parent":1,"kind":"thread","name":"inner"}
{"type":"range","id":1,"kind":"process","name":"outer"}
{"type":"name","id":9,"name":"k"}
{"type":"from_a_later_minor","what":[1,2]}
{"type":"end","kernels":2,"memcpys":0,"memsets":1,"library_calls":0,"dropped":0}
)");
    const Process& p = run.processes.at(0);
    EXPECT_TRUE(p.diagnostics.empty());
    ASSERT_EQ(p.launches.size(), 3U);
    EXPECT_EQ(p.launches[0].correlation, 1U);
    EXPECT_FALSE(p.launches[0].start_ns) << "0 is CUPTI's `not collected`";
    EXPECT_EQ(p.names.at(p.launches[1].name), "k");
    EXPECT_EQ(p.launches[2].kind, LaunchKind::memset);
    EXPECT_EQ(p.ranges.at(p.ranges.at(p.launches[2].range).parent).name, "outer");
    EXPECT_FALSE(p.launches[0].registers) << "what is left out is not 0";
}

TEST(Reader, RefusesWhatIsNoRun) {
    TemporaryFolder folder;
    EXPECT_NE(refusal(folder.path() / "nowhere").find("there is no such folder"), std::string::npos);
    EXPECT_NE(refusal(folder.path()).find("neither run.json nor a .jsonl file"), std::string::npos);
    write_text(folder.path() / "file", "x");
    EXPECT_NE(refusal(folder.path() / "file").find("a run is a folder"), std::string::npos);
    write_text(folder.path() / "run.json", R"({"name":"something else"})");
    EXPECT_NE(refusal(folder.path()).find("attnscope-run"), std::string::npos);
    std::filesystem::remove(folder.path() / "run.json");
    write_text(folder.path() / "data.jsonl", "{\"a\":1}\n");
    EXPECT_NE(refusal(folder.path()).find("no .jsonl file starts with a process"), std::string::npos);
}

TEST(Reader, RefusesNewerMajorVersions) {
    for (const char* version : {"2.0", "3.1", "99999999999999999999.0"}) {
        TemporaryFolder folder;
        write_text(folder.path() / "run.json", test::run_json("virtual", version));
        const std::string sentence = refusal(folder.path());
        EXPECT_NE(sentence.find("schema version " + std::string(version).substr(0, 20)), std::string::npos)
            << sentence;
        EXPECT_NE(sentence.find("reads up to 1.x"), std::string::npos) << sentence;
    }
    TemporaryFolder folder;  // run.json of 1.0, a process's file of 2.0
    write_text(folder.path() / "run.json", test::run_json());
    write_text(folder.path() / "a.jsonl",
               R"({"type":"process","schema":"attnscope-run","version":"2.0","pid":1})"
               "\n");
    EXPECT_NE(refusal(folder.path()).find("a.jsonl"), std::string::npos);
}

TEST(Reader, UnreadableFileIsAnErrorWithItsName) {
    if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
    TemporaryFolder folder;
    write_text(folder.path() / "run.json", test::run_json());
    write_text(folder.path() / "a.jsonl", "");
    ::chmod((folder.path() / "a.jsonl").c_str(), 0);
    EXPECT_NE(refusal(folder.path()).find("a.jsonl"), std::string::npos);
}

TEST(Reader, WithoutSummaryTheProcessesStillLoad) {
    TemporaryFolder folder;
    ProcessWriter w;
    w.end();
    write_text(folder.path() / "a.jsonl", w.text());
    const auto run = read_run(folder.path());
    EXPECT_EQ(run.processes.size(), 1U);
    EXPECT_TRUE(has(run.diagnostics, "no-summary"));
    write_text(folder.path() / "run.json", R"({"schema":"attnscope-r)");  // the launcher died while writing
    EXPECT_TRUE(has(read_run(folder.path()).diagnostics, "broken-summary"));
}

TEST(Reader, ProcessesByRank) {
    TemporaryFolder folder;
    write_text(folder.path() / "run.json", test::run_json("real"));
    for (int rank : {2, 0, 1}) {
        ProcessWriter w("real", ",\"rank\":" + std::to_string(rank));
        w.end();
        write_text(folder.path() / ("host-" + std::to_string(100 - rank) + ".jsonl"), w.text());
    }
    const auto run = read_run(folder.path());
    ASSERT_EQ(run.processes.size(), 3U);
    EXPECT_EQ(run.ground, Ground::real);
    for (uint64_t rank = 0; rank < 3; ++rank) EXPECT_EQ(run.processes[rank].rank, rank);
}

// Law 1: the weakest ground wins, whatever run.json says.
TEST(Reader, OneVirtualProcessMakesTheRunVirtual) {
    TemporaryFolder folder;
    write_text(folder.path() / "run.json", test::run_json("real"));
    ProcessWriter a("real"), b("virtual"), c("somewhere");
    for (auto* w : {&a, &b}) w->end();
    write_text(folder.path() / "a.jsonl", a.text());
    EXPECT_EQ(read_run(folder.path()).ground, Ground::real);
    write_text(folder.path() / "b.jsonl", b.text());
    EXPECT_EQ(read_run(folder.path()).ground, Ground::virtual_gpu);
    std::filesystem::remove(folder.path() / "b.jsonl");
    write_text(folder.path() / "c.jsonl", c.text());
    const auto run = read_run(folder.path());
    EXPECT_EQ(run.ground, Ground::virtual_gpu);
    EXPECT_TRUE(has(run.processes[1].diagnostics, "unknown-ground"));
}

TEST(Reader, NoProcessFileAndAKilledProgramAreSaid) {
    TemporaryFolder folder;
    write_text(
        folder.path() / "run.json",
        R"({"schema":"attnscope-run","version":"1.0","ground":"virtual","command":["x"],"signal":9,"ended":"now"})");
    const auto run = read_run(folder.path());
    EXPECT_TRUE(has(run.diagnostics, "no-process-file"));
    EXPECT_TRUE(has(run.diagnostics, "program-killed"));
}

}  // namespace
}  // namespace attnscope
