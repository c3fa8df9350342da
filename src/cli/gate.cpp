// attnscope gate RUN... --baseline FILE [--policy FILE], --write-baseline FILE --reason TEXT, --self-test;
// attnscope gate --before CMD --after CMD
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "attnscope/error.h"
#include "attnscope/gate.h"
#include "attnscope/gate_self_test.h"
#include "attnscope/render_gate.h"
#include "command.h"
#include "gate_turns.h"
#include "output.h"
#include "terminal.h"
#include "write_file.h"

namespace attnscope::cli {
namespace {

struct Options {
    std::vector<std::string> runs;
    std::string baseline, policy, write_baseline, reason, format = "text", id = "gate";
    std::string junit, sarif, json, markdown;
    bool details = false, github = false, self_test = false;
    TurnsRequest turns;
};

/// A file under the working directory as it is named from there: so a code host finds it in the repository.
std::string from_here(const std::string& file) {
    const std::filesystem::path path(file);
    if (!path.is_absolute()) return file;
    std::error_code error;
    const auto here = std::filesystem::current_path(error);
    const auto relative = error ? std::filesystem::path() : path.lexically_normal().lexically_relative(here);
    return relative.empty() || *relative.begin() == ".." ? file : relative.string();
}

gate::GateFacts read_facts(const std::vector<std::string>& folders) {
    std::vector<gate::GateFacts> facts;
    for (const std::string& folder : folders) facts.push_back(facts_of_run(folder));
    return gate::join(std::move(facts));
}

/// The difference first, then the file, whole or not at all.
int write_baseline(const Options& o, gate::GateFacts facts) {
    if (o.reason.empty())
        throw Error("--write-baseline needs --reason TEXT: who reviews the change must know why it is right");
    check_output_file(o.write_baseline);
    std::vector<std::string> unfit = facts.unusable;
    unfit.insert(unfit.end(), facts.lost.begin(), facts.lost.end());
    if (!unfit.empty()) throw Error("no baseline was written: " + unfit.front(), Exit::cannot_judge);
    const gate::Baseline after{o.reason, std::move(facts)};
    std::error_code error;
    if (std::filesystem::exists(o.write_baseline, error)) {
        const std::vector<std::string> lines = gate::difference(gate::load_baseline(o.write_baseline), after);
        for (const std::string& line : lines) std::cout << render_line(line) << '\n';
        if (lines.empty()) std::cout << "nothing changes but the reason\n";
    }
    write_file(o.write_baseline, gate::to_json(after));
    std::cout << "wrote " << o.write_baseline << ": review it as a diff and commit it\n";
    return static_cast<int>(Exit::success);
}

int prove_it_fails(const gate::GateFacts& facts, const gate::Policy& policy) {
    const gate::SelfTest test = gate::self_test(facts, policy);
    const auto say = [](const std::string& line) { std::cout << render_line(line) << '\n'; };
    for (const std::string& one : test.missed) say("not seen: " + one);
    for (const std::string& one : test.cannot_fail) say("cannot fail: " + one);
    for (const gate::Verdict& v : test.same.verdicts)
        if (v.outcome == gate::Outcome::worse) say("worse than itself: " + v.sentence);
    for (const gate::Noise& n : test.noise)
        if (n.beyond()) say("within the noise: " + n.sentence());
    if (facts.runs == 1)
        say("one run has no noise to measure: give several for bounds");
    else if (const std::string bounds = test.policy(); !bounds.empty())
        std::cout << "# what the noise of these " << facts.runs << " runs does not reach\n" << bounds;
    std::cout << (test.passed() ? "the gate can fail: "
                  : test.sees() ? "THE GATE CRIES WOLF, bounds are within the noise: "
                                : "THE GATE IS BROKEN: ")
              << test.worsened - test.missed.size() << " of " << test.worsened
              << " worsened values were seen\n";
    return static_cast<int>(test.passed()        ? Exit::success
                            : test.worsened == 0 ? Exit::cannot_judge
                                                 : Exit::regression);
}

/// GitHub shows annotations from standard output, and the summary from a file that it names. A fork's pull
/// request cannot be commented; its summary can be written.
void tell_github(const gate::GateResult& result, const std::string& id) {
    std::cout << render_gate_annotations(result);
    const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
    if (!summary || !*summary) return;
    std::ofstream out(summary, std::ios::app | std::ios::binary);
    out << render_gate_markdown(result, id, kCommentLimit);
    if (!out.flush()) std::cerr << "attnscope: the step summary " << summary << " cannot be written\n";
}

gate::GateResult judge_runs(const Options& o, const gate::Policy& policy) {
    if (!o.turns.before.empty()) {
        const gate::Sides sides = collect_in_turns(o.turns);
        return gate::judge(sides.after, &sides.before, policy, context_of(o.turns, sides));
    }
    bool absolute = false;
    for (const gate::Limit& limit : policy.limits) absolute = absolute || limit.absolute();
    if (o.baseline.empty() && !absolute)
        throw Error(
            "there is nothing to gate against: name a baseline with --baseline, or a policy with absolute "
            "limits (at_most, at_least, is, not) with --policy");
    gate::Baseline baseline;
    if (!o.baseline.empty()) baseline = gate::load_baseline(o.baseline);
    return gate::judge(read_facts(o.runs), o.baseline.empty() ? nullptr : &baseline, policy,
                       {from_here(o.baseline), o.runs});
}

/// Runs that are there, or two commands that make them.
void check(const Options& o) {
    const bool turns = !o.turns.before.empty();
    if (turns != !o.turns.after.empty())
        throw Error("--before and --after name the two sides that are run in turns: give both");
    if (!turns && o.runs.empty())
        throw Error("name the folder of a run, or two commands with --before and --after");
    if (turns && (!o.runs.empty() || !o.baseline.empty() || !o.write_baseline.empty() || o.self_test))
        throw Error(
            "--before and --after make the runs that they compare: they go without a run, --baseline, "
            "--write-baseline and --self-test");
}

int run(const Options& o) {
    check(o);
    for (const std::string* file : {&o.junit, &o.sarif, &o.json, &o.markdown})
        if (!file->empty()) check_output_file(*file);
    const gate::Policy policy = o.policy.empty() ? gate::Policy() : gate::load_policy(from_here(o.policy));
    if (!o.write_baseline.empty()) return write_baseline(o, read_facts(o.runs));
    if (o.self_test) return prove_it_fails(read_facts(o.runs), policy);
    const gate::GateResult result = judge_runs(o, policy);
    if (!o.junit.empty()) write_file(o.junit, render_gate_junit(result));
    if (!o.sarif.empty()) write_file(o.sarif, render_gate_sarif(result));
    if (!o.json.empty()) write_file(o.json, render_gate_json(result));
    if (!o.markdown.empty()) write_file(o.markdown, render_gate_markdown(result, o.id));
    TextOptions text = terminal_options(true);
    text.details = o.details;
    std::cout << (o.format == "md"      ? render_gate_markdown(result, o.id)
                  : o.format == "json"  ? render_gate_json(result)
                  : o.format == "junit" ? render_gate_junit(result)
                  : o.format == "sarif" ? render_gate_sarif(result)
                                        : render_gate_text(result, text));
    if (o.github) tell_github(result, o.id);
    flush_output();
    return static_cast<int>(result.exit);
}

}  // namespace

Action define_gate(CLI::App& app) {
    auto o = std::make_shared<Options>();
    app.add_option("run", o->runs, "folders of runs of one program; several give spread");
    app.add_option("--baseline", o->baseline, "the baseline to hold the runs against");
    app.add_option("--before", o->turns.before,
                   "a command for the shell; run in turns with --after's, and what that is held against")
        ->type_name("CMD");
    app.add_option("--after", o->turns.after, "the command that is judged")->type_name("CMD");
    app.add_option("--repeat", o->turns.repeat,
                   "runs of each side (10; on a virtual GPU, which has no times, 1)")
        ->check(CLI::Range(1, 1000));
    app.add_option("--device", o->turns.device, "of --before and --after: auto, real or virtual:NAME")
        ->capture_default_str();
    app.add_option("-o,--output", o->turns.output, "folder for the runs of --before and --after")
        ->capture_default_str();
    app.add_option("--policy", o->policy, "TOML: what may change, and absolute limits");
    app.add_option("--write-baseline", o->write_baseline, "show what changes, and write this baseline");
    app.add_option("--reason", o->reason, "why the baseline is right: kept in it");
    app.add_flag("--self-test", o->self_test,
                 "worsen every gated value: does the gate see it? And propose bounds");
    app.add_option("--format", o->format, "on standard output: text, md, json, junit or sarif")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "md", "json", "junit", "sarif"}));
    app.add_flag("--details", o->details, "text: also what holds");
    app.add_option("--markdown", o->markdown, "also write the pull request's comment to this file");
    app.add_option("--junit", o->junit, "also write JUnit XML");
    app.add_option("--sarif", o->sarif, "also write SARIF 2.1.0");
    app.add_option("--json", o->json, "also write JSON (schema/verdict.schema.json)");
    app.add_flag("--github", o->github, "also print annotations, and append to $GITHUB_STEP_SUMMARY");
    app.add_option("--id", o->id, "tells comments of several gates on one pull request apart")
        ->capture_default_str();
    app.description(app.get_description() +
                    "\n\n  attnscope gate RUN... --baseline FILE\n  attnscope gate --before CMD --after CMD");
    return [o] { return run(*o); };
}

}  // namespace attnscope::cli
