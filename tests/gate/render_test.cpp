// Each format: what it must say, that it is well-formed whatever a program calls its kernels, and its sizes.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "attnscope/render_gate.h"
#include "sample.h"
#include "support/command.h"

namespace attnscope::gate {
namespace {

using namespace test;
using Json = nlohmann::json;

GateResult judged(const GateFacts& run, const std::string& policy = "",
                  const GateFacts& before = small_facts()) {
    const Baseline baseline{"why", before};
    return judge(run, &baseline, read_policy(policy, "gate.toml"), {"ci/b.json", {"run"}});
}

GateResult failing() {
    GateFacts run = small_facts();
    measurement(run, "fused", "launches").samples = {2};
    part_measurement(run, "fused", "flash_fwd_kernel<64>", "registers").samples = {200};
    measurement(run, "plain", "peak_memory") = {"peak_memory", {}, {}, "the program did not report it"};
    run.inputs[1].value = "fp32";
    return judged(run, "\n[[limit]]\nimplementation=\"fused\"\nmetric=\"launches\"\nat_most=1");
}

/// What a kernel may be called by somebody who wants to break the page that shows it.
constexpr const char* kHostile =
    "</failure>]]>\x01\x1b[31m|`<script>alert(1)</script>\n::error::x%0A,:\r\n\xff\xfe\"'\\ @team "
    "[x](http://e) -->\xe2\x80\xae";

GateResult hostile() {
    GateFacts run = small_facts(), before = small_facts();
    for (GateFacts* f : {&run, &before}) f->subjects[0].name = kHostile;
    run.gpu = before.gpu = kHostile;
    run.inputs[0].value = kHostile;
    Part part;
    part.name = part.place = kHostile;
    part.measurements = {{"count", {1}, {}, {}}};
    run.subjects[0].parts.push_back(part);
    run.subjects[0].reason = kHostile;
    return judged(run, "", before);
}

GateResult many(size_t kernels) {
    GateFacts run = small_facts();
    for (size_t i = 0; i < kernels; ++i) {
        Part part;
        part.name = "kernel_" + std::to_string(i) + std::string(300, 'x');
        part.measurements = {{"count", {1}, {}, {}}};
        run.subjects[0].parts.push_back(part);
    }
    return judged(run);
}

/// The lines of the table: its titles, the rule below them, and one line for each verdict.
std::vector<std::string> rows(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (all.empty() && line.find(" where ") == std::string::npos) continue;
        if (line.empty()) break;
        all.push_back(line);
    }
    return all;
}

TEST(GateText, SaysTheVerdictTheLimitAndTheNextCommand) {
    const std::string text = render_gate_text(failing());
    EXPECT_EQ(text.rfind("FAILED: ", 0), 0u) << text;
    EXPECT_NE(text.find("input changed: dtype: bf16 -> fp32"), std::string::npos);
    EXPECT_NE(text.find(", base: ci/b.json, [line] of\ngate.toml\n"), std::string::npos) << text;
    const std::vector<std::string> table = rows(text);
    ASSERT_EQ(table.size(), 6u) << text;
    EXPECT_EQ(table[0], "                where                   metric       base  head  change  limit");
    EXPECT_EQ(table[2], "✗ worse         fused                   launches        1     2      +1  ≤ base");
    EXPECT_EQ(table[3], "✗ worse         fused: flash_fwd_kern…  registers     128   200     +72  ≤ base");
    EXPECT_EQ(table[4], "✗ worse         fused                   launches        —     2          ≤ 1 [2]");
    EXPECT_EQ(table[5], "? cannot judge  plain                   peak_memory  2 MB     —    gone  = base");
    EXPECT_NE(text.find("did not report it"), std::string::npos);
    EXPECT_NE(text.find("Next: attnscope report run --details"), std::string::npos);
    EXPECT_LT(text.find("input changed"), text.find("✗ worse")) << "inputs are named first";
    EXPECT_EQ(render_gate_text(judged(small_facts())).rfind("PASSED: ", 0), 0u);
}

TEST(GateText, KeepsToItsWidthAndWritesNoControls) {
    for (const GateResult& r : {failing(), hostile(), many(30)})
        for (const size_t width : {40u, 80u}) {
            std::istringstream lines(render_gate_text(r, {width, false, true}));
            for (std::string line; std::getline(lines, line);) {
                size_t columns = 0;
                for (const char c : line) {
                    columns += (c & 0xC0) != 0x80;
                    EXPECT_GE(static_cast<unsigned char>(c), ' ') << line;
                }
                EXPECT_LE(columns, width) << line;
            }
        }
}

TEST(GateText, ARowIsALineWhateverTheWidth) {
    for (const size_t width : {40u, 60u, 80u, 200u}) {
        const std::string text = render_gate_text(many(5), {width, false, false});
        size_t kernels = 0;
        for (const std::string& row : rows(text)) kernels += row.find("fused: ker") != std::string::npos;
        EXPECT_EQ(kernels, 5u) << text;
        EXPECT_EQ(text.find("Left out for want of columns") != std::string::npos, width == 40) << text;
    }
}

TEST(GateText, MeansTheSameWithoutColour) {
    const std::string plain = render_gate_text(failing(), {80, false, false});
    std::string coloured = render_gate_text(failing(), {80, true, false});
    EXPECT_NE(coloured, plain);
    for (size_t at = 0; (at = coloured.find('\x1b')) != std::string::npos;)
        coloured.erase(at, coloured.find('m', at) - at + 1);
    EXPECT_EQ(coloured, plain);
}

TEST(GateText, NamesBothCommandsThatRanInTurns) {
    GateResult r = failing();
    r.context.before = "./base --x";
    r.context.after = "./head --x";
    const std::string text = render_gate_text(r);
    EXPECT_NE(text.find("\nbase: ./base --x\nhead: ./head --x\n"), std::string::npos) << text;
}

TEST(GateMarkdown, TwoLinesWhenAllIsWell) {
    const std::string md = render_gate_markdown(judged(small_facts()), "main-h100");
    EXPECT_EQ(md.rfind("<!-- attnscope:id=main-h100 -->\n", 0), 0u) << md;
    EXPECT_EQ(std::count(md.begin(), md.end(), '\n'), 3) << md;
    EXPECT_LE(md.size(), 600u);
}

TEST(GateMarkdown, KeepsToItsBudgetAndCountsWhatItLeftOut) {
    for (const size_t budget : {512u, 4096u, 65536u})
        for (const size_t kernels : {0u, 1u, 40u, 1000u}) {
            const std::string md = render_gate_markdown(many(kernels), "x", budget);
            EXPECT_LE(md.size(), budget);
        }
    EXPECT_NE(render_gate_markdown(many(1000), "x").find("more did not fit here"), std::string::npos);
    EXPECT_NE(
        render_gate_markdown(failing(), "x").find("| ✗ worse | fused | launches | *1* | *2* | +1 | ≤ base |"),
        std::string::npos)
        << render_gate_markdown(failing(), "x");
}

TEST(GateMarkdown, ForeignTextDoesNothing) {
    const std::string md = render_gate_markdown(hostile(), kHostile, kCommentLimit);
    EXPECT_EQ(md.find("<script"), std::string::npos) << md;
    for (size_t at = 0; (at = md.find("](http", at)) != std::string::npos; ++at)
        EXPECT_EQ(md[at - 1], '\\') << "no link";
    EXPECT_EQ(md.find("@team"), std::string::npos) << "nobody is called";
    EXPECT_EQ(md.find('\x1b'), std::string::npos);
    EXPECT_EQ(md.find("-->"), md.find(" -->") + 1) << "the tag ends once";
    EXPECT_EQ(md.rfind("-->"), md.find("-->"));
    std::istringstream lines(md);
    for (std::string line; std::getline(lines, line);)
        if (line.rfind("| ", 0) == 0 && line.rfind("| |", 0) != 0) {
            size_t bars = 0;
            for (size_t i = 0; i < line.size(); ++i)
                bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
            EXPECT_EQ(bars, 8u) << line;
        }
}

TEST(GateAnnotations, AreWorkflowCommandsAndNothingElse) {
    const std::string text = render_gate_annotations(failing());
    EXPECT_NE(text.find("::error file=gate.toml,line=2,title=attnscope gate%3A worse::fused"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("::warning title="), std::string::npos);
    for (const GateResult& r : {hostile(), many(40)}) {
        std::istringstream lines(render_gate_annotations(r));
        size_t n = 0;
        for (std::string line; std::getline(lines, line); ++n)
            EXPECT_EQ(line.rfind(line[2] == 'e' ? "::error " : "::warning ", 0), 0u) << line;
        EXPECT_LE(n, 20u);
    }
    GateFacts run = small_facts();
    run.subjects[0].parts.push_back({Level::kernel, "model/attention.py:57", "k", {{"count", {1}, {}, {}}}});
    EXPECT_NE(render_gate_annotations(judged(run)).find("file=model/attention.py,line=57,"),
              std::string::npos);
    // LibTorch's operation is the place; the range around it names the line.
    run = small_facts();
    run.subjects[0].parts.push_back(
        {Level::kernel, "aten::mul", "k", {{"count", {1}, {}, {}}}, "model/mlp.py:9"});
    EXPECT_NE(render_gate_annotations(judged(run)).find("file=model/mlp.py,line=9,"), std::string::npos);
}

TEST(GateJunit, IsWellFormedAndCountsAgree) {
    GateResult none = failing();
    none.no_comparison = {kHostile};
    for (const GateResult& r : {failing(), hostile(), many(20), judged(small_facts()), none}) {
        pugi::xml_document xml;
        const std::string text = render_gate_junit(r);
        const pugi::xml_parse_result parsed = xml.load_buffer(text.data(), text.size());
        ASSERT_TRUE(parsed) << parsed.description() << " at "
                            << text.substr(static_cast<size_t>(parsed.offset), 80);
        const pugi::xml_node suite = xml.child("testsuites").child("testsuite");
        int tests = 0, failures = 0, skipped = 0;
        for (const pugi::xml_node test : suite.children("testcase")) {
            ++tests;
            EXPECT_TRUE(*test.attribute("name").value() && *test.attribute("classname").value());
            failures += test.child("failure") ? 1 : 0;
            skipped += test.child("skipped") ? 1 : 0;
        }
        EXPECT_EQ(suite.attribute("tests").as_int(), tests);
        EXPECT_EQ(suite.attribute("failures").as_int(), failures);
        EXPECT_EQ(suite.attribute("skipped").as_int(), skipped);
        EXPECT_EQ(suite.attribute("errors").as_int(-1), 0);
        EXPECT_EQ(static_cast<size_t>(failures),
                  r.count(Outcome::worse) + r.count(Outcome::unjudged) + r.no_comparison.size());
    }
}

TEST(GateSarif, HoldsWhatTheStandardRequires) {
    for (const GateResult& r : {failing(), hostile(), judged(small_facts())}) {
        const Json sarif = Json::parse(render_gate_sarif(r));
        EXPECT_EQ(sarif["version"], "2.1.0");  // 3.13.2
        const Json& run = sarif["runs"].at(0);
        const Json& driver = run["tool"]["driver"];
        EXPECT_TRUE(driver["name"].is_string());  // 3.19.8
        std::set<std::string> fingerprints;
        for (const Json& one : run["results"]) {
            EXPECT_FALSE(std::string(one["message"]["text"]).empty());                     // 3.27.11
            EXPECT_EQ(driver["rules"].at(size_t(one["ruleIndex"]))["id"], one["ruleId"]);  // 3.27.6
            const std::string level = one["level"];
            EXPECT_TRUE(level == "error" || level == "warning" || level == "note");  // 3.27.10
            const Json& at = one["locations"].at(0)["physicalLocation"];
            const std::string uri = at["artifactLocation"]["uri"];
            EXPECT_EQ(uri.find_first_of(" <>\"\\^`{|}\n"), std::string::npos) << uri;  // RFC 3986
            EXPECT_GE(int(at["region"]["startLine"]), 1);                              // 3.30.5
            EXPECT_TRUE(fingerprints.insert(one["partialFingerprints"]["attnscope/v1"]).second);
        }
    }
    const std::string text = render_gate_sarif(failing());
    EXPECT_NE(text.find("\"gate.toml\""), std::string::npos)
        << "a limit's location is its line in the policy";
    EXPECT_NE(text.find("\"ci/b.json\""), std::string::npos);
}

/// No program calls its kernels so, and no file may break of it.
TEST(GateFormats, AreValidByTheirPublishedSchemas) {
    const char* python = std::getenv("ATTNSCOPE_TEST_PYTHON");
    const attnscope::test::Scratch folder;
    GateResult none = failing();
    none.no_comparison = {kHostile};
    none.verdicts.clear();
    GateResult ambiguous = failing();
    ambiguous.verdicts.front().outcome = Outcome::ambiguous;
    int n = 0;
    for (const GateResult& r : {failing(), hostile(), many(20), judged(small_facts()), none, ambiguous}) {
        const std::string name = folder.path(std::to_string(n++));
        attnscope::test::write_text(name + ".xml", render_gate_junit(r));
        attnscope::test::write_text(name + ".sarif", render_gate_sarif(r));
        attnscope::test::write_text(name + ".verdict", render_gate_json(r));
    }
    for (const GateFacts& facts : {small_facts(), blog_facts(), join({small_facts(), small_facts()})})
        attnscope::test::write_text(folder.path(std::to_string(n++) + ".baseline"), to_json({"why", facts}));
    const std::string script = std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/tests/gate/formats.py";
    const attnscope::test::Outcome o =
        attnscope::test::run_program({python ? python : "python3", script, folder.path()});
    if (o.exit_code == 77) GTEST_SKIP() << o.out;
    EXPECT_EQ(o.exit_code, 0) << o.out << o.err;
    EXPECT_NE(o.out.find(std::to_string(3 * 6 + 3) + " files, 0 faults"), std::string::npos) << o.out;
}

TEST(GateJson, FollowsItsSchemaAndKeepsMissingApart) {
    std::ifstream in(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/schema/verdict.schema.json");
    const Json schema = Json::parse(in);
    for (const GateResult& r : {failing(), hostile()}) {
        const Json json = Json::parse(render_gate_json(r));
        for (const auto& [key, value] : json.items()) EXPECT_TRUE(schema["properties"].contains(key)) << key;
        for (const std::string key : schema["required"]) EXPECT_TRUE(json.contains(key)) << key;
        for (const Json& v : json["verdicts"]) {
            for (const auto& [key, value] : v.items())
                EXPECT_TRUE(schema["$defs"]["verdict"]["properties"].contains(key)) << key;
            for (const std::string key : schema["$defs"]["verdict"]["required"])
                EXPECT_TRUE(v.contains(key)) << key;
        }
    }
    const Json json = Json::parse(render_gate_json(failing()));
    EXPECT_EQ(json["exit_code"], 1);
    bool seen = false;
    for (const Json& v : json["verdicts"])
        if (v.value("metric", "") == "peak_memory" && v["outcome"] == "cannot judge") {
            seen = true;
            EXPECT_EQ(v["before"]["number"], 2e6);
            EXPECT_EQ(v["after"]["absent"], "the program did not report it");
            EXPECT_EQ(v["ground"], "virtual");
            EXPECT_EQ(v["source"], "reported");
        }
    EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace attnscope::gate
