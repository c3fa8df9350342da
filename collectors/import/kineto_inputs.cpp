#include "kineto_inputs.h"

#include <utility>

#include "finish.h"
#include "json_scan.h"

namespace attnscope::importer {
namespace {

constexpr size_t kMostInputs = 256, kMostText = 4096;

/// PyTorch's name of a type in a trace (caffe2::TypeMeta's) -> the schema's.
std::string dtype(std::string_view type) {
    constexpr std::pair<std::string_view, const char*> known[] = {
        {"float", "fp32"},         {"double", "fp64"},         {"c10::Half", "fp16"},
        {"c10::BFloat16", "bf16"}, {"long int", "int64"},      {"long", "int64"},
        {"int", "int32"},          {"short int", "int16"},     {"short", "int16"},
        {"signed char", "int8"},   {"unsigned char", "uint8"}, {"bool", "bool"},
        {"__half", "fp16"},        {"__nv_bfloat16", "bf16"},
    };
    for (const auto& [name, ours] : known)
        if (name == type) return ours;
    if (type.starts_with("c10::")) type.remove_prefix(5);
    return std::string(type);
}

/// "[8, 16]" -> "8,16".
std::string numbers(std::string_view array) {
    std::string out;
    for (const char c : array)
        if ((c >= '0' && c <= '9') || c == ',' || c == '-') out.push_back(c);
    return out;
}

bool holds_arrays(std::string_view array) {
    return array.find('[', 1) != std::string_view::npos;
}

/// "[[8, 16], [4]]" of a list of tensors, whose types are not told.
std::string tensor_list(const JsonField& dims) {
    std::string out;
    for (const JsonField& one : array_elements(dims.raw, kMostInputs))
        out += (out.empty() ? "" : "; ") + std::string("tensor[") + numbers(one.raw) + "]";
    return "(" + out + ")";
}

std::string value_text(std::string value) {
    if (value.empty()) return "none";
    if (value == "True") return "true";
    if (value == "False") return "false";
    if (value.front() != '[') return value;
    std::string out = "(";
    for (size_t i = 1; i < value.size() && value[i] != ']'; ++i)
        out += value[i] == ',' ? std::string(";") : std::string(1, value[i]);
    return out + ")";
}

const JsonField* at(const std::vector<JsonField>& list, size_t i) {
    return i < list.size() ? &list[i] : nullptr;
}

}  // namespace

std::vector<std::string> input_texts(const KinetoInputs& in) {
    const auto types = array_elements(in.types, kMostInputs), dims = array_elements(in.dims, kMostInputs),
               strides = array_elements(in.strides, kMostInputs),
               values = array_elements(in.values, kMostInputs);
    std::vector<std::string> out;
    const size_t count = std::min(std::max(types.size(), dims.size()), kMostInputs);
    for (size_t i = 0; i < count; ++i) {
        const JsonField* type_field = at(types, i);
        const std::string type = type_field ? unescape(type_field->raw) : "";
        const JsonField* dim = at(dims, i);
        const bool has_dims = dim && dim->kind == JsonKind::array;
        std::string value = at(values, i) ? unescape(values[i].raw) : "";
        std::string text;
        if (type == "Scalar" || type == "ScalarList" || type == "Int" || type == "Double" || type == "Bool") {
            text = value.empty() ? type : value_text(std::move(value));
        } else if (type.empty() && (!has_dims || numbers(dim->raw).empty())) {
            text = value_text(std::move(value));
        } else if (has_dims && holds_arrays(dim->raw)) {
            text = tensor_list(*dim);
        } else if (type == "TensorList" || type == "GenericList") {
            text = "list";
        } else {
            text = (type.empty() ? "tensor" : dtype(type)) + "[" + (has_dims ? numbers(dim->raw) : "?") + "]";
            const JsonField* stride = at(strides, i);
            if (stride && stride->kind == JsonKind::array && !holds_arrays(stride->raw))
                text += " strides (" + numbers(stride->raw) + ")";
        }
        out.push_back(valid_utf8(text.substr(0, kMostText)));
    }
    return out;
}

}  // namespace attnscope::importer
