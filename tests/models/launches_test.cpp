// The kernels that the models list, against those that LibTorch itself launches on a virtual GPU.
#include <gtest/gtest.h>

#include <map>

#include "../end_to_end/harness.h"

namespace attnscope::test {
namespace {

using Counts = std::map<Role, int>;

/// What a model's kernel is in LibTorch, and how many launches.
void add(Counts& counts, const Prediction& p, size_t index, bool math) {
    const std::string& name = p.kernels[index].name;
    static const std::map<std::string, std::pair<Role, int>> known = {
        {"cast q, k, v", {Role::cast_or_copy, 3}},
        {"scale q, k", {Role::scale, 2}},
        {"scale", {Role::scale, 1}},
        {"softmax", {Role::softmax, 1}},
        {"cast o", {Role::cast_or_copy, 1}},
        {"cast back", {Role::cast_or_copy, 1}},
        {"cast o's gradient", {Role::cast_or_copy, 1}},
        {"gradient x softmax", {Role::scale, 1}},
        {"softmax backward", {Role::softmax, 1}},
        {"scale dQ, dK", {Role::scale, 2}},
        {"cast the gradients", {Role::cast_or_copy, 3}},
    };
    if (name.starts_with("product")) {
        ++counts[Role::gemm];
    } else if (name == "mask") {
        ++counts[math ? Role::add : Role::mask];
    } else if (name == "NaN guard") {  // isneginf, all, where
        const bool first = p.kernels[index - 1].name != name, last = p.kernels[index + 1].name != name;
        ++counts[first ? Role::isneginf : last ? Role::where : Role::all_reduce];
    } else if (name != "copy") {  // a copy is no kernel: held against its own record
        ASSERT_TRUE(known.count(name)) << name;
        counts[known.at(name).first] += known.at(name).second;
    }
}

Counts model(const Implementation& i) {
    Counts out;
    for (size_t k = 0; k < i.prediction.kernels.size(); ++k) add(out, i.prediction, k, i.backend == "math");
    return out;
}

/// Without what builds a mask: of a size that the batch and the heads do not multiply.
Counts launched(const Implementation& i) {
    Counts out;
    for (const Step& s : i.steps)
        if (s.kind != LaunchKind::memcpy && s.role != Role::fill && s.role != Role::mask_building)
            ++out[s.role];
    return out;
}

class ModelLaunches : public ::testing::TestWithParam<std::pair<bool, bool>> {};

TEST_P(ModelLaunches, AreThoseOfLibTorch) {
    const auto [causal, backward] = GetParam();
    std::vector<std::string> arguments = {
        "--only",
        "naive,naive_inplace,sdpa_math,sdpa_flash,sdpa_efficient,sdpa_cudnn",
        causal ? "--causal" : "--no-causal",
        "--iterations",
        "1",
        "--warmup",
        "1"};
    if (backward) arguments.push_back("--backward");
    const AttentionRun run = attention("virtual:A100-SXM4-80GB", arguments);
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    constexpr double scores = 8.0 * 16 * 1024 * 1024;
    for (const char* name : {"naive", "naive_inplace", "sdpa_math"}) {
        const Implementation* i = run.analysis.find(name);
        ASSERT_NE(i, nullptr) << name;
        Counts expected = model(*i);
        const bool math = std::string(name) == "sdpa_math";
        if (math && causal) ++expected[Role::where];   // of the mask's own making
        if (backward) ++expected[Role::cast_or_copy];  // K's gradient is laid out anew
        EXPECT_EQ(launched(*i), expected) << name;
        EXPECT_LE(*i->prediction.least_memory.number, *i->peak_memory.number) << name;
    }
    const Implementation& naive = *run.analysis.find("naive");
    double copies = 0;
    for (const ModelKernel& k : naive.prediction.kernels) copies += k.name == "copy";
    EXPECT_EQ(naive.copies.number, copies);
    EXPECT_EQ(naive.device_copy_bytes.number, copies * 2 * scores);
    for (const char* name : {"sdpa_flash", "sdpa_efficient", "sdpa_cudnn"}) {
        const Implementation* i = run.analysis.find(name);
        ASSERT_NE(i, nullptr) << name;
        EXPECT_EQ(i->prediction.kernels.size(), backward ? 2U : 1U) << name;
        EXPECT_EQ(i->score_bytes.number, 0.0) << name;
        EXPECT_LE(*i->prediction.least_memory.number, *i->peak_memory.number) << name;
        Counts counts = launched(*i);
        const Role role = std::string(name) == "sdpa_flash"   ? Role::flash
                          : std::string(name) == "sdpa_cudnn" ? Role::cudnn
                                                              : Role::efficient;
        // FlashAttention 2's backward is three kernels: row sums, the gradients, dQ from fp32.
        EXPECT_EQ(counts[role], !backward ? 1 : role == Role::flash ? 4 : 2) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Passes, ModelLaunches,
                         ::testing::Values(std::pair{true, false}, std::pair{false, false},
                                           std::pair{true, true}, std::pair{false, true}));

// Twelve attentions one after another cost twelve times one of them, and say so.
TEST(ModelLayers, MultiplyTheFiguresOfOne) {
    const auto run = [](const char* layers) {
        return attention("virtual:A100-SXM4-80GB",
                         {"--only", "naive,sdpa_flash", "--layers", layers, "--iterations", "1"});
    };
    const AttentionRun one = run("1"), twelve = run("12");
    ASSERT_EQ(one.outcome.exit_code, 0) << one.outcome.err;
    ASSERT_EQ(twelve.outcome.exit_code, 0) << twelve.outcome.err;
    for (const char* name : {"naive", "sdpa_flash"}) {
        const Implementation &x = *one.analysis.find(name), &y = *twelve.analysis.find(name);
        EXPECT_EQ(*y.launches.number, 12 * *x.launches.number) << name;
        for (const auto figure : {&Prediction::useful_flops, &Prediction::least_bytes,
                                  &Prediction::score_bytes, &Prediction::dram_bytes, &Prediction::bound}) {
            EXPECT_EQ(*(y.prediction.*figure).number, 12 * *(x.prediction.*figure).number) << name;
            EXPECT_EQ((y.prediction.*figure).formula.find("12 attentions x ("), 0U);
        }
        EXPECT_EQ(y.prediction.least_memory.number, x.prediction.least_memory.number);
    }
}

}  // namespace
}  // namespace attnscope::test
