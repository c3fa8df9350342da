#include "attnscope/names.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace attnscope {
namespace {

constexpr size_t kLongestName = 64 << 10;
constexpr size_t kLongestShort = 96;

/// The identifiers of a mangled name ("6native" -> native), and how often it refers back to an earlier part
/// of itself (S_, S0_, T_ ...), which is how a short name can stand for an exponentially longer one.
struct MangledParts {
    std::vector<std::string_view> identifiers;
    size_t head = 0;  ///< how many identifiers stand before the first template argument
    size_t references = 0;
};

MangledParts scan_mangled(std::string_view mangled) {
    MangledParts parts;
    bool in_head = true;
    size_t i = 2;  // behind _Z
    while (i < mangled.size()) {
        const char c = mangled[i];
        if (c >= '1' && c <= '9') {
            size_t length = 0;
            for (; i < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[i])) != 0; ++i)
                length = std::min<size_t>(length * 10 + static_cast<size_t>(mangled[i] - '0'), kLongestName);
            const std::string_view word = mangled.substr(i, length);
            const bool is_word = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0 &&
                                 word[0] != 'E' && word.size() == length;  // Lj128E is a number
            if (!is_word) continue;
            if (!word.starts_with("_GLOBAL__N_")) parts.identifiers.push_back(word);
            if (in_head) parts.head = parts.identifiers.size();
            i += length;
            continue;
        }
        if (c == 'I') in_head = false;
        if (c == 'L' && i + 1 < mangled.size()) {  // a literal argument: its digits are no length
            const size_t end = mangled.find('E', i);
            const std::string_view digits =
                mangled.substr(i + 2, end == std::string_view::npos ? end : end - i - 2);
            if (end != std::string_view::npos &&
                std::all_of(digits.begin(), digits.end(),
                            [](unsigned char d) { return std::isdigit(d) != 0 || d == 'n'; })) {
                i = end + 1;
                continue;
            }
        }
        if (c == 'S' || c == 'T') {
            size_t end = i + 1;
            while (end < mangled.size() && (std::isdigit(static_cast<unsigned char>(mangled[end])) != 0 ||
                                            std::isupper(static_cast<unsigned char>(mangled[end])) != 0))
                ++end;
            if (end < mangled.size() && mangled[end] == '_') ++parts.references;
        }
        ++i;
    }
    return parts;
}

/// abi::__cxa_demangle cannot be stopped. With r references a name grows at most by 3^(r/3); LibTorch's own
/// names have up to 39 references and identifiers of about 60 characters.
bool may_explode(const MangledParts& parts) {
    size_t longest = 1;
    for (const std::string_view word : parts.identifiers) longest = std::max(longest, word.size());
    constexpr double kMostCharacters = 2e9;
    return std::pow(3.0, static_cast<double>(parts.references) / 3) * static_cast<double>(longest) >
           kMostCharacters;
}

bool is_identifier(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '~';
}

void erase_all(std::string& text, std::string_view part) {
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.erase(at, part.size());
}

/// A function's demangled name in its parts: "a::b<c, d>(e)" -> qualified "a::b", arguments "c, d".
struct Parts {
    std::string_view qualified;
    std::string_view base;  ///< without namespaces
    std::string_view arguments;
};

Parts split(std::string_view name) {
    Parts parts;
    size_t head = 0;
    while (head < name.size() && name[head] != '<' && name[head] != '(') ++head;
    parts.qualified = name.substr(0, head);
    const size_t space = parts.qualified.rfind(' ');  // a return type
    if (space != std::string_view::npos && space + 1 < parts.qualified.size())
        parts.qualified.remove_prefix(space + 1);
    const size_t colon = parts.qualified.rfind(':');
    parts.base = colon == std::string_view::npos ? parts.qualified : parts.qualified.substr(colon + 1);
    if (head < name.size() && name[head] == '<') {
        int depth = 0;
        size_t end = head;
        for (; end < name.size(); ++end) {
            if (name[end] == '<') ++depth;
            if (name[end] == '>' && --depth == 0) break;
        }
        parts.arguments = name.substr(head + 1, end - head - 1);
    }
    return parts;
}

/// FlashAttention: the traits' first four arguments are head dimension, query tile, key tile, warps; the
/// kernel's own booleans follow in this order (flash_fwd_kernel.h, flash_bwd_kernel.h of the version in
/// PyTorch 2.11).
std::optional<std::string> flash_name(const Parts& parts) {
    if (!parts.base.starts_with("flash_")) return std::nullopt;
    const std::vector<std::string_view> arguments = split_arguments(parts.arguments);
    const auto with_traits = std::find_if(arguments.begin(), arguments.end(), [](std::string_view argument) {
        return argument.find("kernel_traits<") != std::string_view::npos;
    });
    if (with_traits == arguments.end()) return std::nullopt;
    const std::vector<std::string_view> traits = split_arguments(split(*with_traits).arguments);
    if (traits.size() < 4) return std::nullopt;
    std::string name(parts.base);
    name += '<';
    for (size_t i = 0; i < 4; ++i) name.append(i == 0 ? "" : ",").append(traits[i]);
    name += '>';
    std::vector<std::string_view> flags;
    if (parts.base == "flash_fwd_kernel" || parts.base.starts_with("flash_bwd_dq_dk_dv"))
        flags = {"dropout", "causal", "local", "alibi", "", "", "softcap"};
    else if (parts.base == "flash_fwd_splitkv_kernel")
        flags = {"causal", "local", "alibi", "", "", "softcap"};
    for (size_t i = 0; i < flags.size() && i + 1 < arguments.size(); ++i)
        if (!flags[i].empty() && arguments[i + 1] == "true") name.append(" ").append(flags[i]);
    return name;
}

/// Words inside a wrapper's template arguments that do not name the operation.
bool is_wrapping(std::string_view word) {
    static constexpr auto kWords = std::to_array<std::string_view>({"at",
                                                                    "native",
                                                                    "c10",
                                                                    "std",
                                                                    "cuda",
                                                                    "detail",
                                                                    "unsigned",
                                                                    "signed",
                                                                    "int",
                                                                    "long",
                                                                    "short",
                                                                    "char",
                                                                    "bool",
                                                                    "float",
                                                                    "double",
                                                                    "const",
                                                                    "void",
                                                                    "Half",
                                                                    "BFloat16",
                                                                    "complex",
                                                                    "array",
                                                                    "BinaryFunctor",
                                                                    "AUnaryFunctor",
                                                                    "BUnaryFunctor",
                                                                    "binary_internal",
                                                                    "gpu_kernel_impl",
                                                                    "gpu_kernel_impl_nocast",
                                                                    "ReduceOp",
                                                                    "func_wrapper_t",
                                                                    "operator",
                                                                    "lambda",
                                                                    "TensorIterator",
                                                                    "TensorIteratorBase",
                                                                    "anonymous",
                                                                    "namespace",
                                                                    "unnamed",
                                                                    "opmath",
                                                                    "templates",
                                                                    "true",
                                                                    "false",
                                                                    "auto",
                                                                    "cub",
                                                                    "legacy",
                                                                    "ReduceJitOp",
                                                                    "OpaqueType"});
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) != 0) return true;
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end() || word.starts_with("Float8_") ||
           word.starts_with("opmath_") || word.starts_with("_internal_") || word.ends_with("_t");
}

/// "CompareEqFunctor" -> "compare_eq", "masked_fill_kernel_cuda" -> "masked_fill".
std::string operation_name(std::string_view word) {
    constexpr auto kPrefixes = std::to_array<std::string_view>(
        {"CUDAFunctorOnSelf_", "CUDAFunctorOnOther_", "CUDAFunctor_", "cuda_", "launch_", "direct_"});
    constexpr auto kSuffixes =
        std::to_array<std::string_view>({"_cuda", "_impl", "_kernel", "_functor", "CUDAKernelImpl",
                                         "KernelImpl", "CUDA", "Functor", "Ops", "Op", "Kernel", "_gpu"});
    for (const std::string_view prefix : kPrefixes)
        if (word.size() > prefix.size() && word.starts_with(prefix)) word.remove_prefix(prefix.size());
    for (bool again = true; again;) {
        again = false;
        for (const std::string_view suffix : kSuffixes)
            if (word.size() > suffix.size() && word.ends_with(suffix)) {
                word.remove_suffix(suffix.size());
                again = true;
            }
    }
    std::string name;
    for (size_t i = 0; i < word.size(); ++i) {
        const auto c = static_cast<unsigned char>(word[i]);
        const bool starts_word =
            i > 0 && std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(word[i - 1])) != 0;
        if (starts_word) name += '_';
        name += static_cast<char>(std::tolower(c));
    }
    return name;
}

/// ATen's generic kernels take the operation as a template argument: "elementwise: add".
std::optional<std::string> wrapped_name(const Parts& parts) {
    std::string_view kind;
    if (parts.base.ends_with("elementwise_kernel") || parts.base == "elementwise_kernel_with_index")
        kind = "elementwise";
    else if (parts.base == "reduce_kernel")
        kind = "reduce";
    else
        return std::nullopt;
    const std::string_view text = parts.arguments;
    for (size_t i = 0; i < text.size();) {
        if (!is_identifier(text[i])) {
            ++i;
            continue;
        }
        size_t end = i;
        while (end < text.size() && is_identifier(text[end])) ++end;
        const std::string_view word = text.substr(i, end - i);
        if (!is_wrapping(word)) return std::string(kind) + ": " + operation_name(word);
        i = end;
    }
    return std::nullopt;
}

/// cutlass::Kernel2<what it is>
std::optional<std::string> cutlass_name(const Parts& parts) {
    if (!parts.qualified.starts_with("cutlass::Kernel") || !parts.arguments.starts_with("cutlass_"))
        return std::nullopt;
    return std::string(split(parts.arguments).qualified);
}

/// libstdc++ refuses mangled names of more than 1,024 characters (LibTorch has hundreds): their identifiers
/// still say what they are. `words` holds the text that the result points into.
Parts split_mangled(std::string_view mangled, std::string& words) {
    const MangledParts found = scan_mangled(mangled);
    Parts parts;
    if (found.head == 0) return parts;
    parts.qualified = parts.base = found.identifiers[found.head - 1];
    for (size_t i = found.head; i < found.identifiers.size(); ++i)
        words.append(found.identifiers[i]).append(" ");
    parts.arguments = words;
    return parts;
}

}  // namespace

std::vector<std::string_view> split_arguments(std::string_view text) {
    std::vector<std::string_view> arguments;
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && (text[i] == '<' || text[i] == '(')) ++depth;
        if (i < text.size() && (text[i] == '>' || text[i] == ')')) --depth;
        if (i != text.size() && (text[i] != ',' || depth != 0)) continue;
        std::string_view argument = text.substr(begin, i - begin);
        while (!argument.empty() && argument.front() == ' ') argument.remove_prefix(1);
        while (!argument.empty() && argument.back() == ' ') argument.remove_suffix(1);
        if (!argument.empty()) arguments.push_back(argument);
        begin = i + 1;
    }
    return arguments;
}

std::string printable(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c < 0x20 || c > 0x7e) c = '?';
    return result;
}

std::string demangle(std::string_view mangled) {
    mangled = mangled.substr(0, std::min(mangled.find('\0'), kLongestName));
    if (!mangled.starts_with("_Z") || may_explode(scan_mangled(mangled))) return printable(mangled);
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(
        abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
    return printable(status == 0 && name != nullptr ? std::string_view(name.get()) : mangled);
}

std::string short_kernel_name(std::string_view demangled) {
    std::string name = printable(demangled.substr(0, kLongestName));
    erase_all(name, "(anonymous namespace)::");
    erase_all(name, "<unnamed>::");
    std::string words;  // what the parts below point into
    Parts parts = split(name);
    if (name.starts_with("_Z")) parts = split_mangled(name, words);
    std::optional<std::string> result = flash_name(parts);
    if (!result) result = wrapped_name(parts);
    if (!result) result = cutlass_name(parts);
    if (!result && !parts.base.empty()) result = std::string(parts.base);
    if (!result) result = name;  // nothing that looks like a function
    if (result->size() > kLongestShort) result = result->substr(0, kLongestShort - 3) + "...";
    return *result;
}

}  // namespace attnscope
