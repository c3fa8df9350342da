#pragma once
// The fatbins in a file, one after another.
#include <functional>
#include <string>

#include "attnscope/binary.h"

namespace attnscope::binary {

/// Calls visit for each fatbin, in file order, of an ELF library or program (.nv_fatbin) or a bare fatbin;
/// the Fatbin is valid during the call. Returns how many there were. Throws Error, naming the file.
size_t for_each_fatbin(const std::string& path, const std::function<void(const Fatbin&)>& visit);

}  // namespace attnscope::binary
