#include "signature.h"

#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace attnscope::libtorch {
namespace {

constexpr size_t kElements = 32;  ///< of a list that are looked at
constexpr size_t kText = 64;      ///< characters of a string that are looked at

void add_tensor(Hash& hash, const c10::TensorImpl& tensor) {
    const auto type = static_cast<uint64_t>(tensor.dtype().toScalarType());
    if (!is_plain(tensor)) return hash.add(type, 1);
    hash.add(type, static_cast<uint64_t>(tensor.device_type()) << 1 | (tensor.requires_grad() ? 1u : 0u));
    const c10::IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
    for (size_t i = 0; i < sizes.size(); ++i)
        hash.add(static_cast<uint64_t>(sizes[i]), static_cast<uint64_t>(strides[i]));
    hash.add(sizes.size(), 3);
}

std::string joined(c10::IntArrayRef numbers) {
    std::string text;
    for (const int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
    return text;
}

std::string describe_tensor(const c10::TensorImpl& tensor) {
    std::string text = dtype_name(tensor.dtype().toScalarType());
    if (!is_plain(tensor)) return text + "[?]";
    text += '[' + joined(tensor.sizes()) + ']';
    if (tensor.dim() > 0) text += " strides (" + joined(tensor.strides()) + ')';
    if (tensor.device_type() != c10::DeviceType::CUDA)
        text += ' ' + c10::DeviceTypeName(tensor.device_type(), true);
    if (tensor.requires_grad()) text += " requires_grad";
    return text;
}

std::string describe_one(const c10::IValue& value, bool numbers) {
    if (value.isNone()) return "none";
    if (value.isTensor()) {
        const c10::TensorImpl* tensor = value.unsafeToTensorImpl();
        return tensor == nullptr || !value.toTensor().defined() ? "none" : describe_tensor(*tensor);
    }
    if (value.isBool()) return value.toBool() ? "true" : "false";
    if (value.isInt()) return numbers ? std::to_string(value.toInt()) : "int";
    if (value.isDouble()) {
        if (!numbers) return "float";
        char digits[32];
        return {digits, std::to_chars(digits, digits + sizeof digits, value.toDouble()).ptr};
    }
    if (value.isString()) return '"' + value.toStringRef().substr(0, kText) + '"';
    if (value.isList()) {
        std::string text = "(";
        size_t count = 0;
        for (const c10::IValue& element : value.toListRef()) {
            if (count++ == kElements) {
                text += "; ...";
                break;
            }
            text += (count > 1 ? "; " : "") + (element.isList() ? "list" : describe_one(element, numbers));
        }
        return text + ')';
    }
    return value.tagKind();
}

}  // namespace

void InputHash::add(c10::ArrayRef<const c10::IValue> inputs) {
    for (const c10::IValue& value : inputs) add_one(value);
}

void InputHash::add_both(uint64_t a, uint64_t b) {
    full.add(a, b);
    shapes.add(a, b);
}

void InputHash::add_one(const c10::IValue& value) {
    if (value.isTensor() && value.toTensor().defined()) {
        // Once for both: what they see of it is the same.
        Hash one;
        add_tensor(one, *value.unsafeToTensorImpl());
        add_both(one.value(), 2);
    } else if (value.isInt()) {
        full.add(static_cast<uint64_t>(value.toInt()), 4);
        shapes.add(4);
    } else if (value.isDouble()) {
        full.add(std::bit_cast<uint64_t>(value.toDouble()), 5);
        shapes.add(5);
    } else if (value.isBool()) {
        add_both(value.toBool() ? 1 : 0, 6);
    } else if (value.isNone() || value.isTensor()) {
        add_both(7, 1);
    } else if (value.isList()) {
        const auto elements = value.toListRef();
        add_both(elements.size(), 8);
        for (const c10::IValue& element : elements.slice(0, std::min(elements.size(), kElements)))
            if (!element.isList()) add_one(element);
    } else if (value.isString()) {
        Hash one;
        one.add(std::string_view(value.toStringRef()).substr(0, kText));
        add_both(one.value(), 3);
    } else {
        add_both(9, 9);
    }
}

std::vector<std::string> describe(c10::ArrayRef<const c10::IValue> inputs, bool numbers) {
    std::vector<std::string> texts;
    texts.reserve(inputs.size());
    for (const c10::IValue& value : inputs) texts.push_back(describe_one(value, numbers));
    return texts;
}

const char* dtype_name(c10::ScalarType type) {
    switch (type) {
        case c10::ScalarType::BFloat16:
            return "bf16";
        case c10::ScalarType::Half:
            return "fp16";
        case c10::ScalarType::Float:
            return "fp32";
        case c10::ScalarType::Double:
            return "fp64";
        case c10::ScalarType::Byte:
            return "uint8";
        case c10::ScalarType::Char:
            return "int8";
        case c10::ScalarType::Short:
            return "int16";
        case c10::ScalarType::Int:
            return "int32";
        case c10::ScalarType::Long:
            return "int64";
        case c10::ScalarType::Bool:
            return "bool";
        default:
            return c10::toString(type);  // Float8_e4m3fn, ComplexFloat ...
    }
}

bool is_plain(const c10::TensorImpl& tensor) {
    using c10::DispatchKey;
    constexpr c10::DispatchKeySet wrappers({DispatchKey::Python, DispatchKey::FuncTorchBatched,
                                            DispatchKey::FuncTorchGradWrapper, DispatchKey::Functionalize});
    return !tensor.key_set().has_any(wrappers) && !tensor.is_nested() &&
           !tensor.has_symbolic_sizes_strides() && tensor.layout() == c10::kStrided;
}

}  // namespace attnscope::libtorch
