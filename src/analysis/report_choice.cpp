// Which backend LibTorch chose for each call of scaled_dot_product_attention, and why not the others.
#include <algorithm>

#include "choice_words.h"
#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

constexpr size_t kMostCalls = 20;

bool same(const AttentionChoice& a, const AttentionChoice& b) {
    const auto same_work = [](const auto& x, const auto& y) {
        return x.code == y.code && x.bytes == y.bytes;
    };
    const auto same_backend = [&](const AttentionChoice::Backend& x, const AttentionChoice::Backend& y) {
        return x.name == y.name && x.refused == y.refused && x.removed == y.removed &&
               std::equal(x.hidden.begin(), x.hidden.end(), y.hidden.begin(), y.hidden.end(), same_work);
    };
    return a.chosen == b.chosen && a.order == b.order &&
           std::equal(a.backends.begin(), a.backends.end(), b.backends.begin(), b.backends.end(),
                      same_backend);
}

/// Calls with the same inputs and the same answer.
struct Signature {
    const AttentionCall* call;
    std::vector<std::string> implementations;
};

std::vector<Signature> signatures(const Analysis& a) {
    std::vector<Signature> out;
    for (const AttentionCall& call : a.calls) {
        auto known = std::find_if(out.begin(), out.end(), [&](const Signature& s) {
            return s.call->inputs == call.inputs && same(s.call->choice, call.choice);
        });
        if (known == out.end()) known = out.insert(out.end(), {&call, {}});
        if (!call.implementation.empty() &&
            std::find(known->implementations.begin(), known->implementations.end(), call.implementation) ==
                known->implementations.end())
            known->implementations.push_back(call.implementation);
    }
    return out;
}

std::string chosen_words(const std::string& chosen) {
    return chosen == "none" ? "No backend takes it." : "LibTorch chose " + chosen + ".";
}

/// What the backend's kernel would need around it, in bytes; absent where it would not run.
Value hidden_bytes(const AttentionChoice::Backend& backend, Ground ground) {
    const Provenance reported{Source::reported, ground};
    if (!backend.refused.empty()) return Value::missing("it does not run", Unit::bytes, reported);
    double sum = 0;
    std::vector<std::string> parts;
    for (const auto& work : backend.hidden) {
        sum += double(work.bytes);
        parts.push_back(words::number(double(work.bytes)) + " (" + work.code + ")");
    }
    return Value::of(sum, Unit::bytes, reported, words::join(parts, " + ", " + "));
}

Table call_table(const Signature& s, size_t number, Ground ground) {
    const AttentionChoice& choice = s.call->choice;
    Table table;
    table.id = "choice-" + std::to_string(number);
    table.title = (s.implementations.empty() ? "A call that launched nothing in an implementation"
                                             : words::join(s.implementations)) +
                  ": " + choice.chosen;
    table.sentence = words::attention_inputs(s.call->inputs) + ". " + chosen_words(choice.chosen) +
                     " Its order of priority: " + words::join(choice.order, ", ") + ".";
    if (!s.call->counted_iteration && !s.implementations.empty())
        table.sentence += " Called outside the iterations only.";
    table.columns = {
        {"backend", "backend", "In LibTorch's order of priority.", "", false},
        {"answer", "LibTorch's answer",
         "Its own words. It stops at its first reason: what it would say next was asked again, with that "
         "obstacle taken away.",
         "", false},
        {"hidden_bytes", "allocated around its kernel",
         "Bytes of copies and conversions that scaled_dot_product_attention makes before and after it.", "",
         false}};
    std::vector<std::string> order = choice.order;
    for (const auto& backend : choice.backends)
        if (std::find(order.begin(), order.end(), backend.name) == order.end()) order.push_back(backend.name);
    for (const std::string& name : order) {
        const auto backend = std::find_if(choice.backends.begin(), choice.backends.end(),
                                          [&](const auto& b) { return b.name == name; });
        if (backend == choice.backends.end()) continue;  // "overrideable": for other devices than NVIDIA's
        Row r;
        r.id = name;
        if (!backend->refused.empty()) r.status = RowStatus::refused;
        r.cells = {words_cell(name), words_cell(words::backend_answer(*backend, choice.chosen)),
                   value_cell(hidden_bytes(*backend, ground))};
        table.rows.push_back(std::move(r));
    }
    return table;
}

/// What the program itself asked (schema/README.md, attnscope.choice): first reasons alone.
Table marked_table(const Choice& choice) {
    Table table;
    table.id = "choice";
    table.title = "Left alone, LibTorch chooses " + choice.chosen;
    table.sentence = "Asked of LibTorch with the workload's inputs; nothing forces a backend.";
    table.columns = {
        {"backend", "backend", "In LibTorch's order of priority.", "", false},
        {"answer", "LibTorch's answer", "Its own words; it stops at the first reason.", "", false}};
    std::vector<std::string> order = choice.order;
    for (const auto& [backend, reason] : choice.refused)
        if (std::find(order.begin(), order.end(), backend) == order.end()) order.push_back(backend);
    for (const std::string& backend : order) {
        Row r;
        r.id = backend;
        std::string answer = backend == choice.chosen ? "chosen" : "not asked for: an earlier one is chosen";
        if (const std::string* why = choice.why_not(backend)) {
            r.status = RowStatus::refused;
            answer = "refused: " + *why;
        } else {
            for (const Choice::Hidden& work : choice.hidden)
                if (work.backend == backend)
                    answer += ". Around its kernel " + words::hidden_work(work.code) + ": " +
                              words::bytes(work.bytes);
        }
        r.cells = {words_cell(backend), words_cell(answer)};
        table.rows.push_back(std::move(r));
    }
    return table;
}

}  // namespace

Section choice_section(const Analysis& a) {
    Section section;
    section.id = "choice";
    section.title = "Backend choice";
    section.sentence =
        "Which backend scaled_dot_product_attention runs, and why not the others: LibTorch's own answers, "
        "not "
        "attnscope's.";
    std::vector<Signature> calls = signatures(a);
    const auto unforced = [](const Signature& s) {
        return std::any_of(s.implementations.begin(), s.implementations.end(),
                           [](const std::string& name) { return name.starts_with("sdpa_auto"); });
    };
    std::stable_partition(calls.begin(), calls.end(), unforced);
    if (!a.choice.chosen.empty() && std::none_of(calls.begin(), calls.end(), unforced))
        if (Table table = marked_table(a.choice); !table.rows.empty())
            section.tables.push_back(std::move(table));
    for (size_t i = 0; i < std::min(calls.size(), kMostCalls); ++i)
        if (Table table = call_table(calls[i], i + 1, a.ground); !table.rows.empty())
            section.tables.push_back(std::move(table));
    if (calls.size() > kMostCalls)
        section.sentence += " The first " + words::number(double(kMostCalls)) + " of " +
                            words::number(double(calls.size())) + " different calls.";
    return section;
}

}  // namespace attnscope::parts
