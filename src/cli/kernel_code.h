#pragma once
// What `attnscope kernels` says of a kernel's machine code and of its name.
#include <nlohmann/json.hpp>
#include <string>

#include "attnscope/sass.h"

namespace attnscope::cli {

/// One line for the table: "head dim 64, tile 128x128, 4 warps; 512 HMMA; spills: 35 stores, 37 loads". Empty
/// where there is nothing to say: no tile in the name, no tensor instruction, no local memory.
std::string code_line(const std::string& full_name, const KernelMix& code);

/// The lines of --mix: what the name and the code say, then every mnemonic. No line is longer than `width`.
std::string mix_block(const std::string& full_name, const KernelMix& code, size_t width);

/// Adds "attention" (where the name is one) and "code" to a kernel's JSON; `mnemonics`: every one of them,
/// too.
void add_code_json(nlohmann::ordered_json& kernel, const std::string& full_name, const KernelMix& code,
                   bool mnemonics);

}  // namespace attnscope::cli
