#pragma once
#include <string>

namespace attnscope {

struct KernelName {
    std::string short_name, full_name;
};
/// Of a mangled name, as CUPTI gives it.
KernelName kernel_name(const std::string& mangled);

}  // namespace attnscope
