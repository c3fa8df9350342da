#include "options.h"

#include <limits>
#include <map>

namespace attnscope {
namespace {

std::string names() {
    std::string all;
    for (const std::string& name : attention_implementations()) all += (all.empty() ? "" : ", ") + name;
    return all;
}

const std::map<std::string, AttentionMask> kMasks = {{"none", AttentionMask::none},
                                                     {"bool", AttentionMask::boolean},
                                                     {"additive", AttentionMask::additive},
                                                     {"expanded", AttentionMask::expanded},
                                                     {"repeated", AttentionMask::repeated}};

}  // namespace

void declare(CLI::App& app, AttentionProblem& p) {
    auto size = CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max() / 2);
    size.description("");  // a range that long explains nothing in --help
    auto mask = CLI::CheckedTransformer(kMasks);
    mask.description("");
    const std::string group = "The attention problem";
    app.add_option("--batch", p.batch, "batch size")->check(size)->capture_default_str()->group(group);
    app.add_option("--heads", p.heads, "query heads")->check(size)->capture_default_str()->group(group);
    app.add_option("--kv-heads", p.kv_heads, "key and value heads (default: as many as --heads)")
        ->check(size)
        ->group(group);
    app.add_option("--seq,--query-length", p.query_length, "query length")
        ->check(size)
        ->capture_default_str()
        ->group(group);
    app.add_option("--key-length", p.key_length, "key length (default: the query length)")
        ->check(size)
        ->group(group);
    app.add_option("--head-dim", p.head_dim, "head dimension")
        ->check(size)
        ->capture_default_str()
        ->group(group);
    app.add_option("--dtype", p.dtype, "bf16, fp16 or fp32")
        ->check(CLI::IsMember({"bf16", "fp16", "fp32"}))
        ->capture_default_str()
        ->group(group);
    app.add_flag("--causal,!--no-causal", p.causal, "causal masking (default: on)")->group(group);
    app.add_option("--mask", p.mask,
                   "explicit mask: none, bool, additive (each of query length x key length), "
                   "or bool for each batch and head: expanded (a view), repeated (a copy) (default: none)")
        ->transform(mask)
        ->type_name("KIND")
        ->group(group);
    app.add_flag("--transposed", p.transposed, "q, k, v are transposed views of (batch, length, heads, dim)")
        ->group(group);
    app.add_option("--last-stride", p.last_stride, "stride of the last dimension of q, k and v")
        ->check(CLI::Range(int64_t{1}, int64_t{64}))
        ->capture_default_str()
        ->group(group);
    app.add_flag("--contiguous", p.contiguous, "copy q, k and v to be contiguous before each attention")
        ->group(group);
    app.add_flag("--repeat-kv", p.repeat_kv, "repeat keys and values by hand instead of enable_gqa")
        ->group(group);
    app.add_flag("--backward", p.backward, "the backward pass too")->group(group);
    app.add_option("--dropout", p.dropout, "dropout probability")->capture_default_str()->group(group);
    app.add_option("--layers", p.layers, "attention layers in an iteration, one after another")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str()
        ->group(group);
    app.add_flag("--deterministic", p.deterministic, "deterministic algorithms alone")->group(group);
    app.add_flag("--reduced-precision-math", p.reduced_math, "the math backend may stay in 16 bits")
        ->group(group);
    app.add_option("--warmup", p.warmup, "iterations before the counted ones")
        ->check(CLI::Range(0, 1000000))
        ->capture_default_str()
        ->group(group);
    app.add_option("--iterations", p.iterations, "counted iterations")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str()
        ->group(group);
    app.add_option("--only", p.only, "only these, separated by commas: " + names())
        ->delimiter(',')
        ->type_name("NAMES")
        ->group(group);
    app.add_flag("--choice-only", p.choice_only, "only ask LibTorch what it chooses, and why not the others")
        ->group(group);
    app.add_option("--seed", p.seed, "seed of the random inputs")->capture_default_str()->group(group);
}

std::optional<int> parse_attention(int argc, char** argv, AttentionProblem& problem) {
    CLI::App app{
        "Computes one attention problem in every way LibTorch offers, each in its own marked NVTX range."};
    app.failure_message([](const CLI::App*, const CLI::Error& e) {
        return std::string("attention_workload: ") + e.what() + "\n";
    });
    declare(app, problem);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    complete(problem);
    return std::nullopt;
}

}  // namespace attnscope
