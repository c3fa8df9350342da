#include "why.h"

#include <algorithm>

#include "analysis/choice_words.h"
#include "attnscope/error.h"

namespace attnscope::cli {
namespace {

using nlohmann::json;

constexpr size_t kIndent = 13;

std::string bytes(uint64_t count) {
    std::string digits = std::to_string(count);
    for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
    return digits + " bytes";
}

/// Words on lines of at most `width`, the further ones below the first one's text.
void wrap(std::string& out, const std::string& first, const std::string& text, size_t width) {
    out += first;
    const size_t indent = first.size();
    size_t column = indent;
    bool begun = false;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(' ', at), text.size());
        if (begun && column + 1 + (end - at) > width) {
            out += '\n' + std::string(indent, ' ');
            column = indent;
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
            lines.push_back("around its kernel: " + words::hidden_work(one.value("code", "")) + " (" +
                            bytes(one.value("bytes", uint64_t{0})) + ")");
        return lines;
    }
    lines.push_back("refused: " + refused.front());
    std::string condition;
    for (size_t i = 0; i < removed.size(); ++i) {
        condition += (i > 0 ? ", " : "") + words::without_obstacle(removed[i]);
        lines.push_back(condition + (i + 1 < refused.size() ? " it would then be refused: " + refused[i + 1]
                                                            : " it would take it"));
    }
    return lines;
}

std::string mask_words(const std::string& mask) {
    if (mask == "none") return {};
    if (mask == "bool") return ", boolean mask";
    if (mask == "expanded") return ", boolean mask expanded over batch and heads";
    if (mask == "repeated") return ", boolean mask repeated for each batch and head";
    return ", " + mask + " mask";
}

std::string problem_words(const json& p) {
    if (p.empty()) return "a problem that the workload did not describe";
    const auto number = [&](const char* key) { return std::to_string(p.value(key, int64_t{0})); };
    std::string text =
        p.value("dtype", "?") + ", batch " + number("batch") + ", " + number("heads") + " heads";
    if (p.value("kv_heads", int64_t{0}) != p.value("heads", int64_t{0}))
        text += " (" + number("kv_heads") + " for keys and values)";
    text += ", " + number("query_length") + " queries, " + number("key_length") + " keys, head dimension " +
            number("head_dim");
    if (p.value("causal", false)) text += ", causal";
    text += mask_words(p.value("mask", "none"));
    if (p.value("transposed", false)) text += ", transposed views";
    if (const int64_t stride = p.value("last_stride", int64_t{1}); stride != 1)
        text += ", last stride " + std::to_string(stride);
    if (p.value("contiguous", false)) text += ", copied to be contiguous before";
    if (p.value("repeat_kv", false)) text += ", keys and values repeated before";
    if (p.value("backward", false)) text += ", with gradients";
    if (p.value("dropout", 0.0) > 0) text += ", dropout " + json(p["dropout"]).dump();
    if (p.value("deterministic", false)) text += ", deterministic algorithms";
    if (p.value("reduced_precision_math", false)) text += ", reduced-precision math allowed";
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

std::string text_of(const json& why, size_t width) {
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
             (order.empty() ? "" : " Its order of priority there: " + order + "."),
         width);
    out += '\n';
    json backends = choice.value("backends", json::array());
    const json refused = choice.value("refused", json::object());
    if (backends.empty())  // the Python workload asks for the first reasons alone
        for (const char* name : {"flash", "efficient", "cudnn", "math"})
            backends.push_back(
                {{"name", name},
                 {"refused", refused.contains(name) ? json::array({refused[name]}) : json::array()}});
    const auto names = choice.value("order", std::vector<std::string>());
    const auto place = [&](const json& backend) {
        return std::find(names.begin(), names.end(), backend.value("name", "")) - names.begin();
    };
    std::vector<json> in_order = backends.get<std::vector<json>>();
    std::stable_sort(in_order.begin(), in_order.end(),
                     [&](const json& a, const json& b) { return place(a) < place(b); });
    for (const json& backend : in_order) {
        std::string first = "  " + backend.value("name", "");
        first.resize(kIndent, ' ');
        for (const std::string& line : lines_of(backend, chosen)) {
            wrap(out, first, line, width);
            first.assign(kIndent, ' ');
        }
    }
    return out;
}

}  // namespace

nlohmann::json why_json(const Run& run) {
    json why = {{"problem", last_mark(run, "workload")}, {"choice", last_mark(run, "choice")}};
    if (why["problem"].is_null()) why["problem"] = json::object();
    if (why["choice"].is_null())
        throw Error("the workload did not say what LibTorch chooses: its own words are above");
    why["ground"] = run.ground == Ground::virtual_gpu ? "virtual" : "real";
    why["device"] = run.devices.empty() ? "" : run.devices.front();
    for (const Process& process : run.processes)
        if (!process.devices.empty() && run.devices.empty()) why["device"] = process.devices.front().name;
    return why;
}

std::string why_text(const json& why, size_t width) {
    try {
        return text_of(why, width);
    } catch (const json::exception&) {
        throw Error(
            "the workload's mark attnscope.choice holds something else than schema/README.md says: use the "
            "workload of this attnscope");
    }
}

}  // namespace attnscope::cli
