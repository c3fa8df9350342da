#include "attnscope/error.h"
#include "attnscope/gate_turns.h"

namespace attnscope::gate {
namespace {

std::string of_run(Side side, size_t number) {
    return std::string(to_string(side)) + ", run " + std::to_string(number) + ": ";
}

void name_the_run(std::vector<std::string>& texts, const std::string& run) {
    for (std::string& text : texts) text.insert(0, run);
}

void append(std::vector<std::string>& into, const std::vector<std::string>& from) {
    into.insert(into.end(), from.begin(), from.end());
}

}  // namespace

const char* to_string(Side side) {
    return side == Side::before ? "before" : "after";
}

std::vector<Side> turns(size_t repeat) {
    std::vector<Side> out;
    for (size_t i = 0; i < repeat; ++i) {
        const bool swapped = i % 2 == 1;
        out.push_back(swapped ? Side::after : Side::before);
        out.push_back(swapped ? Side::before : Side::after);
    }
    return out;
}

Sides run_in_turns(size_t repeat, const std::function<GateFacts(Side side, size_t number)>& run) {
    if (repeat == 0) throw Error("nothing to run: each side needs at least one run");
    std::vector<GateFacts> before, after;
    GateFacts failed;  // the run that ended it
    for (const Side side : turns(repeat)) {
        std::vector<GateFacts>& runs = side == Side::before ? before : after;
        GateFacts facts = run(side, runs.size() + 1);
        const std::string which = of_run(side, runs.size() + 1);
        for (auto* texts : {&facts.unusable, &facts.lost, &facts.throttled}) name_the_run(*texts, which);
        if (!facts.unusable.empty()) {
            failed = std::move(facts);
            break;
        }
        runs.push_back(std::move(facts));
    }
    // A side without a run has nothing of its own to differ in.
    GateFacts other = !before.empty() ? before.front() : !after.empty() ? after.front() : failed;
    for (auto* texts : {&other.unusable, &other.lost, &other.throttled}) texts->clear();
    for (auto* runs : {&before, &after})
        if (runs->empty()) runs->push_back(other);
    Sides out{{"run in turns", join(std::move(before))}, join(std::move(after))};
    for (const GateFacts* facts : {&failed, &out.before.facts}) {
        append(out.after.unusable, facts->unusable);
        append(out.after.lost, facts->lost);
        append(out.after.throttled, facts->throttled);
    }
    return out;
}

}  // namespace attnscope::gate
