// The Report of the blog's shape: complete, consistent, and nothing missing shown as 0.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "attnscope/render.h"
#include "attnscope/rules.h"
#include "blog_run.h"

namespace attnscope {
namespace {

/// Of a run of one process.
Analysis analysis_of(const test::ProcessWriter& process, const char* ground = "virtual") {
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json(ground));
    test::write_text(folder.path() / "p.jsonl", process.text());
    return analyze(read_run(folder.path()));
}

Report blog_report(const test::BlogOptions& options = {}) {
    test::TemporaryFolder folder;
    test::write_blog_run(folder.path(), options);
    return build_report(analyze(read_run(folder.path())));
}

const Cell& cell(const Table& table, std::string_view row, std::string_view column) {
    for (size_t c = 0; c < table.columns.size(); ++c)
        if (table.columns[c].id == column)
            for (const Row& r : table.rows)
                if (r.id == row) return r.cells.at(c);
    throw std::runtime_error("no cell " + std::string(row) + "/" + std::string(column));
}

void every_table(const Report& r, const std::function<void(const Table&)>& visit) {
    visit(r.implementations);
    visit(r.methods);
    for (const Section& s : r.sections)
        for (const Table& t : s.tables) visit(t);
}

TEST(Report, SaysFirstThatNothingWasMeasuredAndWhatIsExact) {
    const Report r = blog_report();
    EXPECT_TRUE(r.predicted);
    EXPECT_NE(r.banner.find("PREDICTED for NVIDIA A100-SXM4-80GB, no GPU used: nothing was measured"),
              std::string::npos);
    EXPECT_NE(r.banner.find("are exact"), std::string::npos);
    EXPECT_FALSE(r.exact.empty());
    EXPECT_FALSE(r.not_exact.empty());
    EXPECT_LE(r.answer.size(), 3U);
    EXPECT_FALSE(r.answer.empty());
    test::BlogOptions real;
    real.ground = "real";
    real.times = true;
    const Report measured = blog_report(real);
    EXPECT_FALSE(measured.predicted);
    EXPECT_TRUE(measured.exact.empty());
    EXPECT_NE(measured.banner.find("MEASURED on NVIDIA A100"), std::string::npos);
    EXPECT_NE(measured.answer.at(0).find("sdpa_flash is fastest: 0.1468 ms"), std::string::npos);
    EXPECT_LE(measured.answer.size(), 3U);
}

TEST(Report, ImplementationsTable) {
    const Report r = blog_report();
    const Table& t = r.implementations;
    ASSERT_EQ(t.rows.size(), 7U);
    EXPECT_EQ(cell(t, "naive", "launches").value.number, 6.0);
    EXPECT_EQ(cell(t, "naive", "copied_bytes").value.number, 268435456.0);
    EXPECT_EQ(cell(t, "sdpa_flash", "theoretical_occupancy").value.number, 12.5);
    EXPECT_EQ(cell(t, "sdpa_flash", "limiter").text, "registers");
    EXPECT_EQ(cell(t, "sdpa_flash", "registers").value.number, 255.0);
    EXPECT_EQ(cell(t, "sdpa_flash", "shared").value.number, 49152.0);
    EXPECT_EQ(cell(t, "sdpa_cudnn", "theoretical_occupancy").value.absent,
              "chosen by the library on a real GPU");
    EXPECT_EQ(cell(t, "sdpa_math", "peak_memory").value.number, 2285895680.0);
    for (const Column& c : t.columns) EXPECT_NE(c.id, "time") << "a virtual run has no column of times";
    test::BlogOptions real;
    real.ground = "real";
    real.times = true;
    const Report measured = blog_report(real);
    EXPECT_EQ(cell(measured.implementations, "sdpa_flash", "time").value.number, 146800.0);
    const auto best = std::find_if(measured.implementations.rows.begin(), measured.implementations.rows.end(),
                                   [](const Row& row) { return row.status == RowStatus::best; });
    ASSERT_NE(best, measured.implementations.rows.end());
}

TEST(Report, RefusedRowCarriesTheReason) {
    test::BlogOptions options;
    options.refuse_flash = true;
    const Report r = blog_report(options);
    const auto row = std::find_if(r.implementations.rows.begin(), r.implementations.rows.end(),
                                  [](const Row& x) { return x.id == "sdpa_flash"; });
    ASSERT_NE(row, r.implementations.rows.end());
    EXPECT_EQ(row->status, RowStatus::refused);
    EXPECT_EQ(row->note, "Flash Attention does not support non-null attn_mask.");
    EXPECT_FALSE(cell(r.implementations, "sdpa_flash", "launches").value);
}

TEST(Report, TablesAreRectangularAndNothingIsSilent) {
    test::BlogOptions refused;
    refused.refuse_flash = true;
    for (const Report& r : {blog_report(), blog_report(refused)}) {
        std::set<std::string> ids;
        every_table(r, [&](const Table& t) {
            EXPECT_TRUE(ids.insert(t.id).second) << "table id twice: " << t.id;
            for (const Row& row : t.rows) {
                ASSERT_EQ(row.cells.size(), t.columns.size()) << t.id << "/" << row.id;
                for (size_t c = 0; c < row.cells.size(); ++c) {
                    const Cell& x = row.cells[c];
                    const bool shown = !x.text.empty() || x.value.number || !x.value.absent.empty();
                    EXPECT_TRUE(shown) << t.id << "/" << row.id << "/" << t.columns[c].id;
                    EXPECT_FALSE(x.value.number && !x.value.absent.empty());
                }
            }
        });
    }
}

TEST(Report, EveryRuleIsAccountedFor) {
    const Report r = blog_report();
    for (const Rule& rule : rules()) {
        const bool spoke = std::any_of(r.findings.begin(), r.findings.end(),
                                       [&](const Finding& f) { return f.id == rule.id; });
        const bool listed = std::any_of(r.checks_passed.begin(), r.checks_passed.end(),
                                        [&](const Fact& f) { return f.label == rule.id; });
        EXPECT_NE(spoke, listed) << rule.id;
    }
}

TEST(Report, LaunchesInOrderWithFullNames) {
    const Report r = blog_report();
    const auto section = std::find_if(r.sections.begin(), r.sections.end(),
                                      [](const Section& s) { return s.id == "launches"; });
    ASSERT_NE(section, r.sections.end());
    // Those that launch once stand side by side.
    ASSERT_EQ(section->tables.size(), 4U);
    const Table& naive = section->tables[0];
    ASSERT_EQ(naive.rows.size(), 6U);
    EXPECT_EQ(naive.rows[2].cells[0].text, "copy DtoD");
    const Table& single = section->tables[3];
    ASSERT_EQ(single.rows.size(), 4U);
    EXPECT_EQ(single.rows[1].cells[0].text, "sdpa_flash");
    EXPECT_EQ(single.rows[1].cells[3].text, "8 x 8 x 16");
    EXPECT_NE(single.rows[1].cells[1].full_text.find("pytorch_flash::flash_fwd_kernel<"), std::string::npos);
}

TEST(Report, FiguresOfATwinStandOnce) {
    const Report r = blog_report();
    const auto section = std::find_if(r.sections.begin(), r.sections.end(),
                                      [](const Section& s) { return s.id == "prediction"; });
    ASSERT_NE(section, r.sections.end());
    EXPECT_TRUE(section->sentence.ends_with("sdpa_auto has the figures of sdpa_flash.")) << section->sentence;
    EXPECT_EQ(section->tables.at(0).rows.size(), 6U);
    EXPECT_EQ(section->tables.at(1).rows.size(), 6U);
}

TEST(Report, AGpusNameIsNoLongerThanAHeading) {
    test::ProcessWriter w;
    std::string name;
    for (int i = 0; i < 1000; ++i) name += "é";
    w.line(R"({"type":"device","device":0,"ground":"virtual","name":")" + name + "\"}");
    w.end();
    const Analysis a = analysis_of(w);
    EXPECT_EQ(a.device_name, name.substr(0, 96) + "…") << "48 whole characters";
    const Report r = build_report(a);
    EXPECT_TRUE(std::any_of(r.environment.begin(), r.environment.end(),
                            [&](const Fact& f) { return f.value.find(name) != std::string::npos; }));
}

TEST(Report, AGpuThatNobodyKnowsIsSaid) {
    std::string banner;
    const auto codes = [&](const std::string& device, const char* ground = "real") {
        test::ProcessWriter w(ground);
        w.line(device);
        const auto outer = w.open("attnscope.implementation/x");
        const auto iteration = w.open("attnscope.iteration", outer);
        w.kernel({"k"}, iteration);
        w.close(iteration);
        w.close(outer);
        w.end();
        const Report report = build_report(analysis_of(w, ground));
        banner = report.banner;
        std::set<std::string> out;
        for (const Notice& n : report.notices) out.insert(n.code);
        return out;
    };
    const std::string limits =
        R"("compute_major":9,"compute_minor":0,"sm_count":99,"warp_size":32,"max_threads_per_sm":2048,"max_ctas_per_sm":32,)"
        R"("max_threads_per_cta":1024,"registers_per_sm":65536,"registers_per_cta":65536,"shared_per_sm":233472,)"
        R"("shared_per_cta":49152,"shared_per_cta_optin":232448,"shared_reserved_per_cta":1024)";
    const auto nothing =
        codes(R"({"type":"device","device":0,"ground":"real","name":"Some Accelerator 9000"})");
    EXPECT_TRUE(nothing.count("device-limits") && nothing.count("device-peaks"));
    const auto own = codes(R"({"type":"device","device":0,"ground":"real","name":"Some Accelerator 9000",)" +
                           limits + "}");
    EXPECT_TRUE(!own.count("device-limits") && own.count("device-peaks"))
        << "its own limits suffice for occupancy";
    const auto known =
        codes(R"({"type":"device","device":0,"ground":"real","name":"NVIDIA H200",)" + limits + "}");
    EXPECT_TRUE(!known.count("device-limits") && !known.count("device-peaks"));
    // What is not known is not called exact either.
    codes(R"({"type":"device","device":0,"ground":"virtual","name":"Some Accelerator 9000"})", "virtual");
    EXPECT_TRUE(banner.ends_with("Launches and their resources are exact.")) << banner;
    codes(R"({"type":"device","device":0,"ground":"virtual","name":"Some Accelerator 9000",)" + limits + "}",
          "virtual");
    EXPECT_TRUE(banner.ends_with("theoretical occupancy are exact.")) << banner;
}

// Names, reasons and marks come from the program: whatever they hold, every format is made.
TEST(Report, HostileNamesRender) {
    const std::string evil = "</script><script>alert(1)</script>\x1b[31m|`\n# x \xf0\x9f\x92\xa5 %s \\";
    test::ProcessWriter w;
    w.a100();
    const auto outer = w.open("attnscope.implementation/" + evil);
    const auto iteration = w.open("attnscope.iteration", outer);
    w.kernel({evil}, iteration);
    w.library_call(evil, evil, evil, iteration);
    w.mark("attnscope.implementation " + ("{\"name\":" + test::quote(evil) +
                                          ",\"status\":\"failed\",\"reason\":" + test::quote(evil) + "}"));
    w.mark(
        "attnscope.workload {\"batch\":1e300,\"heads\":-1,\"kv_heads\":\"x\",\"query_length\":0,\"dtype\":" +
        test::quote(evil) + "}");
    w.mark("attnscope.choice [1,2]");
    w.mark("attnscope.choice {\"chosen\":" + test::quote(evil) + ",\"order\":[1," + test::quote(evil) +
           "],\"refused\":{\"a\":1}}");
    const Report r = build_report(analysis_of(w));
    EXPECT_EQ(render_html(r).find("<script>"), std::string::npos);
    EXPECT_FALSE(render_markdown(r).empty() || render_json(r).empty() || render_text(r).empty());
    EXPECT_EQ(render_text(r).find('\x1b'), std::string::npos);
}

// A run cut anywhere still gives a report, and a cut one says so.
TEST(Report, OfARunCutAnywhere) {
    const std::string whole = test::blog_process();
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json());
    for (size_t length = 0; length < whole.size(); length += 1 + whole.size() / 150) {
        test::write_text(folder.path() / "p.jsonl", std::string_view(whole).substr(0, length));
        Report r;
        ASSERT_NO_THROW(r = build_report(analyze(read_run(folder.path())))) << length;
        EXPECT_TRUE(std::any_of(r.notices.begin(), r.notices.end(), [](const Notice& n) {
            return n.level == NoticeLevel::data_loss;
        })) << length;
        EXPECT_EQ(r.findings.at(0).id, "data-loss") << length;
        ASSERT_FALSE(render_markdown(r).empty());
    }
}

}  // namespace
}  // namespace attnscope
