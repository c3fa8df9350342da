#include "calls.h"

#include <algorithm>

namespace attnscope {
namespace {

/// The reason why the collector recorded no operations; nullptr when it gave none.
const Diagnostic* operations_diagnostic(const std::vector<Diagnostic>& diagnostics) {
    for (const Diagnostic& d : diagnostics)
        for (const char* code :
             {"operations-off", "operations-absent", "operations-other-libtorch", "operations-failed"})
            if (d.code == code) return &d;
    return nullptr;
}

}  // namespace

CallFinder::CallFinder(const Process& process)
    : process_(process), choice_of_(process.operations.size(), kNone), calls_(process.choices.size()) {
    for (uint32_t i = 0; i < process.choices.size(); ++i)
        if (const uint32_t operation = process.choices[i].operation; operation != kNone)
            choice_of_[operation] = i;
    // Parents come before their children.
    for (uint32_t i = 0; i < choice_of_.size(); ++i)
        if (const uint32_t parent = process.operations[i].parent; choice_of_[i] == kNone && parent != kNone)
            choice_of_[i] = choice_of_[parent];
}

void CallFinder::add(const std::string& implementation, const std::vector<uint32_t>& launches, bool counted) {
    for (const uint32_t l : launches) {
        const uint32_t operation = process_.launches[l].operation;
        if (operation == kNone || choice_of_[operation] == kNone) continue;
        std::vector<AttentionCall>& calls = calls_[choice_of_[operation]];
        const auto known = std::find_if(calls.begin(), calls.end(), [&](const AttentionCall& call) {
            return call.implementation == implementation;
        });
        if (known != calls.end()) {
            known->counted_iteration = known->counted_iteration || counted;
            continue;
        }
        const AttentionChoice& choice = process_.choices[choice_of_[operation]];
        calls.push_back({implementation, process_.operations[choice.operation].inputs, choice, counted});
    }
}

std::vector<AttentionCall> CallFinder::take() {
    std::vector<AttentionCall> out;
    for (size_t i = 0; i < calls_.size(); ++i) {
        const AttentionChoice& choice = process_.choices[i];
        if (calls_[i].empty())
            calls_[i].push_back({{},
                                 choice.operation == kNone ? std::vector<std::string>()
                                                           : process_.operations[choice.operation].inputs,
                                 choice,
                                 false});
        std::move(calls_[i].begin(), calls_[i].end(), std::back_inserter(out));
    }
    return out;
}

std::string why_no_calls(const Run& run) {
    bool launched = false, operations = false;
    for (const Process& process : run.processes) {
        launched = launched || !process.launches.empty();
        operations = operations || !process.operations.empty();
    }
    if (operations) return "LibTorch ran no scaled_dot_product_attention on the GPU";
    if (!launched) return "no launch was recorded";
    for (const Process& process : run.processes)
        if (const Diagnostic* d = operations_diagnostic(process.diagnostics)) return d->message;
    if (const Diagnostic* d = operations_diagnostic(run.diagnostics)) return d->message;
    return "the run holds no operations of LibTorch: the program used none, or an earlier attnscope recorded "
           "it";
}

}  // namespace attnscope
