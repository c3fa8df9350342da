// What an instruction is for, by its mnemonic. NVIDIA's list: CUDA Binary Utilities, Instruction Set
// Reference.
#include <algorithm>
#include <initializer_list>

#include "opcodes.h"

namespace attnscope::sass {
namespace {

struct Group {
    InstructionClass kind;
    std::initializer_list<std::string_view> mnemonics;
};

const Group kGroups[] = {
    {InstructionClass::mma, {"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA"}},
    {InstructionClass::wgmma, {"HGMMA", "IGMMA", "QGMMA", "BGMMA"}},
    {InstructionClass::tcgen05, {"UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA", "UTCMXQMMA"}},
    {InstructionClass::tensor_memory, {"LDTM", "STTM", "UTCCP", "UTCSHIFT"}},
    {InstructionClass::fp32,
     {"FFMA", "FMUL", "FADD", "FFMA2", "FMUL2", "FADD2", "FFMA32I", "FMUL32I", "FADD32I", "UFFMA", "UFMUL",
      "UFADD"}},
    {InstructionClass::fp16, {"HFMA2", "HMUL2", "HADD2", "HFMA2_32I", "HMUL2_32I", "HADD2_32I", "HADD2_32"}},
    {InstructionClass::fp64, {"DFMA", "DMUL", "DADD"}},
    {InstructionClass::special, {"MUFU"}},
    {InstructionClass::local_load, {"LDL"}},
    {InstructionClass::local_store, {"STL"}},
    {InstructionClass::global_load, {"LDG"}},
    {InstructionClass::global_store, {"STG"}},
    {InstructionClass::async_copy, {"LDGSTS"}},
    {InstructionClass::tma, {"UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF", "UBLKCP", "UBLKRED", "UBLKPF"}},
    {InstructionClass::shared_load, {"LDS", "LDSM"}},
    {InstructionClass::shared_store, {"STS", "STSM", "STAS"}},
    {InstructionClass::generic, {"LD", "ST"}},
    {InstructionClass::atomic,
     {"ATOM", "ATOMG", "ATOMS", "RED", "REDG", "REDAS", "ATOMMAS", "UREDGR", "UTCATOMSWS"}},
    {InstructionClass::barrier,
     {"BAR",          "SYNCS",      "DEPBAR",      "LDGDEPBAR", "LDGMC",         "MEMBAR",
      "ERRBAR",       "FENCE",      "WARPSYNC",    "WARPGROUP", "ARRIVES",       "UCGABAR_ARV",
      "UCGABAR_WAIT", "CGABAR_ARV", "CGABAR_WAIT", "UTCBAR",    "UTMACMDFLUSH",  "CGAERRBAR",
      "ACQBULK",      "ACQSHMINIT", "CCTL",        "CCTLL",     "ENDCOLLECTIVE", "USETMAXREG"}},
    {InstructionClass::control,
     {"BRA",   "BRX",       "BRXU",        "JMP",    "JMX",     "JMXU", "CALL",       "RET",
      "EXIT",  "KILL",      "BSSY",        "BSYNC",  "BREAK",   "BMOV", "BPT",        "NOP",
      "YIELD", "NANOSLEEP", "WARPSYNC",    "RPCMOV", "PREEXIT", "RTT",  "COLLECTIVE", "PMTRIG",
      "BRA",   "SETCTAID",  "SETLMEMBASE", "LEPC",   "PCALL"}},
    {InstructionClass::integer,
     {"IADD",       "IADD3",     "IADD32I", "IMAD",   "IMUL",   "IABS",  "IMNMX",     "ISETP",  "ISCADD",
      "LEA",        "LOP",       "LOP3",    "LOP32I", "SHF",    "SHL",   "SHR",       "BMSK",   "SGXT",
      "POPC",       "FLO",       "BREV",    "IDP",    "IDP4A",  "VIADD", "VIADDMNMX", "VIMNMX", "VIMNMX3",
      "VABSDIFF",   "VABSDIFF4", "UIADD3",  "UIMAD",  "UISETP", "ULEA",  "ULOP",      "ULOP3",  "USHF",
      "USHL",       "USHR",      "UBMSK",   "USGXT",  "UPOPC",  "UFLO",  "UBREV",     "UIMNMX", "UVIADD",
      "UVIADDMNMX", "UVIMNMX",   "UIABS",   "IMMNMX"}},
};

}  // namespace

InstructionClass class_of(std::string_view mnemonic) {
    for (const Group& group : kGroups)
        if (std::find(group.mnemonics.begin(), group.mnemonics.end(), mnemonic) != group.mnemonics.end())
            return group.kind;
    return InstructionClass::other;
}

}  // namespace attnscope::sass
