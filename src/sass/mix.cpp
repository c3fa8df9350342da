// Counting a kernel's instructions.
#include <algorithm>
#include <cstring>

#include "attnscope/error.h"
#include "attnscope/names.h"
#include "opcodes.h"

namespace attnscope {

using sass::Family;
using sass::Word;

namespace {

constexpr unsigned kEx2 = 2;  // MUFU's function

Word word_at(const KernelCode& code, size_t offset) {
    Word word;
    std::memcpy(&word.low, code.bytes.data() + offset, 8);
    std::memcpy(&word.high, code.bytes.data() + offset + 8, 8);
    return word;
}

bool is(const Family& family, const Word& word, std::string_view mnemonic) {
    const uint16_t index = family.find(word);
    return index != Family::kUnknown && family.mnemonic(index).name == mnemonic;
}

/// Bytes without what the compiler fills up with: NOPs to the end, before them one branch to itself.
size_t code_end(const KernelCode& code, const Family& family) {
    size_t end = code.bytes.size();
    while (end > 0 && is(family, word_at(code, end - sass::kInstructionBytes), "NOP"))
        end -= sass::kInstructionBytes;
    if (end == 0) return code.bytes.size();
    const Word last = word_at(code, end - sass::kInstructionBytes);
    if (is(family, last, "BRA") && sass::branches_to_itself(last, code.target.sm))
        end -= sass::kInstructionBytes;
    return end;
}

void count_spills(const KernelCode& code, const Family& family, InstructionMix& mix) {
    for (const uint32_t offset : code.spills) {
        if (offset % sass::kInstructionBytes != 0 || offset >= code.bytes.size()) continue;
        const Word word = word_at(code, offset);
        if (is(family, word, "STL")) ++mix.spill_stores;
        if (is(family, word, "LDL")) ++mix.spill_loads;
    }
}

}  // namespace

const char* to_string(InstructionClass kind) {
    switch (kind) {
        case InstructionClass::mma:
            return "mma.sync";
        case InstructionClass::wgmma:
            return "wgmma";
        case InstructionClass::tcgen05:
            return "tcgen05";
        case InstructionClass::tensor_memory:
            return "tensor memory";
        case InstructionClass::fp32:
            return "fp32";
        case InstructionClass::fp16:
            return "fp16";
        case InstructionClass::fp64:
            return "fp64";
        case InstructionClass::special:
            return "special function";
        case InstructionClass::integer:
            return "integer";
        case InstructionClass::local_load:
            return "local load";
        case InstructionClass::local_store:
            return "local store";
        case InstructionClass::global_load:
            return "global load";
        case InstructionClass::global_store:
            return "global store";
        case InstructionClass::async_copy:
            return "cp.async";
        case InstructionClass::tma:
            return "TMA";
        case InstructionClass::shared_load:
            return "shared load";
        case InstructionClass::shared_store:
            return "shared store";
        case InstructionClass::generic:
            return "generic memory";
        case InstructionClass::atomic:
            return "atomic";
        case InstructionClass::barrier:
            return "barrier";
        case InstructionClass::control:
            return "control";
        case InstructionClass::other:
            return "other";
        case InstructionClass::unknown:
            return "unknown";
    }
    return "unknown";
}

InstructionClass instruction_class(std::string_view mnemonic) {
    return sass::class_of(mnemonic);
}

uint64_t InstructionMix::count(std::string_view mnemonic) const {
    for (const InstructionCount& entry : by_mnemonic)
        if (entry.mnemonic == mnemonic) return entry.count;
    return 0;
}

uint64_t InstructionMix::count(InstructionClass kind) const {
    if (kind == InstructionClass::unknown) return unknown;
    uint64_t sum = 0;
    for (const InstructionCount& entry : by_mnemonic)
        if (entry.kind == kind) sum += entry.count;
    return sum;
}

uint64_t InstructionMix::tensor() const {
    return count(InstructionClass::mma) + count(InstructionClass::wgmma) + count(InstructionClass::tcgen05);
}

std::string known_architectures() {
    return "sm_75, sm_80 to sm_89, sm_90, sm_100 to sm_103, sm_120 and sm_121";
}

InstructionMix instruction_mix(const KernelCode& code, std::string_view origin) {
    const Family* family = sass::family_of(code.target.sm);
    if (family == nullptr)
        throw Error(std::string(origin) + ": the instructions of sm_" + std::to_string(code.target.sm) +
                    " are not known; known: " + known_architectures());
    if (code.bytes.size() % sass::kInstructionBytes != 0)
        throw Error(std::string(origin) +
                    ": damaged: a kernel's code ends inside an instruction; get an intact copy of the file");
    InstructionMix mix;
    mix.sm = code.target.sm;
    mix.arch_specific = code.target.arch_specific;
    std::vector<uint64_t> counts(family->size());
    const size_t end = code_end(code, *family);
    for (size_t at = 0; at < end; at += sass::kInstructionBytes) {
        const Word word = word_at(code, at);
        const uint16_t index = family->find(word);
        if (index == Family::kUnknown) {
            ++mix.unknown;
            if (std::find(mix.unknown_opcodes.begin(), mix.unknown_opcodes.end(), word.opcode()) ==
                mix.unknown_opcodes.end())
                mix.unknown_opcodes.push_back(word.opcode());
            continue;
        }
        ++counts[index];
        if (family->mnemonic(index).kind == InstructionClass::special && sass::mufu_function(word) == kEx2)
            ++mix.exponentials;
    }
    mix.total = end / sass::kInstructionBytes;
    mix.padding = (code.bytes.size() - end) / sass::kInstructionBytes;
    for (uint16_t i = 0; i < counts.size(); ++i)
        if (counts[i] != 0)
            mix.by_mnemonic.push_back({family->mnemonic(i).name, family->mnemonic(i).kind, counts[i]});
    std::sort(mix.by_mnemonic.begin(), mix.by_mnemonic.end(), [](const auto& a, const auto& b) {
        return a.count != b.count ? a.count > b.count : a.mnemonic < b.mnemonic;
    });
    count_spills(code, *family, mix);
    return mix;
}

KernelMixes::KernelMixes(const std::string& library, int major, int minor)
    : library_(library), sm_(major * 10 + minor) {
    try {
        code_.emplace(library, major, minor);
    } catch (const Error& e) {
        absent_ = e.what();
    }
}

template <class Get>
KernelMix KernelMixes::answer(std::string_view mangled, Get get) {
    if (!code_) return {std::nullopt, absent_};
    std::optional<KernelCode> code;
    try {
        code = get();
        if (code) return {instruction_mix(*code, library_), {}, true};
    } catch (const Error& e) {
        return {std::nullopt, e.what(), code.has_value()};
    }
    return {std::nullopt,
            library_ + " holds no code of \"" + printable(mangled) + "\" for sm_" + std::to_string(sm_)};
}

void KernelMixes::search_until(std::chrono::steady_clock::time_point deadline) {
    if (code_) code_->search_until(deadline);
}

KernelMix KernelMixes::of(std::string_view mangled) {
    return answer(mangled, [&] { return code_->find(mangled); });
}

KernelMix KernelMixes::of(const KernelResources& kernel) {
    return answer(kernel.name, [&] { return code_->at(kernel.cubin, kernel.name); });
}

KernelMix instruction_mix(const std::string& library, std::string_view mangled, int major, int minor) {
    return KernelMixes(library, major, minor).of(mangled);
}

}  // namespace attnscope
