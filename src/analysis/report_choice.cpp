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
        r.cells = {words_cell(name), words_cell(words::backend_answer(*backend, choice.chosen)),
                   value_cell(hidden_bytes(*backend, ground))};
        table.rows.push_back(std::move(r));
    }
    return table;
}

/// The program left one backend on: what LibTorch says of the others is that they are off.
bool is_forced(const AttentionChoice& choice) {
    return std::all_of(
        choice.backends.begin(), choice.backends.end(), [&](const AttentionChoice::Backend& b) {
            return b.name == choice.chosen ||
                   (!b.refused.empty() && b.refused.front().find("runtime disabled") != std::string::npos);
        });
}

/// One row a call, instead of a table that says "disabled" of all others.
Table forced_table(const std::vector<Signature>& calls, Ground ground) {
    Table table;
    table.id = "choice-forced";
    table.title = "Where the program left one backend on";
    table.columns = {
        {"call", "call", "", "", false},
        {"answer", "LibTorch's answer", "The others are switched off by the program.", "", false},
        {"hidden_bytes", "allocated around its kernel",
         "Bytes of copies and conversions that scaled_dot_product_attention makes before and after "
         "it.",
         "", false}};
    for (const Signature& s : calls)
        for (const auto& backend : s.call->choice.backends) {
            if (backend.name != s.call->choice.chosen) continue;
            Row r;
            r.id = std::to_string(table.rows.size() + 1);
            r.cells = {words_cell(s.implementations.empty() ? "a call that launched nothing"
                                                            : words::join(s.implementations),
                                  words::attention_inputs(s.call->inputs)),
                       words_cell(backend.name + ", " + words::backend_answer(backend, backend.name)),
                       value_cell(hidden_bytes(backend, ground))};
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
    std::vector<Signature> forced, free;
    for (Signature& s : signatures(a)) (is_forced(s.call->choice) ? forced : free).push_back(std::move(s));
    if (!a.choice.chosen.empty() && free.empty())
        if (Table table = marked_table(a.choice); !table.rows.empty())
            section.tables.push_back(std::move(table));
    for (size_t i = 0; i < std::min(free.size(), kMostCalls); ++i)
        if (Table table = call_table(free[i], i + 1, a.ground); !table.rows.empty())
            section.tables.push_back(std::move(table));
    if (free.size() > kMostCalls)
        section.sentence += " The first " + words::number(double(kMostCalls)) + " of " +
                            words::number(double(free.size())) + " different calls.";
    if (forced.size() > kMostCalls) forced.resize(kMostCalls, forced.front());
    if (Table table = forced_table(forced, a.ground); !table.rows.empty())
        section.tables.push_back(std::move(table));
    return section;
}

}  // namespace attnscope::parts
