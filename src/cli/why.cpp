#include "why.h"

#include <algorithm>

#include "attnscope/error.h"

namespace attnscope::cli {
namespace {

using nlohmann::json;

constexpr size_t kIndent = 13;

/// What taking an obstacle away means, after "without ...".
std::string without(const std::string& removed) {
    static const std::pair<const char*, const char*> words[] = {
        {"device", "with all tensors on the GPU"},
        {"rank", "with four dimensions"},
        {"mask", "without the mask"},
        {"dtype", "in bf16"},
        {"head-dim", "with a head dimension of 64"},
        {"heads", "with as many key and value heads as query heads"},
        {"strides", "with dense tensors"},
        {"causal", "without is_causal"},
        {"dropout", "without dropout"},
        {"gradients", "without gradients"},
        {"length", "with longer sequences"},
    };
    for (const auto& [code, text] : words)
        if (removed == code) return text;
    return "without: " + removed;
}

std::string work(const std::string& code) {
    static const std::pair<const char*, const char*> words[] = {
        {"pad-head-dim", "query, key and value are copied to pad the head dimension to a multiple of 8"},
        {"convert-mask", "the boolean mask is converted to an additive one"},
        {"pad-mask", "the mask is copied to align its rows"},
        {"repeat-heads", "keys and values are repeated for each query head"},
        {"upcast", "query, key and value are copied to fp32"},
        {"causal-mask", "the causal mask is built"},
        {"contiguous", "tensors are copied to be contiguous"},
    };
    for (const auto& [known, text] : words)
        if (code == known) return text;
    return code;
}

std::string bytes(uint64_t count) {
    std::string digits = std::to_string(count);
    for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
    return digits + " bytes";
}

/// Words on lines of at most `width`, all but the first indented.
void wrap(std::string& out, const std::string& first, const std::string& text, size_t width) {
    out += first;
    size_t column = first.size();
    bool begun = false;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(' ', at), text.size());
        if (begun && column + 1 + (end - at) > width) {
            out += '\n' + std::string(kIndent, ' ');
            column = kIndent;
        } else if (begun) {
            out += ' ';
            ++column;
        }
        out.append(text, at, end - at);
        column += end - at;
        begun = true;
        at = end + 1;
    }
    out += '\n';
}

std::vector<std::string> lines_of(const json& backend, const std::string& chosen) {
    const auto refused = backend.value("refused", std::vector<std::string>());
    const auto removed = backend.value("removed", std::vector<std::string>());
    std::vector<std::string> lines;
    if (refused.empty()) {
        lines.push_back(backend.value("name", "") == chosen ? "chosen" : "would take it");
        for (const json& one : backend.value("hidden", json::array()))
            lines.push_back("around its kernel: " + work(one.value("code", "")) + " (" +
                            bytes(one.value("bytes", uint64_t{0})) + ")");
        return lines;
    }
    lines.push_back("refused: " + refused.front());
    std::string condition;
    for (size_t i = 0; i < removed.size(); ++i) {
        condition += (i > 0 ? ", " : "") + without(removed[i]);
        lines.push_back(condition + (i + 1 < refused.size() ? " it would then be refused: " + refused[i + 1]
                                                            : " it would take it"));
    }
    return lines;
}

std::string problem_words(const json& p) {
    const auto number = [&](const char* key) { return std::to_string(p.value(key, int64_t{0})); };
    std::string text =
        p.value("dtype", "?") + ", batch " + number("batch") + ", " + number("heads") + " heads";
    if (p.value("kv_heads", int64_t{0}) != p.value("heads", int64_t{0}))
        text += " (" + number("kv_heads") + " for keys and values)";
    text += ", " + number("query_length") + " queries, " + number("key_length") + " keys, head dimension " +
            number("head_dim");
    if (p.value("causal", false)) text += ", causal";
    if (const std::string mask = p.value("mask", "none"); mask != "none") text += ", " + mask + " mask";
    if (p.value("transposed", false)) text += ", transposed views";
    if (p.value("backward", false)) text += ", with gradients";
    return text;
}

/// The content of the last mark `attnscope.KIND {JSON}`; null when there is none.
json last_mark(const Run& run, const std::string& kind) {
    const std::string prefix = "attnscope." + kind + ' ';
    json found;
    for (const Process& process : run.processes)
        for (const Mark& mark : process.marks)
            if (mark.name.rfind(prefix, 0) == 0)
                found = json::parse(mark.name.begin() + static_cast<ptrdiff_t>(prefix.size()),
                                    mark.name.end(), nullptr, false);
    return found.is_object() ? found : json();
}

}  // namespace

nlohmann::json why_json(const Run& run) {
    json why = {{"problem", last_mark(run, "workload")}, {"choice", last_mark(run, "choice")}};
    if (why["choice"].is_null())
        throw Error("the workload did not say what LibTorch chooses: its own words are above");
    why["ground"] = run.ground == Ground::virtual_gpu ? "virtual" : "real";
    why["device"] = run.devices.empty() ? "" : run.devices.front();
    for (const Process& process : run.processes)
        if (!process.devices.empty() && run.devices.empty()) why["device"] = process.devices.front().name;
    return why;
}

std::string why_text(const json& why, size_t width) {
    const json& choice = why.at("choice");
    const std::string chosen = choice.value("chosen", "none");
    std::string out;
    wrap(out, "", "scaled_dot_product_attention: " + problem_words(why.at("problem")), width);
    std::string order;
    for (const std::string& name : choice.value("order", std::vector<std::string>()))
        order += (order.empty() ? "" : ", ") + name;
    wrap(out, "",
         "On " + std::string(why.at("ground") == "virtual" ? "virtual GPU " : "") + why.value("device", "") +
             ", LibTorch " + why.at("problem").value("torch", "") +
             (chosen == "none" ? " has no backend for it." : " chooses " + chosen + ".") +
             " Its order of priority there: " + order + ".",
         width);
    out += '\n';
    json backends = choice.value("backends", json::array());
    if (backends.empty())  // the Python workload asks for the first reasons alone
        for (const char* name : {"flash", "efficient", "cudnn"})
            backends.push_back(
                {{"name", name},
                 {"refused", choice["refused"].contains(name) ? json::array({choice["refused"][name]})
                                                              : json::array()}});
    for (const json& backend : backends) {
        std::string first = "  " + backend.value("name", "");
        first.resize(kIndent, ' ');
        for (const std::string& line : lines_of(backend, chosen)) {
            wrap(out, first, line, width);
            first.assign(kIndent, ' ');
        }
    }
    return out;
}

}  // namespace attnscope::cli
