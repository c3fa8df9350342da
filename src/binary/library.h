#pragma once
// The fatbins in a file, one after another.
#include <functional>
#include <string>

#include "attnscope/binary.h"
#include "bytes.h"

namespace attnscope::binary {

/// Calls visit for each fatbin, in file order, of an ELF library or program (.nv_fatbin) or a bare fatbin;
/// the Fatbin is valid during the call. Returns how many there were. Throws Error, naming the file.
size_t for_each_fatbin(const std::string& path, const std::function<void(const Fatbin&)>& visit);

/// The same for a file in memory, and the Fatbin is the callee's to keep as long as `view`'s bytes live. What
/// is neither an ELF file nor a fatbin is refused; a cubin has no fatbins.
using TakeFatbin = std::function<void(Fatbin&&)>;
size_t walk_file(const View& view, const TakeFatbin& take);

/// Whether a bare cubin for sm_XY runs on a device of this compute capability.
inline bool runs_on(int sm, int major, int minor) {
    return sm / 10 == major && sm % 10 <= minor;
}

}  // namespace attnscope::binary
