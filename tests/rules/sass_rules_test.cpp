// Rules about machine code and kernel names, on the blog's run with the mix of flash's kernel: 512 HMMA, 35
// spill stores and 37 spill loads, as LibTorch 2.11's cubin for sm_90 holds them (tests/sass).
#include <gtest/gtest.h>

#include <memory>

#include "attnscope/sass.h"
#include "b_runs.h"

namespace attnscope {
namespace {

constexpr const char* kSpills = "register-spills";
constexpr const char* kTensor = "tensor-instructions";
constexpr const char* kShared = "shared-bytes-differ";

InstructionMix mix_of(const std::vector<std::pair<const char*, uint64_t>>& counts) {
    InstructionMix mix;
    mix.sm = 90;
    for (const auto& [mnemonic, count] : counts) {
        mix.by_mnemonic.push_back({mnemonic, instruction_class(mnemonic), count});
        mix.total += count;
    }
    return mix;
}

/// 584 local accesses and products among 4,000 instructions.
InstructionMix flash_mix() {
    InstructionMix mix = mix_of({{"HMMA", 512}, {"LDL", 37}, {"STL", 35}, {"FFMA", 416}, {"IMAD", 3000}});
    mix.spill_stores = 35;
    mix.spill_loads = 37;
    return mix;
}

/// The blog's run, with this mix for the kernel of sdpa_flash, on a GPU of this major.
Analysis flash(const InstructionMix& mix, uint32_t major = 9, const test::BlogOptions& options = {}) {
    Analysis a = test::blog(options);
    a.device->major = major;
    for (Step& step : test::get(a, "sdpa_flash").steps) step.mix = std::make_shared<InstructionMix>(mix);
    return a;
}

const Value& evidence(const Finding& f, std::string_view label) {
    static const Value none = Value::missing("no such evidence");
    for (const Evidence& e : f.evidence)
        if (e.label == label) return e.value;
    return none;
}

bool says(const std::vector<std::string>& sentences, std::string_view part) {
    return std::any_of(sentences.begin(), sentences.end(),
                       [&](const std::string& s) { return s.find(part) != std::string::npos; });
}

TEST(RegisterSpills, AreCountedWithTheirShare) {
    const Finding f = test::one(flash(flash_mix()), kSpills, "sdpa_flash");
    EXPECT_EQ(f.severity, Severity::info) << "a clean flash run has no warning";
    EXPECT_NE(f.claim.find("35 stores and 37 loads"), std::string::npos) << f.claim;
    EXPECT_NE(f.claim.find("1.8%"), std::string::npos) << f.claim;
    EXPECT_EQ(evidence(f, "spill stores").number, 35);
    EXPECT_EQ(evidence(f, "spill loads").number, 37);
    EXPECT_EQ(evidence(f, "share of the instructions").number, 1.8);  // 72 of 4,000
    EXPECT_EQ(evidence(f, "spill stores").provenance.source, Source::binary);
    EXPECT_TRUE(says(f.counter_evidence, "How often they run is not in the code"));
    EXPECT_TRUE(says(f.counter_evidence, "not counted"));
    EXPECT_NE(f.next_step.find("attnscope attention"), std::string::npos) << f.next_step;
}

TEST(RegisterSpills, ManyAreAWarning) {
    InstructionMix mix = flash_mix();
    mix.by_mnemonic.push_back({"LDL", InstructionClass::local_load, 200});
    mix.total += 200;
    mix.spill_loads += 200;
    EXPECT_EQ(test::one(flash(mix), kSpills, "sdpa_flash").severity, Severity::warning);
}

TEST(RegisterSpills, ArraysAreNotCalledSpills) {
    InstructionMix mix = flash_mix();
    mix.spill_stores = mix.spill_loads = 0;
    const Finding f = test::one(flash(mix), kSpills, "sdpa_flash");
    EXPECT_NE(f.claim.find("by arrays or spilled registers"), std::string::npos) << f.claim;
    EXPECT_EQ(evidence(f, "spill stores").number, 0) << "known, and none";
}

TEST(RegisterSpills, CountedBytesSayWhetherTheyRan) {
    test::BlogOptions real;
    real.ground = "real";
    Analysis a = flash(flash_mix(), 9, real);
    Measured local;
    local.role = "local_bytes";
    local.value = Value::of(0, Unit::bytes, {Source::counter, Ground::real});
    for (Step& step : test::get(a, "sdpa_flash").steps) step.counters = {local};
    const Finding f = test::one(a, kSpills, "sdpa_flash");
    EXPECT_EQ(evidence(f, "local-memory bytes").number, 0);
    EXPECT_TRUE(says(f.counter_evidence, "did not run"));
    EXPECT_NE(f.next_step.find("--counters core,memory"), std::string::npos) << f.next_step;
}

TEST(RegisterSpills, AreSilentWithoutLocalMemoryAndWithoutCode) {
    EXPECT_TRUE(test::of(flash(mix_of({{"HMMA", 512}, {"FFMA", 9}})), kSpills).empty());
    EXPECT_TRUE(test::of(flash(mix_of({{"LDL", 1}, {"STL", 1}, {"HMMA", 2917}})), kSpills).empty())
        << "as efficient's kernel has for sm_90: not worth a word";
    EXPECT_TRUE(test::of(test::blog(), kSpills).empty()) << "the run holds no code";
    EXPECT_TRUE(test::of(flash(InstructionMix{}), kSpills).empty()) << "no instruction at all";
}

// FlashAttention-3, arXiv 2407.08608: 35% of an H100 by mma.sync, 75% by wgmma.
TEST(TensorInstructions, MmaSyncOnHopper) {
    const Finding f = test::one(flash(flash_mix()), kTensor, "sdpa_flash");
    EXPECT_EQ(f.severity, Severity::info);
    EXPECT_NE(f.claim.find("512 HMMA"), std::string::npos) << f.claim;
    EXPECT_NE(f.claim.find("no wgmma"), std::string::npos) << f.claim;
    EXPECT_NE(f.claim.find("35%"), std::string::npos) << f.claim;
    EXPECT_NE(f.claim.find("75%"), std::string::npos) << f.claim;
    EXPECT_EQ(evidence(f, "mma.sync instructions").number, 512);
    EXPECT_EQ(evidence(f, "wgmma instructions").number, 0);
    const Value &roof = evidence(f, "roof"), &now = evidence(f, "of it by mma.sync");
    ASSERT_TRUE(roof && now);
    EXPECT_DOUBLE_EQ(*now.number, 0.35 * *roof.number);
    EXPECT_DOUBLE_EQ(*evidence(f, "of it by wgmma").number, 0.75 * *roof.number);
    EXPECT_NE(now.formula.find("2407.08608"), std::string::npos) << now.formula;
    EXPECT_EQ(now.provenance.source, Source::model) << "nothing here was measured";
    EXPECT_TRUE(says(f.counter_evidence, "How busy the tensor pipe is was not measured"));
}

TEST(TensorInstructions, OfOtherArchitectures) {
    const Finding blackwell = test::one(flash(flash_mix(), 10), kTensor, "sdpa_flash");
    EXPECT_NE(blackwell.claim.find("no tcgen05"), std::string::npos) << blackwell.claim;
    EXPECT_EQ(blackwell.claim.find("35%"), std::string::npos) << "that was published for Hopper";
    EXPECT_TRUE(test::of(flash(flash_mix(), 8), kTensor).empty()) << "mma.sync is Ampere's own way";
    EXPECT_TRUE(test::of(flash(flash_mix(), 12), kTensor).empty()) << "and sm_120's";
}

TEST(TensorInstructions, SilentWhereWgmmaIsThereOrMayBe) {
    EXPECT_TRUE(test::of(flash(mix_of({{"HGMMA", 64}, {"HMMA", 8}})), kTensor).empty());
    InstructionMix unknown = flash_mix();
    unknown.unknown = 1;
    ++unknown.total;
    EXPECT_TRUE(test::of(flash(unknown), kTensor).empty()) << "what is unknown may be it";
    EXPECT_TRUE(test::of(test::blog(), kTensor).empty()) << "the run holds no code";
}

TEST(TensorInstructions, NoneAtAllIsAWarning) {
    for (const uint32_t major : {8U, 9U}) {
        const Finding f = test::one(flash(mix_of({{"FFMA", 900}, {"HFMA2", 20}, {"IMAD", 80}}), major),
                                    kTensor, "sdpa_flash");
        EXPECT_EQ(f.severity, Severity::warning);
        EXPECT_NE(f.claim.find("no tensor instruction among 1,000 instructions"), std::string::npos)
            << f.claim;
        EXPECT_EQ(evidence(f, "tensor instructions").number, 0);
        EXPECT_EQ(evidence(f, "fp32 arithmetic").number, 900);
        EXPECT_EQ(evidence(f, "packed 16-bit arithmetic").number, 20);
    }
    Analysis fp32 = flash(mix_of({{"FFMA", 900}}));
    fp32.workload.dtype = "fp32";
    EXPECT_TRUE(test::of(fp32, kTensor).empty()) << "fp32 products need none";
    Analysis combine = flash(mix_of({{"FFMA", 900}}));
    for (Step& step : test::get(combine, "sdpa_flash").steps) {
        step.decoded.emplace();
        step.decoded->part = AttentionKernelName::Part::combine;
    }
    EXPECT_TRUE(test::of(combine, kTensor).empty()) << "merging splits multiplies no matrices";
}

TEST(SharedBytes, ThatDoNotFitTheTileAreSaid) {
    Analysis a = test::blog();
    EXPECT_TRUE(test::of(a, kShared).empty()) << "49,152 bytes are what 64: 128x128 needs";
    Step& step = test::get(a, "sdpa_flash").steps.front();
    ASSERT_TRUE(step.decoded) << step.full_name;
    ASSERT_EQ(step.dynamic_shared.number, 49152);
    step.dynamic_shared.number = 65536;
    const Finding f = test::one(a, kShared, "sdpa_flash");
    EXPECT_EQ(f.severity, Severity::warning);
    EXPECT_EQ(evidence(f, "dynamic shared memory").number, 65536);
    EXPECT_EQ(evidence(f, "dynamic shared memory of its tile").number, 49152);
    EXPECT_NE(f.claim.find("65,536 bytes"), std::string::npos) << f.claim;
    EXPECT_NE(f.claim.find("64: 128x128, 4 warps"), std::string::npos) << f.claim;
    step.dynamic_shared = Value::missing("not in the record");
    EXPECT_TRUE(test::of(a, kShared).empty()) << "missing is not zero";
}

// DESIGN.md, law 7.
TEST(SassRules, AreComplete) {
    Analysis shared = flash(mix_of({{"FFMA", 900}}));
    test::get(shared, "sdpa_flash").steps.front().dynamic_shared.number = 1;
    size_t found = 0;
    for (const Analysis& a : {flash(flash_mix()), flash(flash_mix(), 10), shared})
        for (const char* id : {kSpills, kTensor, kShared})
            for (const Finding& f : test::of(a, id)) {
                ++found;
                EXPECT_FALSE(f.claim.empty() || f.evidence.empty() || f.counter_evidence.empty()) << id;
                EXPECT_NE(f.next_step.find("attnscope "), std::string::npos) << f.next_step;
                for (const Evidence& e : f.evidence)
                    if (e.value) {
                        EXPECT_EQ(e.value.provenance.ground, a.ground) << id << ": " << e.label;
                    }
            }
    EXPECT_EQ(found, 6U);
}

}  // namespace
}  // namespace attnscope
