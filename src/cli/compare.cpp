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
    std::string a, b, format = "text", output = "-";
    std::vector<std::string> pairs;
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

int run(const Options& o) {
    if (o.output != "-") check_output_file(o.output);  // before the work, not after it
    const Analysis a = analyze(open_run(o.a)), b = analyze(open_run(o.b));
    const Comparison comparison = compare(a, b, parse(o.pairs));
    if (!comparison.nothing.empty())
        throw Error("nothing to compare: " + comparison.nothing, Exit::cannot_judge);
    const Report report = build_report(comparison, o.details || o.format != "text");
    TextOptions text = terminal_options(o.output == "-");
    text.details = true;  // the line-up is the answer
    put_out(o.output, render(report, o.format, text));
    return static_cast<int>(Exit::success);
}

}  // namespace

Action define_compare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("a", options->a, "a run's folder: the earlier one, or the prediction")->required();
    app.add_option("b", options->b, "a run's folder: the later one, or the measurement")->required();
    app.add_option(
        "--pair", options->pairs,
        "hold A's implementation against another one of B: sdpa_flash:sdpa_math (default: equal names)");
    app.add_option("--format", options->format, "text, md, html or json")
        ->check(CLI::IsMember({"text", "md", "html", "json"}))
        ->capture_default_str();
    app.add_option("-o,--output", options->output, "file to write; - is standard output")
        ->capture_default_str();
    app.add_flag("--details", options->details, "text: also launches and figures that are the same");
    return [options] { return run(*options); };
}

}  // namespace attnscope::cli
