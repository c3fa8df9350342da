// The answer of `attnscope attention --why`, out of the marks that a workload leaves.
#include "src/cli/why.h"

#include <gtest/gtest.h>

#include <sstream>

#include "attnscope/error.h"

namespace attnscope::cli {
namespace {

Run run_with(std::initializer_list<std::string> marks) {
    Run run;
    run.ground = Ground::virtual_gpu;
    run.devices = {"A100-SXM4-80GB"};
    Process& process = run.processes.emplace_back();
    for (const std::string& mark : marks) process.marks.push_back({mark, kNone});
    return run;
}

const std::string kWorkload =
    R"(attnscope.workload {"batch":8,"heads":16,"kv_heads":4,"query_length":1024,"key_length":1024,"head_dim":60,)"
    R"("dtype":"fp32","causal":false,"mask":"expanded","transposed":true,"last_stride":2,"backward":true,"dropout":0.1,)"
    R"("torch":"2.11.0","language":"c++"})";
const std::string kChoice =
    R"(attnscope.choice {"chosen":"math","order":["flash","efficient","math","cudnn","overrideable"],)"
    R"("refused":{"flash":"No masks.","efficient":"Last stride 2."},"backends":[)"
    R"({"name":"cudnn","refused":["Not in fp32."],"removed":[],"hidden":[]},)"
    R"({"name":"flash","refused":["No masks.","Not in fp32."],"removed":["mask","dtype-bf16"],"hidden":[]},)"
    R"({"name":"efficient","refused":["Last stride 2.","Grouped."],"removed":["strides"],"hidden":[]},)"
    R"({"name":"math","refused":[],"removed":[],"hidden":[{"code":"convert-mask","bytes":402653188},)"
    R"({"code":"a-newer-one","bytes":7}]}]})";

TEST(Why, TheWholeText) {
    const std::string text = why_text(why_json(run_with({kWorkload, kChoice})), 80);
    EXPECT_EQ(text, R"(scaled_dot_product_attention: fp32, batch 8, 16 heads (4 for keys and values),
1024 queries, 1024 keys, head dimension 60, boolean mask expanded over batch and
heads, transposed views, last stride 2, with gradients, dropout 0.1
On virtual GPU A100-SXM4-80GB, LibTorch 2.11.0 chooses math. Its order of
priority there: flash, efficient, math, cudnn, overrideable.

  flash      refused: No masks.
             without the mask it would then be refused: Not in fp32.
             without the mask, in bf16 it would take it
  efficient  refused: Last stride 2.
             with dense tensors it would then be refused: Grouped.
  math       chosen
             around its kernel: the boolean mask is converted to an additive one
             (402,653,188 bytes)
             around its kernel: a-newer-one (7 bytes)
  cudnn      refused: Not in fp32.
)");
}

TEST(Why, NoLineIsWiderThanAsked) {
    const auto why = why_json(run_with({kWorkload, kChoice}));
    for (const size_t width : {40U, 60U, 80U, 120U}) {
        std::istringstream lines(why_text(why, width));
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
    }
}

TEST(Why, TheLastMarksCount) {
    const auto why =
        why_json(run_with({kWorkload, R"(attnscope.choice {"chosen":"flash","order":[],"refused":{}})",
                           kChoice, "attnscope.choices {}"}));
    EXPECT_EQ(why["choice"]["chosen"], "math");
    EXPECT_EQ(why["device"], "A100-SXM4-80GB");
    EXPECT_EQ(why["ground"], "virtual");
    EXPECT_EQ(why["problem"]["head_dim"], 60);
}

// The Python workload tells first reasons alone.
TEST(Why, WithoutFurtherReasons) {
    const std::string text = why_text(
        why_json(run_with({kWorkload, R"(attnscope.choice {"chosen":"math","order":["flash","math"],)"
                                      R"("refused":{"flash":"No masks."}})"})),
        80);
    EXPECT_NE(text.find("  flash      refused: No masks.\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  math       chosen\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  efficient  would take it\n"), std::string::npos) << text;
}

TEST(Why, NoBackendAtAll) {
    const std::string text = why_text(
        why_json(
            run_with({kWorkload, R"(attnscope.choice {"chosen":"none","order":["flash"],"refused":{}})"})),
        80);
    EXPECT_NE(text.find("has no backend for it."), std::string::npos) << text;
}

TEST(Why, DamagedMarksAreNoAnswer) {
    for (const char* choice :
         {"attnscope.choice {\"chosen\":", "attnscope.choice [1]", "attnscope.choice ", "x"})
        EXPECT_THROW(why_json(run_with({kWorkload, choice})), Error) << choice;
    EXPECT_THROW(why_json(attnscope::Run()), Error);
}

// Marks that parse but hold something else: never a crash.
TEST(Why, MarksOfAnotherShape) {
    for (const char* choice :
         {R"(attnscope.choice {})", R"(attnscope.choice {"chosen":7})",
          R"(attnscope.choice {"order":"flash"})",
          R"(attnscope.choice {"chosen":"flash","backends":{"a":1}})",
          R"(attnscope.choice {"chosen":"flash","backends":[1,{"refused":[2]}]})",
          R"(attnscope.choice {"chosen":"flash","backends":[{"name":"flash","hidden":[3],"refused":[]}]})",
          R"(attnscope.choice {"chosen":"flash","refused":[]})"}) {
        try {
            EXPECT_FALSE(why_text(why_json(run_with({kWorkload, choice})), 80).empty());
        } catch (const Error&) {
            // Refused in a sentence.
        }
    }
    EXPECT_FALSE(why_text(why_json(run_with({kChoice})), 80).empty()) << "no workload mark";
}

}  // namespace
}  // namespace attnscope::cli
