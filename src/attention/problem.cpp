#include <algorithm>
#include <initializer_list>

#include "attnscope/attention.h"
#include "attnscope/error.h"

namespace attnscope {
namespace {

/// Refuses what no tensor can hold: a size in bytes beyond 63 bits.
void check_size(const std::string& what, std::initializer_list<int64_t> factors) {
    int64_t product = 8;  // bytes of the widest element that is ever made of it, with room for a copy
    for (const int64_t factor : factors)
        if (__builtin_mul_overflow(product, factor, &product))
            throw Error(what + " is larger than any address space: choose a smaller shape");
}

}  // namespace

const std::vector<std::string>& attention_implementations() {
    static const std::vector<std::string> names = {
        "naive", "naive_inplace", "sdpa_math", "sdpa_efficient", "sdpa_flash", "sdpa_cudnn", "sdpa_auto"};
    return names;
}

void complete(AttentionProblem& p) {
    if (p.kv_heads == 0) p.kv_heads = p.heads;
    if (p.key_length == 0) p.key_length = p.query_length;
    if (p.heads % p.kv_heads != 0)
        throw Error("--heads " + std::to_string(p.heads) + " is not a multiple of --kv-heads " +
                    std::to_string(p.kv_heads) + ": grouped-query attention needs whole groups");
    if (p.causal && p.mask != AttentionMask::none)
        throw Error(
            "--mask and --causal exclude each other in scaled_dot_product_attention: add --no-causal");
    check_size("the query", {p.batch, p.heads, p.query_length, p.head_dim});
    check_size("the key", {p.batch, p.kv_heads, p.key_length, p.head_dim});
    check_size("the score matrix", {p.batch, p.heads, p.query_length, p.key_length});
    const auto& names = attention_implementations();
    for (const std::string& name : p.only) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        std::string all;
        for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
        throw Error("--only: there is no implementation '" + name + "'; there are " + all);
    }
}

std::vector<std::string> to_arguments(const AttentionProblem& p) {
    std::vector<std::string> arguments;
    auto add = [&](const char* option, const std::string& value) {
        arguments.insert(arguments.end(), {option, value});
    };
    add("--batch", std::to_string(p.batch));
    add("--heads", std::to_string(p.heads));
    add("--kv-heads", std::to_string(p.kv_heads));
    add("--query-length", std::to_string(p.query_length));
    add("--key-length", std::to_string(p.key_length));
    add("--head-dim", std::to_string(p.head_dim));
    add("--dtype", p.dtype);
    arguments.push_back(p.causal ? "--causal" : "--no-causal");
    if (p.mask != AttentionMask::none) add("--mask", p.mask == AttentionMask::boolean ? "bool" : "additive");
    if (p.transposed) arguments.push_back("--transposed");
    if (p.backward) arguments.push_back("--backward");
    add("--warmup", std::to_string(p.warmup));
    add("--iterations", std::to_string(p.iterations));
    if (!p.only.empty()) {
        std::string names;
        for (const std::string& name : p.only) names += (names.empty() ? "" : ",") + name;
        add("--only", names);
    }
    if (p.choice_only) arguments.push_back("--choice-only");
    add("--seed", std::to_string(p.seed));
    return arguments;
}

}  // namespace attnscope
