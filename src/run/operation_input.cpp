#include <charconv>
#include <utility>

#include "attnscope/operation.h"

namespace attnscope {
namespace {

/// Reads "1,2,3" up to `close`, which it takes too; false when there is something else.
bool take_numbers(std::string_view& text, char close, std::vector<int64_t>& out) {
    const size_t end = text.find(close);
    if (end == std::string_view::npos) return false;
    std::string_view list = text.substr(0, end);
    text.remove_prefix(end + 1);
    while (!list.empty()) {
        int64_t number = 0;
        const auto read = std::from_chars(list.data(), list.data() + list.size(), number);
        if (read.ec != std::errc()) return false;
        out.push_back(number);
        list.remove_prefix(static_cast<size_t>(read.ptr - list.data()));
        if (list.empty()) break;
        if (list.front() != ',' || list.size() == 1) return false;
        list.remove_prefix(1);
    }
    return true;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

std::optional<int64_t> TensorInput::elements() const {
    int64_t product = 1;
    for (const int64_t size : sizes)
        if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
    return product;
}

std::optional<TensorInput> tensor_input(std::string_view text) {
    const size_t open = text.find('[');
    if (open == std::string_view::npos || open == 0 ||
        text.substr(0, open).find_first_of(" (\"") != std::string_view::npos)
        return std::nullopt;
    TensorInput tensor;
    tensor.dtype = text.substr(0, open);
    text.remove_prefix(open + 1);
    if (!take_numbers(text, ']', tensor.sizes)) return std::nullopt;
    if (take_prefix(text, " strides (") && !take_numbers(text, ')', tensor.strides)) return std::nullopt;
    while (!text.empty()) {
        if (!take_prefix(text, " ")) return std::nullopt;
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size());
        if (word == "requires_grad")
            tensor.requires_grad = true;
        else
            tensor.device = word;
    }
    return tensor;
}

uint32_t dtype_bytes(std::string_view dtype) {
    static constexpr std::pair<std::string_view, uint32_t> known[] = {
        {"bf16", 2},          {"fp16", 2},        {"fp32", 4},         {"fp64", 8},           {"int64", 8},
        {"int32", 4},         {"int16", 2},       {"int8", 1},         {"uint8", 1},          {"bool", 1},
        {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}, {"ComplexFloat", 8}, {"ComplexDouble", 16},
    };
    for (const auto& [name, bytes] : known)
        if (name == dtype) return bytes;
    return 0;
}

}  // namespace attnscope
