#pragma once
// The opcode table: which instruction 16 bytes of code are.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/sass.h"

namespace attnscope::sass {

/// One instruction as it stands in the code, little-endian.
struct Word {
    uint64_t low = 0, high = 0;
    uint16_t opcode() const { return static_cast<uint16_t>(low & 0xfff); }
    bool bit(unsigned number) const {
        return ((number < 64 ? low >> number : high >> (number - 64)) & 1) != 0;
    }
};
constexpr size_t kInstructionBytes = 16;

struct Mnemonic {
    std::string name;
    InstructionClass kind = InstructionClass::other;
};

/// The opcodes of one architecture family.
class Family {
  public:
    static constexpr uint16_t kUnknown = 0xffff;
    /// The index of its mnemonic, or kUnknown.
    uint16_t find(const Word& word) const;
    const Mnemonic& mnemonic(uint16_t index) const { return mnemonics_[index]; }
    size_t size() const { return mnemonics_.size(); }
    int sm() const { return sm_; }

  private:
    friend class TableParser;
    /// One of several instructions with the same opcode.
    struct Variant {
        uint16_t opcode, mnemonic;
        Word mask, value;
    };
    int sm_ = 0;
    std::vector<Mnemonic> mnemonics_;
    std::array<uint16_t, 4096> plain_{};
    std::vector<Variant> variants_;
};

/// Parses the table; throws Error naming `origin` and the line.
std::vector<Family> parse_opcode_table(std::string_view text, const std::string& origin);

/// The family that an architecture's code belongs to, from the embedded table; nullptr: not known.
const Family* family_of(int sm);

/// The function unit that the Special Function Unit's code computes: ex2 is 2.
unsigned mufu_function(const Word& word);

/// A branch to itself, which the compiler puts behind a kernel's last instruction.
bool branches_to_itself(const Word& word, int sm);

InstructionClass class_of(std::string_view mnemonic);

extern const std::string_view kEmbeddedOpcodes;

}  // namespace attnscope::sass
