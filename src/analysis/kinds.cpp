#include "kinds.h"

namespace attnscope::kinds {
namespace {

constexpr const char* kAttention = "attention";
constexpr const char* kProduct = "matrix product";
constexpr const char* kSoftmax = "softmax";
constexpr const char* kMask = "mask";
constexpr const char* kScale = "scale, add";
constexpr const char* kCopy = "cast, copy, fill";
constexpr const char* kGuard = "NaN guard";

}  // namespace

const std::vector<std::string>& all() {
    static const std::vector<std::string> kinds{kAttention, kProduct, kSoftmax, kMask,   kScale,
                                                kCopy,      kGuard,   kOther,   kSeveral};
    return kinds;
}

const char* of(LaunchKind kind, Role role) {
    if (kind == LaunchKind::memcpy || kind == LaunchKind::memset) return kCopy;
    switch (role) {
        case Role::flash:
        case Role::flash_combine:
        case Role::efficient:
        case Role::cudnn:
            return kAttention;
        case Role::gemm:
            return kProduct;
        case Role::softmax:
            return kSoftmax;
        case Role::mask:
        case Role::mask_building:
            return kMask;
        case Role::scale:
        case Role::add:
            return kScale;
        case Role::cast_or_copy:
        case Role::fill:
            return kCopy;
        case Role::where:
        case Role::isneginf:
        case Role::all_reduce:
            return kGuard;
        case Role::other:
            break;
    }
    return kOther;
}

const char* of(const ModelKernel& kernel) {
    constexpr std::pair<std::string_view, const char*> kNames[] = {
        {"attention", kAttention}, {"product", kProduct}, {"softmax", kSoftmax}, {"mask", kMask},
        {"scale", kScale},         {"cast", kCopy},       {"copy", kCopy},       {"NaN guard", kGuard}};
    for (const auto& [part, kind] : kNames)
        if (kernel.name.find(part) != std::string::npos) return kind;
    return kOther;
}

}  // namespace attnscope::kinds
