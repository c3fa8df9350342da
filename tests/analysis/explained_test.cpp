// The report's parts about operations, choices of a backend and predictions.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/choice_words.h"
#include "attnscope/analysis.h"
#include "attnscope/explain.h"
#include "attnscope/render.h"
#include "attnscope/rules.h"
#include "blog_run.h"

namespace attnscope {
namespace {

const std::string kQuery = "bf16[8,16,1024,60] strides (983040,61440,60,1) requires_grad";
const std::string kStrided = "bf16[8,16,1024,60] strides (983040,60,960,1)";

Report report_of(const test::ProcessWriter& w) {
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json("virtual", "1.1"));
    test::write_text(folder.path() / "p.jsonl", w.text());
    return build_report(analyze(read_run(folder.path())));
}

/// One iteration of sdpa_auto: a padded copy and flash's kernel, and the backward pass's.
test::ProcessWriter explained_run() {
    test::ProcessWriter w;
    w.a100();
    const auto call = w.operation("aten::scaled_dot_product_attention", 0,
                                  {kQuery, kQuery, kStrided, "none", "0", "true", "none", "false"});
    w.line(
        R"({"type":"attention_choice","op":1,"chosen":"flash","order":["flash","efficient","math","cudnn","overrideable"],)"
        R"("refused_flash":[],"removed_flash":[],"hidden_flash":["pad-head-dim 50331648"],)"
        R"("refused_efficient":[],"removed_efficient":[],"hidden_efficient":[],)"
        R"("refused_cudnn":["head_dim should be a multiple of 8.","Deterministic mode."],"removed_cudnn":["head-dim"],"hidden_cudnn":[],)"
        R"("refused_math":[],"removed_math":[],"hidden_math":["upcast 1","causal-mask 2"]})");
    const auto pad = w.operation("aten::constant_pad_nd", call, {kQuery, "(0; 4)", "0"});
    const auto flash = w.operation("aten::_scaled_dot_product_flash_attention", call, {kQuery});
    const auto forward = w.operation("aten::_flash_attention_forward", flash, {kQuery});
    const auto node = w.operation("ScaledDotProductFlashAttentionBackward0", 0, {kQuery},
                                  ",\"scope\":\"backward\",\"forward\":" + std::to_string(flash));
    const auto backward = w.operation("aten::_flash_attention_backward", node, {kQuery});
    const auto implementation = w.open("attnscope.implementation/sdpa_auto");
    const auto iteration = w.open("attnscope.iteration", implementation);
    w.under(pad, 1);
    w.kernel({"_Z3padv"}, iteration);
    w.under(forward, 1);
    w.kernel({"_Z5flashv"}, iteration);
    w.under(backward, 2);
    w.kernel({"_Z8backwardv"}, iteration);
    w.under(0, 0);
    w.kernel({"_Z3ownv"}, iteration);
    w.end();
    return w;
}

const Section& section(const Report& r, const std::string& id) {
    const auto found =
        std::find_if(r.sections.begin(), r.sections.end(), [&](const Section& s) { return s.id == id; });
    if (found == r.sections.end()) throw std::runtime_error("no section " + id);
    return *found;
}

size_t column(const Table& t, const std::string& id) {
    for (size_t c = 0; c < t.columns.size(); ++c)
        if (t.columns[c].id == id) return c;
    throw std::runtime_error("no column " + id);
}

TEST(Explained, EachLaunchNamesItsOperation) {
    const Report r = report_of(explained_run());
    const Table& t = section(r, "launches").tables.at(0);
    const size_t c = column(t, "operation");
    ASSERT_EQ(t.rows.size(), 4U);
    EXPECT_EQ(t.rows[0].cells[c].text, "constant_pad_nd in scaled_dot_product_attention");
    EXPECT_EQ(t.rows[1].cells[c].text, "_flash_attention_forward in scaled_dot_product_attention");
    EXPECT_NE(t.rows[1].cells[c].full_text.find("aten::_flash_attention_forward < "
                                                "aten::_scaled_dot_product_flash_attention < "
                                                "aten::scaled_dot_product_attention"),
              std::string::npos);
    EXPECT_EQ(t.rows[2].cells[c].text, "backward of _scaled_dot_product_flash_attention");
    EXPECT_TRUE(t.rows[3].cells[c].text.empty());
    EXPECT_FALSE(t.rows[3].cells[c].value.absent.empty());
    for (const std::string& line : r.cannot_tell) EXPECT_EQ(line.find("Which operation"), std::string::npos);
}

TEST(Explained, WithoutOperationsItSaysWhy) {
    test::ProcessWriter w;
    w.a100();
    w.line(
        R"({"type":"diagnostic","severity":"info","code":"operations-other-libtorch","message":"LibTorch 2.9 is another","count":1})");
    w.kernel({"_Z1kv"}, 0);
    w.end();
    const Report r = report_of(w);
    EXPECT_TRUE(std::any_of(r.cannot_tell.begin(), r.cannot_tell.end(), [](const std::string& line) {
        return line.find("LibTorch 2.9 is another") != std::string::npos;
    }));
    for (const Column& c : section(r, "launches").tables.at(0).columns) EXPECT_NE(c.id, "operation");
}

TEST(Explained, TheChoiceOfABackendWithAllReasons) {
    const Report r = report_of(explained_run());
    const Section& choice = section(r, "choice");
    ASSERT_EQ(choice.tables.size(), 1U);
    const Table& t = choice.tables[0];
    EXPECT_EQ(t.title, "sdpa_auto: flash");
    EXPECT_EQ(t.sentence,
              "query and key bf16[8,16,1024,60] (requires_grad), value " + kStrided +
                  ", is_causal. LibTorch chose flash. Its order of priority: flash, efficient, math, cudnn, "
                  "overrideable.");
    ASSERT_EQ(t.rows.size(), 4U);
    EXPECT_EQ(
        t.rows[0].cells[1].text,
        "chosen. Around its kernel query, key and value are copied to pad the head dimension to a multiple "
        "of 8: 50,331,648 bytes (48 MiB).");
    EXPECT_EQ(t.rows[0].cells[2].value.number, 50331648.0);
    EXPECT_EQ(t.rows[1].cells[1].text, "would take it, were it asked first.");
    EXPECT_EQ(t.rows[1].cells[2].value.number, 0.0);
    EXPECT_EQ(t.rows[2].cells[2].value.number, 3.0);
    EXPECT_EQ(
        t.rows[3].cells[1].text,
        "refused: head_dim should be a multiple of 8. With a head dimension of 64 it would then be refused: "
        "Deterministic mode.");
    EXPECT_FALSE(t.rows[3].cells[2].value) << "what does not run hides nothing";
    for (const std::string& text : {render_text(r, {80, false, true}), render_markdown(r), render_html(r)}) {
        EXPECT_NE(text.find("Backend choice"), std::string::npos);
        EXPECT_NE(text.find("50,331,648"), std::string::npos);
    }
}

TEST(Explained, InputsInWords) {
    using words::attention_inputs;
    EXPECT_EQ(attention_inputs({}), "inputs not recorded");
    const std::string q = "fp16[2,3] strides (3,1)";
    EXPECT_EQ(attention_inputs({q, q, q, "bool[2,2] strides (2,1)", "0.1", "false", "0.5", "true"}),
              "query, key and value fp16[2,3], attn_mask bool[2,2], dropout_p 0.1, scale 0.5, enable_gqa");
    EXPECT_EQ(attention_inputs({"nonsense", "bf16[?]", "bf16[2] strides (1,2)"}),
              "query nonsense, key bf16[?], value bf16[2] strides (1,2)");
    EXPECT_EQ(attention_inputs({"int64[] cpu"}), "query int64[] cpu");
    EXPECT_EQ(attention_inputs({"bf16[9223372036854775807,9223372036854775807] strides (1,1)"}),
              "query bf16[9223372036854775807,9223372036854775807] strides (1,1)");
}

Report blog_report() {
    test::TemporaryFolder folder;
    test::write_blog_run(folder.path());
    return build_report(analyze(read_run(folder.path())));
}

// Facts, section 2: 4 x 8 x 16 x 1024 x 1024 x 64 / 2 FLOP; q, k, v, o of 16 MiB each; 20 bytes a score.
TEST(Explained, PredictionsOfTheBlogsShape) {
    const Report r = blog_report();
    const Section& prediction = section(r, "prediction");
    EXPECT_NE(prediction.sentence.find("sdpa_math cannot be faster than"), std::string::npos)
        << prediction.sentence;
    EXPECT_TRUE(prediction.sentence.starts_with(r.answer.front())) << "which one comes first";
    EXPECT_EQ(r.answer.front().find("sdpa_flash is fastest: 0.1468 ms (published: "), 0U);
    EXPECT_TRUE(r.answer.back().ends_with("; left alone, LibTorch chooses flash here."));
    const Table& amounts = prediction.tables.at(0);
    const Table& bounds = prediction.tables.at(1);
    const auto at = [](const Table& t, const std::string& row, const std::string& id) -> const Cell& {
        for (const Row& x : t.rows)
            if (x.id == row) return x.cells.at(column(t, id));
        throw std::runtime_error("no row " + row);
    };
    EXPECT_EQ(at(amounts, "sdpa_flash", "useful_flops").value.number, 17179869184.0);
    EXPECT_EQ(at(amounts, "sdpa_flash", "least_bytes").value.number, 67108864.0);
    EXPECT_EQ(at(amounts, "naive", "score_bytes").value.number, 20 * 134217728.0);
    EXPECT_EQ(at(amounts, "naive_inplace", "score_bytes").value.number, 16 * 134217728.0);
    EXPECT_EQ(at(amounts, "sdpa_math", "score_bytes").value.number, 44 * 134217728.0);
    EXPECT_EQ(at(bounds, "sdpa_flash", "roof_name").text, "bf16 tensor cores");
    EXPECT_EQ(at(bounds, "sdpa_math", "roof_name").text, "fp32 CUDA cores");
    EXPECT_EQ(at(bounds, "sdpa_flash", "bound").value.number,
              at(bounds, "sdpa_efficient", "bound").value.number);
    EXPECT_GT(*at(bounds, "sdpa_math", "bound").value.number,
              10 * *at(bounds, "sdpa_flash", "bound").value.number);
    const Table& formulas = prediction.tables.at(2);
    for (const char* quantity : {"useful FLOP", "executed FLOP", "least bytes", "score bytes",
                                 "least DRAM bytes", "least peak memory", "time bound", "FLOP/byte"})
        EXPECT_TRUE(std::any_of(formulas.rows.begin(), formulas.rows.end(), [&](const Row& row) {
            return row.cells[0].text == quantity;
        })) << quantity;
}

TEST(Explained, AKernelsChainIsTheReportsOwnNumbers) {
    test::TemporaryFolder folder;
    test::write_blog_run(folder.path());
    const Analysis a = analyze(read_run(folder.path()));
    const Report r =
        explain_kernels(a, [](std::string_view name) { return name.find("flash_fwd") != name.npos; });
    ASSERT_EQ(r.sections.size(), 2U) << "sdpa_flash and sdpa_auto";
    const Table& t = r.sections[0].tables.at(0);
    const auto value = [&](const std::string& quantity) {
        for (const Row& row : t.rows)
            if (row.cells[0].text == quantity) return row.cells[1].value;
        throw std::runtime_error("no row " + quantity);
    };
    const Step& step = a.find("sdpa_flash")->steps.at(0);
    EXPECT_EQ(value("registers per thread").number, step.registers.number);
    EXPECT_EQ(value("theoretical occupancy").number, 12.5);
    EXPECT_EQ(value("waves").number, step.waves.number);
    EXPECT_EQ(value("time bound of sdpa_flash").number, a.find("sdpa_flash")->prediction.bound.number);
    EXPECT_FALSE(value("time").number) << "nothing was measured, and it says so";
    EXPECT_TRUE(explain_kernels(a, [](std::string_view) { return false; }).sections.empty());
    EXPECT_FALSE(explain_finding(a, "no-such-rule"));
}

TEST(Explained, EveryRuleSaysWhenItIsSilent) {
    for (const Rule& rule : rules()) EXPECT_STRNE(rule.silent, "") << rule.id;
}

}  // namespace
}  // namespace attnscope
