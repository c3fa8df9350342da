#pragma once
// A cubin as an ELF file: which architecture it is for.
#include "attnscope/binary.h"
#include "elf.h"

namespace attnscope::binary {

/// From the ELF header's flags. They do not say whether the code is architecture-specific; only the fatbin
/// around it does.
int cubin_sm(const Elf& elf);

std::vector<KernelResources> read_cubin(const Elf& elf);

/// Of a kernel's .nv.info section: where it spills and refills registers.
std::vector<uint32_t> spill_offsets(const View& info);

}  // namespace attnscope::binary
