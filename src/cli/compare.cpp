#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attnscope/compare.h"
#include "attnscope/error.h"
#include "attnscope/import.h"
#include "attnscope/render.h"
#include "attnscope/run.h"
#include "command.h"
#include "output.h"
#include "terminal.h"
#include "write_file.h"

namespace attnscope::cli {
namespace {

struct Options {
    std::vector<std::string> runs, pairs;
    std::string format = "text", output = "-", id = "compare";
    bool details = false;
};

std::vector<std::pair<std::string, std::string>> parse(const std::vector<std::string>& pairs) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const std::string& pair : pairs) {
        const size_t colon = pair.find(':');
        const std::string a = pair.substr(0, colon), b = colon == pair.npos ? a : pair.substr(colon + 1);
        if (a.empty() || b.empty())
            throw Error("--pair wants A's name, or A's and B's: sdpa_flash:sdpa_math, not '" + pair + "'");
        out.emplace_back(a, b);
    }
    return out;
}

/// "B", "C" ...: the first is A.
std::string name_of(size_t run) {
    return std::string(1, static_cast<char>('A' + run));
}
constexpr size_t kMostRuns = 26;

int run(const Options& o) {
    if (o.runs.size() < 2) throw Error("compare wants two runs or more: attnscope compare A B");
    if (o.runs.size() > kMostRuns)
        throw Error("at most " + std::to_string(kMostRuns) + " runs can be compared at once, not " +
                    std::to_string(o.runs.size()));
    if (o.output != "-") check_output_file(o.output);  // before the work, not after it
    std::vector<Analysis> analyses;
    for (const std::string& folder : o.runs) analyses.push_back(analyze(open_run(folder)));
    std::vector<Comparison> comparisons;
    bool something = false;
    for (size_t i = 1; i < analyses.size(); ++i) {
        comparisons.push_back(compare(analyses.front(), analyses[i], parse(o.pairs), name_of(i)));
        something = something || comparisons.back().nothing.empty();
    }
    if (!something) throw Error("nothing to compare: " + comparisons.front().nothing, Exit::cannot_judge);
    const Report report = build_report(comparisons, o.details || o.format != "text");
    TextOptions text = terminal_options(o.output == "-");
    text.details = true;  // the line-up is the answer
    put_out(o.output, render(report, o.format, text, {o.id, kCommentBudget, Severity::info}));
    return static_cast<int>(Exit::success);
}

}  // namespace

Action define_compare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("runs", options->runs,
                   "folders of runs: A, the earlier one or the prediction, and those to hold against it")
        ->type_name("A B [C...]")
        ->required();
    app.add_option(
        "--pair", options->pairs,
        "hold A's implementation against another one of B: sdpa_flash:sdpa_math (default: equal names)");
    app.add_option("--format", options->format, "text, md, html, json or comment (for a pull request)")
        ->check(CLI::IsMember({"text", "md", "html", "json", "comment"}))
        ->capture_default_str();
    app.add_option("-o,--output", options->output, "file to write; - is standard output")
        ->capture_default_str();
    app.add_option("--id", options->id, "of a comment: tells several on one pull request apart")
        ->capture_default_str();
    app.add_flag("--details", options->details, "text: also launches and figures that are the same");
    return [options] { return run(*options); };
}

}  // namespace attnscope::cli
