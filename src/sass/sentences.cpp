// What a mix says.
#include <string>

#include "attnscope/sass.h"

namespace attnscope {
namespace {

std::string counted(uint64_t number, const char* one, const char* many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
}

/// "48 LDGSTS", "4 UTMALDG and 2 UTMASTG"
std::string mnemonics_of(const InstructionMix& mix, InstructionClass kind, const char* between) {
    std::string words;
    for (const InstructionCount& entry : mix.by_mnemonic)
        if (entry.kind == kind)
            words += (words.empty() ? "" : between) + std::to_string(entry.count) + " " +
                     std::string(entry.mnemonic);
    return words;
}

/// The faster instructions that this architecture has and the code does not use.
std::string unused_tensor(const InstructionMix& mix) {
    if (mix.unknown > 0) return "";
    if (mix.sm == 90 && mix.count(InstructionClass::wgmma) == 0) return ", not wgmma";
    if (mix.sm >= 100 && mix.sm < 110 && mix.count(InstructionClass::tcgen05) == 0) return ", not tcgen05";
    return "";
}

}  // namespace

std::string tensor_words(const InstructionMix& mix) {
    std::string words;
    for (const InstructionClass kind :
         {InstructionClass::tcgen05, InstructionClass::wgmma, InstructionClass::mma})
        if (const std::string more = mnemonics_of(mix, kind, " + "); !more.empty())
            words += (words.empty() ? "" : " + ") + more;
    if (!words.empty()) return words;
    return mix.unknown > 0 ? "?" : "none";
}

std::string tensor_sentence(const InstructionMix& mix) {
    std::string kinds;
    for (const InstructionClass kind :
         {InstructionClass::tcgen05, InstructionClass::wgmma, InstructionClass::mma})
        if (mix.count(kind) > 0)
            kinds += (kinds.empty() ? "" : " and ") + std::string(to_string(kind)) + " (" +
                     mnemonics_of(mix, kind, ", ") + ")";
    if (!kinds.empty()) return "uses " + kinds + unused_tensor(mix);
    if (mix.unknown > 0)
        return "no tensor instruction among the known ones; " + std::to_string(mix.unknown) + " of " +
               std::to_string(mix.total) + " instructions are not known";
    return "no tensor instruction";
}

std::string local_memory_sentence(const InstructionMix& mix) {
    const uint64_t stores = mix.count(InstructionClass::local_store);
    const uint64_t loads = mix.count(InstructionClass::local_load);
    if (stores + loads == 0) return "";
    const auto both = [](uint64_t s, uint64_t l) {
        return counted(s, "store", "stores") + " and " + counted(l, "load", "loads");
    };
    const uint64_t spilled = mix.spill_stores + mix.spill_loads;
    if (spilled == 0) return "local memory (arrays or spilled registers): " + both(stores, loads);
    std::string sentence = "register spills: " + both(mix.spill_stores, mix.spill_loads);
    if (spilled == stores + loads) return sentence + ", all of its accesses to local memory";
    return sentence + ", of " + both(stores, loads) + " of local memory";
}

std::vector<std::string> sentences(const InstructionMix& mix) {
    std::vector<std::string> out = {tensor_sentence(mix)};
    if (std::string local = local_memory_sentence(mix); !local.empty()) out.push_back(std::move(local));
    if (const uint64_t special = mix.count(InstructionClass::special); special > 0)
        out.push_back(std::to_string(special) + " MUFU, " + std::to_string(mix.exponentials) +
                      " of them exponentials (ex2)");
    std::string copies;
    if (const std::string words = mnemonics_of(mix, InstructionClass::async_copy, ", "); !words.empty())
        copies = "cp.async (" + words + ")";
    if (const std::string words = mnemonics_of(mix, InstructionClass::tma, ", "); !words.empty())
        copies += (copies.empty() ? "" : " and ") + ("TMA (" + words + ")");
    if (!copies.empty()) out.push_back("bulk and asynchronous copies by " + copies);
    if (mix.unknown > 0 && mix.tensor() > 0)  // else the first sentence says it
        out.push_back(std::to_string(mix.unknown) + " of " + std::to_string(mix.total) +
                      " instructions are not known");
    return out;
}

}  // namespace attnscope
