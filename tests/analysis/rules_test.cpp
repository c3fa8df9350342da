// Each rule on the run where it must speak, and on one where it must be silent.
#include <gtest/gtest.h>

#include <algorithm>

#include "attnscope/rules.h"
#include "blog_run.h"

namespace attnscope {
namespace {

using test::BlogOptions;

Analysis blog(const BlogOptions& options = {}, const std::string& extra_lines = {}) {
    test::TemporaryFolder folder;
    test::write_blog_run(folder.path(), options);
    if (!extra_lines.empty()) {
        std::string text = test::blog_process(options);
        text.insert(text.rfind("{\"type\":\"end\""), extra_lines);
        test::write_text(folder.path() / "test-4242-1764500000000000000.jsonl", text);
    }
    return analyze(read_run(folder.path()));
}

std::vector<Finding> of(const Analysis& a, std::string_view id) {
    std::vector<Finding> out;
    for (Finding& f : find_all(a))
        if (f.id == id) out.push_back(std::move(f));
    return out;
}

bool says(const std::vector<std::string>& sentences, std::string_view part) {
    return std::any_of(sentences.begin(), sentences.end(),
                       [&](const std::string& s) { return s.find(part) != std::string::npos; });
}

const Value* evidence(const Finding& f, std::string_view label) {
    for (const Evidence& e : f.evidence)
        if (e.label == label) return &e.value;
    return nullptr;
}

/// A time that somebody published, with the source beside it.
bool cited(const Evidence& e) {
    return e.value.provenance.ground == Ground::imported && e.value.provenance.source == Source::reported &&
           e.value.unit == Unit::nanoseconds && !e.value.formula.empty();
}

// DESIGN.md, law 7: claim, evidence, counter-evidence, next step; and no finding without a number.
TEST(Rules, EveryFindingIsComplete) {
    BlogOptions real, few, refused;
    real.ground = "real";
    real.times = true;
    few.batch = 1;
    refused.refuse_flash = true;
    const std::string lines =
        R"({"type":"uncomputed_read","cause":"memcpy","bytes":4,"returned":"zeros","location":"a.py:7","count":2}
{"type":"assumed","device":0,"key":"core_clock_khz"}
)";
    for (const Analysis& a : {blog(), blog(real), blog(few), blog(refused, lines)}) {
        for (const Finding& f : find_all(a)) {
            EXPECT_FALSE(f.id.empty() || f.subject.empty() || f.claim.empty()) << f.id;
            EXPECT_NE(f.claim.find_first_of("0123456789"), std::string::npos) << f.claim;
            EXPECT_TRUE(std::any_of(f.evidence.begin(), f.evidence.end(), [](const Evidence& e) {
                return bool(e.value);
            })) << f.id;
            EXPECT_FALSE(f.counter_evidence.empty()) << f.id;
            EXPECT_NE(f.next_step.find("attnscope "), std::string::npos) << f.next_step;
            for (const Evidence& e : f.evidence)
                EXPECT_EQ(e.value.provenance.ground, cited(e) ? Ground::imported : a.ground)
                    << f.id << ": " << e.label;
        }
    }
}

Analysis counted(const BlogOptions& options = {}, const test::BlogCounters& values = {}) {
    test::TemporaryFolder folder;
    test::write_counted_blog_run(folder.path(), options, values);
    return analyze(read_run(folder.path()));
}

BlogOptions real_with_times() {
    BlogOptions options;
    options.ground = "real";
    options.times = true;
    return options;
}

TEST(Rules, WithCountersEveryFindingIsCompleteToo) {
    BlogOptions alone = real_with_times();
    alone.times = false;
    for (const Analysis& a : {counted(), counted(real_with_times()), counted(alone)})
        for (const Finding& f : find_all(a)) {
            EXPECT_FALSE(f.id.empty() || f.subject.empty() || f.claim.empty()) << f.id;
            EXPECT_NE(f.claim.find_first_of("0123456789"), std::string::npos) << f.claim;
            EXPECT_FALSE(f.counter_evidence.empty()) << f.id;
            EXPECT_NE(f.next_step.find("attnscope "), std::string::npos) << f.next_step;
            for (const Evidence& e : f.evidence)
                EXPECT_EQ(e.value.provenance.ground, cited(e) ? Ground::imported
                                                     : e.value.provenance.source == Source::counter
                                                         ? a.counter_ground
                                                         : a.ground)
                    << f.id << ": " << e.label;
        }
}

TEST(LowOccupancy, ABusyTensorPipeSettlesIt) {
    const Analysis a = counted(real_with_times());
    const auto found = of(a, "low-occupancy-by-design");
    const auto flash =
        std::find_if(found.begin(), found.end(), [](const Finding& f) { return f.subject == "sdpa_flash"; });
    ASSERT_NE(flash, found.end());
    EXPECT_EQ(flash->severity, Severity::good);
    EXPECT_NE(flash->claim.find("The tensor pipe is busy 61% of the active cycles"), std::string::npos)
        << flash->claim;
    EXPECT_EQ(evidence(*flash, "tensor pipe busy")->number, 61.0);
    EXPECT_EQ(evidence(*flash, "tensor pipe busy")->provenance.source, Source::counter);
    EXPECT_EQ(evidence(*flash, "achieved occupancy")->number, 11.5);
    EXPECT_FALSE(says(flash->counter_evidence, "below the theoretical")) << "11.5 of 12.5";
}

TEST(LowOccupancy, AnIdleTensorPipeSpeaksAgainstTheDesign) {
    // DRAM is what is busy then: nothing waits for warps, and nothing shows the design at work.
    Analysis a = counted(real_with_times(), {4, 6.25, 0});
    for (Implementation& i : a.implementations)
        for (Step& s : i.steps)
            s.counters.push_back(
                {"dram_throughput", Value::of(85, Unit::percent, {Source::counter, Ground::real}), {}});
    const auto found = of(a, "low-occupancy-by-design");
    const auto flash =
        std::find_if(found.begin(), found.end(), [](const Finding& f) { return f.subject == "sdpa_flash"; });
    ASSERT_NE(flash, found.end());
    EXPECT_EQ(flash->severity, Severity::info);
    EXPECT_TRUE(says(flash->counter_evidence, "The tensor pipe is busy only 4% of the active cycles"));
    EXPECT_TRUE(says(flash->counter_evidence, "Achieved occupancy is 6.2%, below the theoretical 12.5%") ||
                says(flash->counter_evidence, "Achieved occupancy is 6.3%, below the theoretical 12.5%"));
}

TEST(LowOccupancy, AFixtureSaysSoInTheSentence) {
    const auto found = of(counted(), "low-occupancy-by-design");
    ASSERT_FALSE(found.empty());
    EXPECT_NE(found[0].claim.find("61% (fixture)"), std::string::npos) << found[0].claim;
}

TEST(Math, OffTheTensorCoresIsCounted) {
    const auto off = of(counted(real_with_times()), "math-upcast");
    ASSERT_EQ(off.size(), 1U);
    EXPECT_EQ(evidence(off[0], "tensor pipe busy")->number, 0.0);
    EXPECT_NE(off[0].claim.find("run off the Tensor Cores: the tensor pipe is busy 0%"), std::string::npos)
        << off[0].claim;
    // 20 kernels of equal active cycles, two of them products at 30%: 3%.
    const auto tf32 = of(counted(real_with_times(), {61, 11.5, 30}), "math-upcast");
    ASSERT_EQ(tf32.size(), 1U);
    EXPECT_EQ(evidence(tf32[0], "tensor pipe busy")->number, 3.0);
    EXPECT_TRUE(says(tf32[0].counter_evidence, "TF32 is allowed"));
}

TEST(MaskedFill, CountedBytesBesideTheModelled) {
    const auto found = of(counted(real_with_times()), "masked-fill-copy");
    ASSERT_EQ(found.size(), 1U);
    // 5 kernels of 384 MiB each (the copy is none).
    EXPECT_EQ(evidence(found[0], "DRAM bytes of naive, counted")->number, 5 * 402653184.0);
    EXPECT_TRUE(says(found[0].counter_evidence, "the copy is no kernel"));
}

TEST(Counters, MissingSerialisedAndDiffering) {
    BlogOptions alone = real_with_times();
    alone.times = false;
    const Analysis serialised = counted(alone);
    ASSERT_EQ(of(serialised, "serialised-time").size(), 1U);
    EXPECT_NE(of(serialised, "serialised-time")[0].next_step.find("--timing separate"), std::string::npos);
    EXPECT_TRUE(of(serialised, "fastest").empty()) << "serialised times rank nothing";
    EXPECT_TRUE(of(serialised, "counters-missing").empty());
    for (const char* id : {"serialised-time", "counters-missing", "collections-differ"}) {
        EXPECT_TRUE(of(counted(real_with_times()), id).empty()) << id;
        EXPECT_TRUE(of(blog(), id).empty()) << id;
        EXPECT_TRUE(of(blog(real_with_times()), id).empty()) << id;
    }

    test::TemporaryFolder folder;
    test::write_counted_blog_run(folder.path(), real_with_times());
    const auto file = folder.path() / "test-4242-1764500000000000000.counters.jsonl";
    std::string text = test::read_text(file);
    std::filesystem::remove(file);
    const Analysis missing = analyze(read_run(folder.path()));
    ASSERT_EQ(of(missing, "counters-missing").size(), 1U);
    EXPECT_NE(of(missing, "counters-missing")[0].claim.find("have no counter values"), std::string::npos);
    EXPECT_EQ(of(missing, "fastest").size(), 1U) << "times do not depend on counters";

    test::write_text(file, text);
    BlogOptions other = real_with_times();
    other.batch = 4;
    test::write_text(folder.path() / "test-4343-1764500060000000000.jsonl", test::blog_process(other));
    const Analysis differing = analyze(read_run(folder.path()));
    const auto found = of(differing, "collections-differ");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, Severity::warning);
    EXPECT_FALSE(differing.timed());
}

TEST(Rules, IdsAreUnique) {
    std::vector<std::string> ids;
    for (const Rule& rule : rules()) ids.emplace_back(rule.id);
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

TEST(MaskedFill, TheCopyIsTheScoreMatrix) {
    const auto found = of(blog(), "masked-fill-copy");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].claim.find("268,435,456 bytes"), std::string::npos);
    EXPECT_EQ(evidence(found[0], "device-to-device copy")->number, test::kScoreBytes);
    EXPECT_EQ(evidence(found[0], "launches of naive_inplace")->number, 5.0);
    EXPECT_TRUE(says(found[0].counter_evidence, "autograd"));
    EXPECT_EQ(
        found[0].next_step,
        "attnscope attention --device virtual:A100-SXM4-80GB --only naive,naive_inplace --batch 8 --heads 16 "
        "--query-length 1024 --head-dim 64 --dtype bf16 -o masked-fill");
}

TEST(MaskedFill, SilentWithoutCopyOfThatSizeOrShape) {
    BlogOptions no_shape;
    no_shape.with_workload = false;
    EXPECT_TRUE(of(blog(no_shape), "masked-fill-copy").empty());
    Analysis a = blog();
    for (Implementation& i : a.implementations)
        for (Step& s : i.steps)
            if (s.bytes) s.bytes.number = 4096;
    EXPECT_TRUE(of(a, "masked-fill-copy").empty());
}

TEST(LowOccupancy, FlashByDesignAndEfficientAsCounterExample) {
    const auto found = of(blog(), "low-occupancy-by-design");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].subject, "sdpa_flash");
    EXPECT_EQ(found[0].severity, Severity::good);
    EXPECT_EQ(evidence(found[0], "theoretical occupancy")->number, 12.5);
    EXPECT_EQ(evidence(found[0], "registers per thread")->number, 255.0);
    EXPECT_TRUE(says(found[0].counter_evidence, "sdpa_efficient does the same work at 25%"));
    EXPECT_TRUE(
        says(found[0].counter_evidence, "Not measured here (virtual GPU): how busy the tensor pipe is"));
    // NVIDIA's TheoreticalOccupancy.py: fires below 80%, improvement_local = 1 - theoretical_warps /
    // max_warps.
    EXPECT_NE(found[0].nsight_compute_would_say.find("Est. Local Speedup: 87.5%"), std::string::npos);
}

TEST(LowOccupancy, MeasuredTimesAreTheCounterExample) {
    BlogOptions real;
    real.ground = "real";
    real.times = true;
    const auto found = of(blog(real), "low-occupancy-by-design");
    ASSERT_FALSE(found.empty());
    const auto flash =
        std::find_if(found.begin(), found.end(), [](const Finding& f) { return f.subject == "sdpa_flash"; });
    ASSERT_NE(flash, found.end());
    EXPECT_TRUE(says(flash->counter_evidence, "it takes 0.2779 ms against 0.1468 ms"));
}

TEST(LowOccupancy, SilentWithoutRegisters) {
    Analysis a = blog();
    for (Implementation& i : a.implementations) i.lowest = -1;
    EXPECT_TRUE(of(a, "low-occupancy-by-design").empty());
}

TEST(Math, UpcastAndNanGuard) {
    const auto upcast = of(blog(), "math-upcast");
    ASSERT_EQ(upcast.size(), 1U);
    EXPECT_EQ(evidence(upcast[0], "cast or copy kernels")->number, 5.0) << "3 up, 2 down";
    EXPECT_EQ(evidence(upcast[0], "fp32 matrix products")->number, 2.0);
    EXPECT_NE(upcast[0].claim.find("CUDA cores unless TF32"), std::string::npos);
    const auto guard = of(blog(), "math-nan-guard");
    ASSERT_EQ(guard.size(), 1U);
    EXPECT_EQ(evidence(guard[0], "kernels of the guard")->number, 3.0);
    EXPECT_TRUE(says(guard[0].counter_evidence, "no row is masked entirely"));
}

TEST(Math, SilentInFp32AndWithReducedPrecision) {
    Analysis fp32 = blog();
    fp32.workload.dtype = "fp32";
    EXPECT_TRUE(of(fp32, "math-upcast").empty());
    Analysis reduced = blog();
    for (Implementation& i : reduced.implementations)
        for (Step& s : i.steps)
            if (s.call)
                for (auto& [key, value] : s.call->attributes)
                    if (key == "type_a") value = "bf16";
    EXPECT_TRUE(of(reduced, "math-upcast").empty());
    Analysis plain = blog();
    for (Implementation& i : plain.implementations)
        for (Step& s : i.steps)
            if (s.role == Role::isneginf) s.role = Role::other;
    EXPECT_TRUE(of(plain, "math-nan-guard").empty());
}

TEST(OneKernel, NamesTheFusedAndTheMany) {
    const auto found = of(blog(), "one-kernel-instead-of-many");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].subject, "sdpa_efficient, sdpa_flash and sdpa_cudnn");
    EXPECT_NE(found[0].claim.find("20 for sdpa_math"), std::string::npos);
    EXPECT_EQ(evidence(found[0], "score-matrix bytes of sdpa_math")->number, 44 * 134217728.0);
    EXPECT_TRUE(says(found[0].counter_evidence, "sdpa_cudnn: a library call can be more than one kernel"));
    Analysis only_fused = blog();
    std::erase_if(only_fused.implementations, [](const Implementation& i) { return !i.fused(); });
    EXPECT_TRUE(of(only_fused, "one-kernel-instead-of-many").empty());
}

TEST(Refused, LibTorchsOwnWords) {
    BlogOptions options;
    options.refuse_flash = true;
    const auto found = of(blog(options), "backend-refused");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].claim.find("\"Flash Attention does not support non-null attn_mask.\""),
              std::string::npos);
    EXPECT_TRUE(of(blog(), "backend-refused").empty());
}

TEST(Choice, FlashFirstOnAnA100) {
    const auto found = of(blog(), "unforced-choice");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].claim.find("LibTorch chooses flash: number 1"), std::string::npos);
    Analysis silent = blog();
    silent.choice = {};
    EXPECT_TRUE(of(silent, "unforced-choice").empty());
    Analysis math = blog();
    math.choice.chosen = "math";
    math.choice.refused = {{"flash", "no bf16"}, {"efficient", "no GQA"}};
    const auto fallen = of(math, "unforced-choice");
    ASSERT_EQ(fallen.size(), 1U);
    EXPECT_EQ(of(math, "math-fallback").at(0).severity, Severity::warning);
    EXPECT_NE(fallen[0].claim.find("flash: \"no bf16\"; efficient: \"no GQA\""), std::string::npos)
        << fallen[0].claim;
}

TEST(FewCtas, LessThanOneWave) {
    BlogOptions options;
    options.batch = 1;  // grid 8 x 1 x 16 = 128 CTAs, 216 fit
    const auto found = of(blog(options), "few-ctas");
    ASSERT_EQ(found.size(), 2U) << "flash and efficient";
    const auto flash =
        std::find_if(found.begin(), found.end(), [](const Finding& f) { return f.subject == "sdpa_flash"; });
    ASSERT_NE(flash, found.end());
    EXPECT_EQ(evidence(*flash, "CTAs of the grid")->number, 128.0);
    EXPECT_NEAR(*evidence(*flash, "waves")->number, 128.0 / 216, 1e-12);
    EXPECT_TRUE(of(blog(), "few-ctas").empty());
}

TEST(Ground, RankingsAreNotDecidableOnAVirtualGpuAndAreMeasuredOnARealOne) {
    EXPECT_EQ(of(blog(), "not-decidable").size(), 1U);
    EXPECT_TRUE(of(blog(), "fastest").empty());
    BlogOptions real;
    real.ground = "real";
    real.times = true;
    const Analysis a = blog(real);
    EXPECT_TRUE(of(a, "not-decidable").empty());
    ASSERT_EQ(of(a, "fastest").size(), 1U);
    EXPECT_NE(of(a, "fastest")[0].claim.find("sdpa_flash is fastest: 0.1468 ms"), std::string::npos);
    EXPECT_TRUE(of(a, "library-chosen-kernels").empty());
    EXPECT_EQ(of(blog(), "library-chosen-kernels").size(), 1U);
}

// A virtual run never claims a speed: no time unit, no "faster", in any sentence of its findings and answer,
// but for what somebody published; no evidence in time but bounds and such times.
TEST(Ground, VirtualRunsClaimNoSpeed) {
    const Report r = build_report(blog());
    std::vector<std::string> sentences = r.answer;
    for (const Finding& f : r.findings) {
        sentences.push_back(f.claim);
        for (const Evidence& e : f.evidence)
            EXPECT_TRUE(e.value.unit != Unit::nanoseconds || !e.value || cited(e) ||
                        e.value.provenance.source == Source::model)
                << f.id << ": " << e.label;
    }
    for (const std::string& s : sentences) {
        if (s.find("(published: ") != std::string::npos) continue;
        for (const char* word : {" ms", " us", "faster", "slower", "speed-up"})
            EXPECT_EQ(s.find(word), std::string::npos) << s;
    }
}

TEST(Results, ThatDifferAreAProblemBeforeSpeed) {
    BlogOptions real;
    real.ground = "real";
    real.times = true;
    EXPECT_TRUE(of(blog(real), "results-differ").empty());
    real.efficient_difference = 3.5;
    const Analysis a = blog(real);
    ASSERT_EQ(of(a, "results-differ").size(), 1U);
    EXPECT_EQ(find_all(a).front().id, "results-differ");
}

// PyTorch #139298, huggingface/diffusers #9768: NaN of cuDNN. No difference can be told of what is not a
// number.
TEST(Results, ThatAreNotFiniteAreAProblemBeforeSpeed) {
    BlogOptions real;
    real.ground = "real";
    real.times = true;
    real.cudnn_non_finite = 4096;
    const Analysis a = blog(real);
    const auto found = of(a, "results-differ");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].subject, "sdpa_cudnn");
    EXPECT_EQ(found[0].evidence.at(0).value.number, 4096);
    EXPECT_NE(found[0].claim.find("NaN or infinity in 4,096 elements"), std::string::npos) << found[0].claim;
    EXPECT_TRUE(of(a, "faster-backend").empty());
    const Report report = build_report(a);
    EXPECT_EQ(report.implementations.columns.back().id, "non_finite");
}

TEST(Doubts, ReadsAssumptionsAndLosses) {
    const std::string lines =
        R"({"type":"uncomputed_read","cause":"memcpy","bytes":4,"returned":"zeros","location":"train.py:12","count":3}
{"type":"uncomputed_read","cause":"event_time","returned":"zeros"}
{"type":"assumed","device":0,"key":"core_clock_khz"}
{"type":"diagnostic","severity":"data_loss","code":"dropped","message":"CUPTI dropped 7 records","remedy":"x","count":7}
)";
    const Analysis a = blog({}, lines);
    ASSERT_EQ(of(a, "uncomputed-reads").size(), 1U);
    EXPECT_NE(of(a, "uncomputed-reads")[0].claim.find("read 4 values"), std::string::npos);
    EXPECT_NE(of(a, "uncomputed-reads")[0].claim.find("train.py:12 (memcpy)"), std::string::npos);
    ASSERT_EQ(of(a, "assumed-figures").size(), 1U);
    EXPECT_NE(of(a, "assumed-figures")[0].claim.find("core_clock_khz"), std::string::npos);
    ASSERT_EQ(of(a, "data-loss").size(), 1U);
    EXPECT_EQ(find_all(a).front().id, "data-loss");
    for (const char* id : {"uncomputed-reads", "assumed-figures", "data-loss"})
        EXPECT_TRUE(of(blog(), id).empty()) << id;
}

}  // namespace
}  // namespace attnscope
