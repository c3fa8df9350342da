#include "attnscope/kernel_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "attnscope/names.h"
#include "name_parts.h"

namespace attnscope {
namespace {

using names::arguments_of;
using names::boolean;
using names::number;
using names::Words;
using Name = AttentionKernelName;
using Flag = std::optional<bool> Name::*;

std::string element_of(std::string_view type) {
    if (type.ends_with("bfloat16_t")) return "bf16";
    if (type.ends_with("half_t")) return "f16";
    if (type == "float") return "f32";
    if (type.ends_with("float_e4m3_t")) return "e4m3";
    if (type.ends_with("float_e5m2_t")) return "e5m2";
    return "";
}

// --- FlashAttention 2

struct FlashKernel {
    std::string_view base;
    Name::Part part;
    std::vector<Flag> flags;  // behind the traits; another count is another version, whose order is not known
};

const std::vector<FlashKernel>& flash_kernels() {
    static const std::vector<FlashKernel> kernels = {
        {"flash_fwd_kernel",
         Name::Part::forward,
         {&Name::dropout, &Name::causal, &Name::local, &Name::alibi, &Name::even_mn, &Name::even_k,
          &Name::softcap, &Name::returns_softmax}},
        {"flash_fwd_splitkv_kernel",
         Name::Part::split_forward,
         {&Name::causal, &Name::local, &Name::alibi, &Name::even_mn, &Name::even_k, &Name::softcap,
          &Name::split, &Name::append_kv}},
        {"flash_fwd_splitkv_combine_kernel", Name::Part::combine, {}},
        {"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
         Name::Part::backward,
         {&Name::dropout, &Name::causal, &Name::local, &Name::alibi, &Name::even_mn, &Name::even_k,
          &Name::softcap}},
        {"flash_bwd_dot_do_o_kernel", Name::Part::backward_dot, {}},
        {"flash_bwd_convert_dq_kernel", Name::Part::backward_convert, {}},
    };
    return kernels;
}

std::optional<Name> flash2_name(std::string_view qualified, std::string_view arguments_text) {
    const size_t colons = qualified.rfind("::");
    const std::string_view base = colons == std::string_view::npos ? qualified : qualified.substr(colons + 2);
    const auto kernel = std::find_if(flash_kernels().begin(), flash_kernels().end(),
                                     [&](const FlashKernel& k) { return k.base == base; });
    if (kernel == flash_kernels().end()) return std::nullopt;
    const Words arguments = split_arguments(arguments_text);
    const auto traits = std::find_if(arguments.begin(), arguments.end(), [](std::string_view argument) {
        return argument.starts_with("Flash_") && argument.find("_kernel_traits<") != std::string_view::npos;
    });
    if (traits == arguments.end()) return std::nullopt;  // Triton tutorials have a flash_fwd_kernel, too
    const Words shape = arguments_of(*traits);
    const bool backward = traits->starts_with("Flash_bwd_");
    // Forward: D, M, N, warps, Q in registers, Q and K share, element, ...
    // Backward: D, M, N, warps, three layouts, V in registers, no double buffer, element, ...
    const size_t element = backward ? 9 : 6;
    if (shape.size() <= element) return std::nullopt;
    Name name;
    name.library = Name::Library::flash2;
    name.part = kernel->part;
    if (colons != std::string_view::npos) name.name_space = qualified.substr(0, colons);
    name.head_dim = number(shape[0]);
    name.block_queries = number(shape[1]);
    name.block_keys = number(shape[2]);
    name.warps = number(shape[3]);
    name.element = element_of(shape[element]);
    if (backward) {
        name.v_in_registers = boolean(shape[7]);
        name.single_buffer = boolean(shape[8]);
    } else {
        name.shares_q_and_k = boolean(shape[5]);
    }
    const auto first = static_cast<size_t>(traits - arguments.begin()) + 1;
    if (arguments.size() - first == kernel->flags.size())
        for (size_t i = 0; i < kernel->flags.size(); ++i)
            name.*(kernel->flags[i]) = boolean(arguments[first + i]);
    return name;
}

// --- FlashAttention 3

/// "cute::tuple<cute::C<128>, cute::C<176>, cute::C<128> >" -> 128, 176, 128
std::vector<std::optional<uint32_t>> tuple_numbers(std::string_view text) {
    std::vector<std::optional<uint32_t>> numbers;
    for (const std::string_view part : arguments_of(text)) {
        const Words inner = arguments_of(part);
        numbers.push_back(inner.size() == 1 ? number(inner[0]) : std::nullopt);
    }
    return numbers;
}

std::optional<Name> flash3_name(std::string_view text) {
    constexpr std::string_view kMainloop = "flash::CollectiveMainloopFwdSm90<";
    const size_t at = text.find(kMainloop);
    if (at == std::string_view::npos) return std::nullopt;
    // Stages, cluster, tile (M, N, D), head dimension of V, element, accumulator, architecture, causal,
    // local, softcap, varlen, ...; what follows differs between versions.
    const Words arguments = arguments_of(text.substr(at));
    if (arguments.size() < 11) return std::nullopt;
    const auto tile = tuple_numbers(arguments[2]);
    if (tile.size() != 3) return std::nullopt;
    Name name;
    name.library = Name::Library::flash3;
    name.part = Name::Part::forward;
    name.name_space = "flash";
    name.sm = 90;
    name.block_queries = tile[0];
    name.block_keys = tile[1];
    name.head_dim = tile[2];
    name.head_dim_v = number(arguments[3]);
    name.element = element_of(arguments[4]);
    name.causal = boolean(arguments[7]);
    name.local = boolean(arguments[8]);
    name.softcap = boolean(arguments[9]);
    name.varlen = boolean(arguments[10]);
    return name;
}

// --- names made of words: fmha_cutlassF_bf16_aligned_64x64_rf_sm80

std::optional<int> sm_of(std::string_view word) {
    if (!word.starts_with("sm")) return std::nullopt;
    const auto sm = number(word.substr(2));
    if (!sm || *sm > 9999) return std::nullopt;
    return static_cast<int>(*sm);
}

/// "128x64" -> 128, 64
std::optional<std::pair<uint32_t, uint32_t>> two_numbers(std::string_view word) {
    const size_t x = word.find('x');
    if (x == std::string_view::npos) return std::nullopt;
    const auto first = number(word.substr(0, x)), second = number(word.substr(x + 1));
    if (!first || !second) return std::nullopt;
    return std::pair(*first, *second);
}

bool is_three_numbers(std::string_view word) {
    const size_t x = word.find('x');
    return x != std::string_view::npos && number(word.substr(0, x)) && two_numbers(word.substr(x + 1));
}

std::optional<Name> efficient_name(std::string_view base, std::string_view parameters) {
    const bool backward = base.starts_with("fmha_cutlassB_");
    if (!backward && !base.starts_with("fmha_cutlassF_")) return std::nullopt;
    constexpr uint32_t kAnyHeadDim = 65536;
    Name name;
    name.library = Name::Library::efficient;
    name.part = backward ? Name::Part::backward : Name::Part::forward;
    if (backward) name.dropout = name.sequence_aligned = false;  // said only where they are on
    for (const std::string_view word : names::split(base, '_')) {
        if (word == "bf16" || word == "f16" || word == "f32") name.element = word;
        if (word == "aligned" || word == "notaligned") name.aligned = word == "aligned";
        if (word == "rf" || word == "gmem") name.output_in_registers = word == "rf";
        if (word == "dropout") name.dropout = true;
        if (word == "seqaligned") name.sequence_aligned = true;
        if (const auto sm = sm_of(word)) name.sm = sm;
        if (const auto tile = two_numbers(word)) {
            name.block_queries = tile->first;
            name.block_keys = tile->second;
        }
        if (word.starts_with("k"))
            if (const auto most = number(word.substr(1)); most && *most < kAnyHeadDim) name.head_dim = most;
    }
    // The forward's name leaves its head dimension to the type of its parameters:
    // AttentionKernel<element, architecture, aligned, queries, keys, head dimension, ...>::Params
    if (const size_t at = parameters.find("AttentionKernel<"); !backward && at != std::string_view::npos) {
        const Words arguments = arguments_of(parameters.substr(at));
        if (arguments.size() > 5)
            if (const auto most = number(arguments[5]); most && *most < kAnyHeadDim) name.head_dim = most;
    }
    return name.block_queries ? std::optional(name) : std::nullopt;
}

std::optional<Name> cudnn_name(std::string_view base) {
    constexpr std::string_view kPrefix = "cudnn_generated_fort_native_sdpa_";
    if (!base.starts_with(kPrefix)) return std::nullopt;
    Name name;
    name.library = Name::Library::cudnn;
    bool known = false;
    const Words words = names::split(base.substr(kPrefix.size()), '_');
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (const auto sm = sm_of(word)) name.sm = sm;
        if (word == "fprop" || word == "bprop") {
            name.part = word == "fprop" ? Name::Part::forward : Name::Part::backward;
            known = true;
        }
        if (word == "wmma" || word == "wgmma") name.instruction = word;
        if (word == "knob" && i + 1 < words.size())
            if (const auto knob = number(words[i + 1]); knob && *knob < 100000)
                name.knob = static_cast<int>(*knob);
        if (word.starts_with("cga") && is_three_numbers(word.substr(3))) name.cluster = word.substr(3);
        if (is_three_numbers(word)) (name.tile.empty() ? name.tile : name.warp_layout) = word;
    }
    return known ? std::optional(name) : std::nullopt;
}

}  // namespace

std::optional<AttentionKernelName> attention_kernel_name(std::string_view given) {
    const std::string text = given.starts_with("_Z") ? demangle(given) : printable(given.substr(0, 64 << 10));
    std::string_view name = text;
    if (name.starts_with("void ")) name.remove_prefix(5);
    const size_t head = std::min(name.find_first_of("<("), name.size());
    const std::string_view qualified = name.substr(0, head), rest = name.substr(head);
    if (auto found = efficient_name(qualified, rest)) return found;
    if (auto found = cudnn_name(qualified)) return found;
    if (!rest.starts_with('<')) return std::nullopt;
    if (auto found = flash2_name(qualified, names::inside(rest))) return found;
    if (qualified == "cutlass::device_kernel") return flash3_name(rest);
    return std::nullopt;
}

std::string AttentionKernelName::tile_words() const {
    if (!tile.empty()) return tile;
    if (!block_queries || !block_keys) return "";
    std::string words = head_dim ? std::to_string(*head_dim) + ": " : "";
    words += std::to_string(*block_queries) + "x" + std::to_string(*block_keys);
    if (warps) words += ", " + std::to_string(*warps) + " warps";
    return words;
}

const char* to_string(AttentionKernelName::Library library) {
    switch (library) {
        case Name::Library::flash2:
            return "FlashAttention 2";
        case Name::Library::flash3:
            return "FlashAttention 3";
        case Name::Library::efficient:
            return "memory-efficient attention";
        case Name::Library::cudnn:
            return "cuDNN";
    }
    return "";
}

const char* to_string(AttentionKernelName::Part part) {
    switch (part) {
        case Name::Part::forward:
            return "forward";
        case Name::Part::split_forward:
            return "split forward";
        case Name::Part::combine:
            return "combine";
        case Name::Part::backward:
            return "backward";
        case Name::Part::backward_dot:
            return "backward dot";
        case Name::Part::backward_convert:
            return "backward convert";
    }
    return "";
}

}  // namespace attnscope
