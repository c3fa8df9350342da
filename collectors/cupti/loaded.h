#pragma once
// Libraries that are in the process already. Nothing here loads one.
#include <string>
#include <type_traits>
#include <vector>

namespace attnscope::collector {

/// The function of the loaded library `soname`; nullptr when either is absent.
void* find_symbol(const char* soname, const char* name);

template <class Signature>
Signature* find_function(const char* soname, const char* name) {
    static_assert(std::is_function_v<Signature>);
    return reinterpret_cast<Signature*>(find_symbol(soname, name));
}

/// Paths of all loaded libraries.
std::vector<std::string> loaded_libraries();

/// Of a file that is an ELF library; false where it cannot be read.
bool carries_device_code(const std::string& path);

/// At most 64 KiB of a file; empty when it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace attnscope::collector
