#include "kernel_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace attnscope {

KernelName kernel_name(const std::string& mangled) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    KernelName name{mangled, status == 0 && text ? text.get() : mangled};
    name.short_name = name.full_name.substr(0, name.full_name.find_first_of("<("));
    return name;
}

}  // namespace attnscope
