#include <algorithm>
#include <charconv>
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

/// The shortest text that reads back as the same number.
std::string shortest(double number) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

}  // namespace

const char* to_string(AttentionMask mask) {
    switch (mask) {
        case AttentionMask::none:
            return "none";
        case AttentionMask::boolean:
            return "bool";
        case AttentionMask::additive:
            return "additive";
        case AttentionMask::expanded:
            return "expanded";
        case AttentionMask::repeated:
            return "repeated";
    }
    return "none";
}

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
    if (!(p.dropout >= 0 && p.dropout < 1))
        throw Error("--dropout " + shortest(p.dropout) + " is not a probability below 1");
    check_size("the query", {p.batch, p.heads, p.query_length, p.head_dim, p.last_stride});
    check_size("the key", {p.batch, p.kv_heads, p.key_length, p.head_dim, p.last_stride});
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
    if (p.mask != AttentionMask::none) add("--mask", to_string(p.mask));
    if (p.transposed) arguments.push_back("--transposed");
    if (p.last_stride != 1) add("--last-stride", std::to_string(p.last_stride));
    if (p.contiguous) arguments.push_back("--contiguous");
    if (p.repeat_kv) arguments.push_back("--repeat-kv");
    if (p.backward) arguments.push_back("--backward");
    if (p.dropout > 0) add("--dropout", shortest(p.dropout));
    if (p.layers != 1) add("--layers", std::to_string(p.layers));
    if (p.deterministic) arguments.push_back("--deterministic");
    if (p.reduced_math) arguments.push_back("--reduced-precision-math");
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
