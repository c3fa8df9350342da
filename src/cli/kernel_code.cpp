#include "kernel_code.h"

#include <algorithm>

#include "attnscope/kernel_name.h"
#include "kernel_table.h"

namespace attnscope::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string tile_words(const AttentionKernelName& name) {
    if (!name.tile.empty()) return "tile " + name.tile;
    if (!name.block_queries || !name.block_keys) return "";
    std::string words = name.head_dim ? "head dim " + std::to_string(*name.head_dim) + ", " : "";
    words += "tile " + std::to_string(*name.block_queries) + "x" + std::to_string(*name.block_keys);
    if (name.warps) words += ", " + std::to_string(*name.warps) + " warps";
    return words;
}

std::string local_words(const InstructionMix& mix) {
    const uint64_t stores = mix.count(InstructionClass::local_store),
                   loads = mix.count(InstructionClass::local_load);
    if (stores + loads == 0) return "";
    const bool all_spills = mix.spill_stores == stores && mix.spill_loads == loads;
    return std::string(all_spills ? "spills: " : "local memory: ") + std::to_string(stores) + " stores, " +
           std::to_string(loads) + " loads";
}

/// "a, b, c" in lines of at most `width`, each behind `indent`.
std::string wrapped(const std::vector<std::string>& words, const std::string& indent, size_t width) {
    std::string text, line = indent;
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
        if (line.size() > indent.size() && line.size() + 1 + word.size() > width) {
            text += line + '\n';
            line = indent;
        }
        line += (line.size() > indent.size() ? " " : "") + word;
    }
    return text + line + '\n';
}

/// A sentence in lines of at most `width`.
std::string folded(const std::string& sentence, size_t width) {
    std::string text, line = "    ";
    for (size_t begin = 0; begin < sentence.size();) {
        const size_t end = std::min(sentence.find(' ', begin), sentence.size());
        const std::string word = sentence.substr(begin, end - begin);
        if (line.size() > 6 && line.size() + 1 + word.size() > width) {
            text += line + '\n';
            line = "      ";
        }
        line += (line.back() == ' ' ? "" : " ") + word;
        begin = end + 1;
    }
    return text + line + '\n';
}

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
    if (value) json[key] = *value;
}

Json name_json(const AttentionKernelName& name) {
    Json json;
    json["library"] = to_string(name.library);
    json["part"] = to_string(name.part);
    if (!name.element.empty()) json["element"] = name.element;
    put(json, "sm", name.sm);
    put(json, "head_dim", name.head_dim);
    put(json, "head_dim_v", name.head_dim_v);
    put(json, "block_queries", name.block_queries);
    put(json, "block_keys", name.block_keys);
    put(json, "warps", name.warps);
    put(json, "dropout", name.dropout);
    put(json, "causal", name.causal);
    put(json, "local", name.local);
    put(json, "alibi", name.alibi);
    put(json, "softcap", name.softcap);
    put(json, "even_mn", name.even_mn);
    put(json, "even_k", name.even_k);
    put(json, "split", name.split);
    put(json, "append_kv", name.append_kv);
    put(json, "varlen", name.varlen);
    put(json, "aligned", name.aligned);
    put(json, "output_in_registers", name.output_in_registers);
    put(json, "sequence_aligned", name.sequence_aligned);
    put(json, "knob", name.knob);
    for (const auto& [key, text] :
         {std::pair("instruction", &name.instruction), std::pair("tile", &name.tile),
          std::pair("warp_layout", &name.warp_layout), std::pair("cluster", &name.cluster)})
        if (!text->empty()) json[key] = *text;
    if (const Value bytes = expected_shared_bytes(name); bytes) {
        json["expected_dynamic_shared_bytes"] = static_cast<uint64_t>(*bytes.number);
        json["expected_dynamic_shared_bytes_formula"] = bytes.formula;
    }
    return json;
}

Json mix_json(const InstructionMix& mix, bool mnemonics) {
    Json json;
    json["instructions"] = mix.total;
    json["unknown_instructions"] = mix.unknown;
    json["tensor"] = {{"mma_sync", mix.count(InstructionClass::mma)},
                      {"wgmma", mix.count(InstructionClass::wgmma)},
                      {"tcgen05", mix.count(InstructionClass::tcgen05)}};
    json["exponentials"] = mix.exponentials;
    json["local_loads"] = mix.count(InstructionClass::local_load);
    json["local_stores"] = mix.count(InstructionClass::local_store);
    json["spill_loads"] = mix.spill_loads;
    json["spill_stores"] = mix.spill_stores;
    json["says"] = sentences(mix);
    if (!mnemonics) return json;
    json["padding"] = mix.padding;
    Json classes = Json::object(), each = Json::object();
    for (const InstructionCount& entry : mix.by_mnemonic) {
        Json& sum = classes[to_string(entry.kind)];
        sum = (sum.is_null() ? 0 : sum.get<uint64_t>()) + entry.count;
        each[std::string(entry.mnemonic)] = entry.count;
    }
    if (mix.unknown > 0) {
        classes["unknown"] = mix.unknown;
        json["unknown_opcodes"] = mix.unknown_opcodes;
    }
    json["classes"] = std::move(classes);
    json["mnemonics"] = std::move(each);
    return json;
}

}  // namespace

std::string code_line(const std::string& full_name, const KernelMix& code) {
    std::string line;
    const auto add = [&](const std::string& words) {
        if (!words.empty()) line += (line.empty() ? "" : "; ") + words;
    };
    if (const auto name = attention_kernel_name(full_name)) add(tile_words(*name));
    if (!code.mix) return line;
    if (const std::string tensor = tensor_words(*code.mix); tensor != "none")
        add(tensor == "?" ? std::to_string(code.mix->unknown) + " unknown instructions" : tensor);
    add(local_words(*code.mix));
    return line;
}

std::string mix_block(const std::string& full_name, const KernelMix& code, size_t width) {
    std::string text;
    if (const auto name = attention_kernel_name(full_name)) {
        std::string tile = std::string(to_string(name->library)) + ", " + to_string(name->part);
        if (const std::string words = tile_words(*name); !words.empty()) tile += ": " + words;
        text += folded(tile, width);
        if (const Value bytes = expected_shared_bytes(*name); bytes)
            text += folded("its tile needs " + grouped(static_cast<uint64_t>(*bytes.number)) +
                               " bytes of dynamic shared memory: " + bytes.formula,
                           width);
    }
    if (!code.mix) return text + folded("instructions: " + code.absent, width);
    for (const std::string& sentence : sentences(*code.mix)) text += folded(sentence, width);
    text +=
        "    " + grouped(code.mix->total) + " instructions in its code (how often they run is not known):\n";
    std::vector<std::string> words;
    for (const InstructionCount& entry : code.mix->by_mnemonic)
        words.push_back(std::to_string(entry.count) + " " + std::string(entry.mnemonic));
    if (code.mix->unknown > 0) words.push_back(std::to_string(code.mix->unknown) + " unknown");
    return text + wrapped(words, "      ", width);
}

void add_code_json(Json& kernel, const std::string& full_name, const KernelMix& code, bool mnemonics) {
    if (const auto name = attention_kernel_name(full_name)) kernel["attention"] = name_json(*name);
    if (code.mix) {
        kernel["code"] = mix_json(*code.mix, mnemonics);
        return;
    }
    kernel["code"] = nullptr;
    kernel["code_absent"] = code.absent;
}

}  // namespace attnscope::cli
