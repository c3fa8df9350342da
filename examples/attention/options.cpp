#include "options.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <map>
#include <stdexcept>

#include "implementations.h"

namespace attention {
namespace {

/// Refuses what no tensor can hold: the element count of q, k or the scores beyond 63 bits.
void check_product(const std::string& what, std::initializer_list<int64_t> factors) {
    int64_t product = 1;
    for (int64_t factor : factors)
        if (__builtin_mul_overflow(product, factor, &product))
            throw std::invalid_argument(what +
                                        " has more elements than 63 bits can count: choose a smaller shape");
}

void check(const Options& o) {
    if (o.heads % o.kv_heads != 0)
        throw std::invalid_argument("--heads " + std::to_string(o.heads) +
                                    " is not a multiple of --kv-heads " + std::to_string(o.kv_heads) +
                                    ": grouped-query attention needs whole groups");
    if (o.causal && o.mask != Mask::none)
        throw std::invalid_argument(
            "--mask and --causal exclude each other in scaled_dot_product_attention: add --no-causal");
    check_product("the query", {o.batch, o.heads, o.query_length, o.head_dim, 8});
    check_product("the key", {o.batch, o.kv_heads, o.key_length, o.head_dim, 8});
    check_product("the score matrix", {o.batch, o.heads, o.query_length, o.key_length, 8});
    for (const std::string& name : o.only)
        if (!find_implementation(name))
            throw std::invalid_argument("unknown implementation '" + name + "': one of " +
                                        implementation_names());
}

}  // namespace

int parse(int argc, char** argv, Options& o, bool& stop) {
    stop = true;
    CLI::App app{
        "Computes one attention problem in every way LibTorch offers, each in its own marked NVTX range.",
        "attention_workload"};
    const auto size = CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max() / 2);
    app.add_option("--batch", o.batch, "batch size")->check(size)->capture_default_str();
    app.add_option("--heads", o.heads, "query heads")->check(size)->capture_default_str();
    app.add_option("--kv-heads", o.kv_heads, "key and value heads (default: as many as --heads)")
        ->check(size);
    app.add_option("--seq,--query-length", o.query_length, "query length")
        ->check(size)
        ->capture_default_str();
    app.add_option("--key-length", o.key_length, "key length (default: the query length)")->check(size);
    app.add_option("--head-dim", o.head_dim, "head dimension")->check(size)->capture_default_str();
    app.add_option("--dtype", o.dtype, "element type")
        ->check(CLI::IsMember({"bf16", "fp16", "fp32"}))
        ->capture_default_str();
    app.add_flag("--causal,!--no-causal", o.causal, "causal masking (default: on)");
    const std::map<std::string, Mask> masks{
        {"none", Mask::none}, {"bool", Mask::boolean}, {"additive", Mask::additive}};
    app.add_option("--mask", o.mask, "explicit mask: none, bool or additive")
        ->transform(CLI::CheckedTransformer(masks));
    app.add_flag("--transposed", o.transposed, "q, k, v are transposed views of (batch, length, heads, dim)");
    app.add_flag("--backward", o.backward, "also the backward pass");
    app.add_option("--warmup", o.warmup, "iterations before the counted ones")
        ->check(CLI::Range(0, 1000000))
        ->capture_default_str();
    app.add_option("--iterations", o.iterations, "counted iterations")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--only", o.only, "only these implementations: " + implementation_names())->delimiter(',');
    app.add_flag("--choice-only", o.choice_only,
                 "only ask LibTorch which backend it chooses, and why not the others");
    app.add_option("--seed", o.seed, "seed of the random inputs")->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    if (o.kv_heads == 0) o.kv_heads = o.heads;
    if (o.key_length == 0) o.key_length = o.query_length;
    check(o);
    stop = false;
    return 0;
}

nlohmann::json describe(const Options& o) {
    const char* mask = o.mask == Mask::none ? "none" : o.mask == Mask::boolean ? "bool" : "additive";
    return {{"batch", o.batch},
            {"heads", o.heads},
            {"kv_heads", o.kv_heads},
            {"query_length", o.query_length},
            {"key_length", o.key_length},
            {"head_dim", o.head_dim},
            {"dtype", o.dtype},
            {"causal", o.causal},
            {"mask", mask},
            {"transposed", o.transposed},
            {"backward", o.backward},
            {"warmup", o.warmup},
            {"iterations", o.iterations},
            {"language", "c++"}};
}

}  // namespace attention
