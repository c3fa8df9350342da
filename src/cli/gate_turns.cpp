#include "gate_turns.h"

#include <filesystem>
#include <iostream>

#include "attnscope/import.h"
#include "attnscope/launch.h"
#include "attnscope/redact.h"
#include "attnscope/rules.h"

namespace attnscope::cli {
namespace {

std::string folder_of(const TurnsRequest& request, gate::Side side, size_t number) {
    return (std::filesystem::path(request.output) / gate::to_string(side) / std::to_string(number)).string();
}

const std::string& command_of(const TurnsRequest& request, gate::Side side) {
    return side == gate::Side::before ? request.before : request.after;
}

}  // namespace

gate::GateFacts facts_of_run(const std::string& folder) {
    const Run run = open_run(folder);
    const Analysis analysis = analyze(run);
    return gate::facts_of(run, analysis, find_all(analysis));
}

gate::Sides collect_in_turns(const TurnsRequest& request) {
    const bool timed = !choose_ground(request.device).is_virtual;
    const size_t repeat = request.repeat > 0 ? request.repeat : timed ? kTimedRuns : 1;
    return gate::run_in_turns(repeat, [&](gate::Side side, size_t number) {
        std::cerr << "attnscope: " << gate::to_string(side) << ", run " << number << " of " << repeat << '\n';
        CollectRequest collected;
        collected.command = {"/bin/sh", "-c", "exec >&2\n" + command_of(request, side)};
        collected.output = folder_of(request, side, number);
        collected.device = request.device;
        collected.replace = true;  // the same command again is the same experiment again
        collected.quiet = true;
        return facts_of_run(collect(collected).folder);
    });
}

gate::GateContext context_of(const TurnsRequest& request, const gate::Sides& sides) {
    gate::GateContext context;
    context.before = redact_command({request.before}).front();
    context.after = redact_command({request.after}).front();
    for (size_t n = 1; n <= sides.after.runs; ++n)
        context.runs.push_back(folder_of(request, gate::Side::after, n));
    return context;
}

}  // namespace attnscope::cli
