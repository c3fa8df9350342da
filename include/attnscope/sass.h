#pragma once
// Which instructions a kernel's machine code (SASS) holds, counted in the code: how often they run is not
// known from it. Opcodes are told by src/data/sass_opcodes.tsv; what it does not know is counted as unknown,
// never guessed. Checked against nvdisasm, instruction by instruction, in tests/sass.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/binary.h"

namespace attnscope {

enum class InstructionClass {
    mma,            ///< mma.sync: HMMA, IMMA, DMMA, QMMA, ...
    wgmma,          ///< warpgroup MMA of sm_90a: HGMMA, IGMMA, QGMMA
    tcgen05,        ///< fifth-generation Tensor Cores, sm_100: UTCHMMA, ...
    tensor_memory,  ///< tcgen05's own memory: LDTM, STTM, UTCCP
    fp32,           ///< FFMA, FMUL, FADD and their packed forms
    fp16,           ///< HFMA2, HMUL2, HADD2: outside of the Tensor Cores; compilers also move constants so
    fp64,           ///< DFMA, DMUL, DADD
    special,        ///< MUFU: exponentials, logarithms, reciprocals, roots, sines
    integer,        ///< integer arithmetic and logic, also in the uniform datapath
    local_load,     ///< LDL: spilled registers and arrays
    local_store,    ///< STL
    global_load,    ///< LDG
    global_store,   ///< STG
    async_copy,     ///< LDGSTS: cp.async, global to shared memory without registers
    tma,            ///< UTMALDG, UTMASTG, UBLKCP, ...: bulk copies by the Tensor Memory Accelerator
    shared_load,    ///< LDS, LDSM
    shared_store,   ///< STS, STSM
    generic,        ///< LD, ST: an address of which the space is decided at run time
    atomic,         ///< ATOM*, RED*
    barrier,        ///< barriers and waits
    control,        ///< branches, calls, exits, convergence, NOP
    other,          ///< known, and none of the above
    unknown,        ///< an opcode that the table does not know
};
const char* to_string(InstructionClass kind);  ///< "mma.sync", "local load", ...
InstructionClass instruction_class(std::string_view mnemonic);

struct InstructionCount {
    std::string mnemonic;  ///< without modifiers: HMMA
    InstructionClass kind = InstructionClass::other;
    uint64_t count = 0;
};

struct InstructionMix {
    int sm = 0;
    bool arch_specific = false;  ///< sm_90a: where wgmma exists
    uint64_t total = 0;          ///< instructions, unknown ones included, padding not
    uint64_t padding = 0;        ///< behind the code: the branch to itself and the NOPs
    uint64_t unknown = 0;
    uint64_t exponentials = 0;                  ///< of the MUFU: ex2
    uint64_t spill_stores = 0;                  ///< of the local stores: what the compiler noted as spills
    uint64_t spill_loads = 0;                   ///< of the local loads: what it noted as refills
    std::vector<InstructionCount> by_mnemonic;  ///< most frequent first; without the unknown ones
    std::vector<uint16_t> unknown_opcodes;      ///< the distinct ones

    uint64_t count(std::string_view mnemonic) const;
    uint64_t count(InstructionClass kind) const;
    /// All Tensor Core instructions: mma, wgmma and tcgen05.
    uint64_t tensor() const;
};

/// Of one kernel's code. Throws Error: an architecture without a table (known_architectures()), code that
/// ends inside an instruction; `origin` names it in the message.
InstructionMix instruction_mix(const KernelCode& code, std::string_view origin);

/// The families that the table knows: "sm_75, sm_80 to sm_89, ...".
std::string known_architectures();

/// A mix, or the reason why there is none.
struct KernelMix {
    std::optional<InstructionMix> mix;
    std::string absent;
    bool held =
        false;  ///< the file has code of this name for the device, whether its mix could be read or not
};

/// The mixes of a file's kernels as a device of this compute capability runs them. Opening costs
/// milliseconds, as does a kernel in a cubin that is known; finding a name can open every cubin once
/// (DeviceCode::find).
class KernelMixes {
  public:
    /// Never throws: a file that cannot be read makes every answer absent, with the reason.
    KernelMixes(const std::string& library, int major, int minor);
    KernelMix of(std::string_view mangled);
    KernelMix of(const KernelResources& kernel);  ///< as read_kernels gave it: no search
    /// From then on names in cubins that were not opened yet are absent (DeviceCode::search_until).
    void search_until(std::chrono::steady_clock::time_point deadline);
    /// Why the file cannot be read; empty: it can.
    const std::string& unreadable() const { return absent_; }

  private:
    template <class Get>
    KernelMix answer(std::string_view mangled, Get get);
    std::string library_;
    int sm_;
    std::optional<DeviceCode> code_;
    std::string absent_;
};

/// One kernel of one file.
KernelMix instruction_mix(const std::string& library, std::string_view mangled, int major, int minor);

/// What the mix says, as sentences without a full stop, each a fact with its number:
///     uses mma.sync (512 HMMA), not wgmma
///     register spills: 35 stores and 37 loads, all of its accesses to local memory
///     273 MUFU, 263 of them exponentials (ex2)
///     bulk and asynchronous copies by cp.async (48 LDGSTS)
/// "not" and "no" are said only where no instruction is unknown.
std::vector<std::string> sentences(const InstructionMix& mix);
/// The first of them: what it does with the Tensor Cores.
std::string tensor_sentence(const InstructionMix& mix);
/// And about local memory; empty where the code has no access to it.
std::string local_memory_sentence(const InstructionMix& mix);
/// For a table: "512 HMMA", "64 HGMMA + 8 HMMA", "none", "?" where unknown instructions forbid "none".
std::string tensor_words(const InstructionMix& mix);

}  // namespace attnscope
