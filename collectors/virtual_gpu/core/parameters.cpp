// Which parameters of a kernel may let it write to memory.
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "collectors/virtual_gpu/core/module.h"

namespace attnscope::vgpu {

namespace {

// The parameter list of a demangled function, split at its outermost commas; nothing when there is none.
std::optional<std::vector<std::string>> parameter_types(const std::string& mangled) {
    int status = 0;
    char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    const std::string name = status == 0 && text != nullptr ? text : "";
    std::free(text);
    if (name.empty() || name.back() != ')') return std::nullopt;
    int depth = 0;
    size_t open = name.size();
    while (open-- > 0) {
        if (name[open] == ')' || name[open] == '>') depth++;
        if (name[open] == '(' || name[open] == '<') depth--;
        if (depth == 0) break;
    }
    if (depth != 0) return std::nullopt;
    std::vector<std::string> types;
    std::string type;
    for (size_t i = open + 1; i + 1 < name.size(); i++) {
        const char c = name[i];
        if (c == '(' || c == '<' || c == '[') depth++;
        if (c == ')' || c == '>' || c == ']') depth--;
        if (c == ',' && depth == 0) {
            types.push_back(type);
            type.clear();
        } else {
            type += c;
        }
    }
    if (!type.empty()) types.push_back(type);
    return types;
}

// "float const*": what it points at is only read.
bool read_only(const std::string& type) {
    size_t end = type.size();
    for (const char* qualifier : {" __restrict", "__restrict__", "__restrict", " const"}) {
        const std::string q = qualifier;
        if (end >= q.size() && type.compare(end - q.size(), q.size(), q) == 0) end -= q.size();
    }
    while (end > 0 && type[end - 1] == ' ') end--;
    const std::string pointer = " const*";
    return end >= pointer.size() && type.compare(end - pointer.size(), pointer.size(), pointer) == 0;
}

}  // namespace

ParameterPlan plan_parameters(const KernelResources& kernel) {
    ParameterPlan plan;
    const auto types = parameter_types(kernel.name);
    const bool typed = types && types->size() == kernel.parameters.size();
    for (size_t i = 0; i < kernel.parameters.size(); i++) {
        const KernelParameter& parameter = kernel.parameters[i];
        plan.block_bytes = std::max(plan.block_bytes, parameter.offset + parameter.size);
        if (typed && parameter.size == 8 && read_only((*types)[i])) continue;
        const uint32_t skip = (8 - parameter.offset % 8) % 8;
        if (parameter.size < skip + 8) continue;
        plan.words.push_back(
            {static_cast<uint32_t>(i), skip, (parameter.size - skip) / 8, parameter.offset + skip});
    }
    return plan;
}

}  // namespace attnscope::vgpu
