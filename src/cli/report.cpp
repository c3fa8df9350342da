#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "attnscope/analysis.h"
#include "attnscope/error.h"
#include "attnscope/explain.h"
#include "attnscope/import.h"
#include "attnscope/metrics.h"
#include "attnscope/names.h"
#include "attnscope/pattern.h"
#include "attnscope/render.h"
#include "attnscope/run.h"
#include "command.h"
#include "output.h"
#include "terminal.h"
#include "write_file.h"

namespace attnscope::cli {
namespace {

struct Options {
    std::string run, format, id = "report";
    std::vector<std::string> outputs;
    std::optional<std::string> kernel, finding;
    bool details = false;

    bool whole() const { return !kernel && !finding; }
};

/// As asked for, else as the output's name says, else text.
std::string format_of(const Options& o, const std::string& output) {
    if (!o.format.empty()) return o.format;
    const std::string extension = std::filesystem::path(output).extension().string();
    if (extension == ".md" || extension == ".html" || extension == ".json") return extension.substr(1);
    return "text";
}

TextOptions terminal(const Options& o, const std::string& output) {
    TextOptions text = terminal_options(output == "-");
    text.details = o.details || !o.whole();
    return text;
}

std::string listed(const std::vector<std::string>& names, size_t most) {
    std::string text;
    for (size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + printable(names[i]);
    if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
    return text;
}

Report kernels(const Analysis& analysis, const std::string& text) {
    const Pattern pattern(text);
    Report report = explain_kernels(analysis, [&](std::string_view name) { return pattern.found_in(name); });
    if (!report.sections.empty()) return report;
    const std::vector<std::string> names = kernel_names(analysis);
    throw Error("no kernel of this run matches --kernel \"" + printable(text) +
                "\": " + (names.empty() ? "it holds none" : "it has " + listed(names, 10)));
}

Report finding(const Analysis& analysis, const std::string& name) {
    if (std::optional<Report> report = explain_finding(analysis, name)) return std::move(*report);
    throw Error("no rule is called \"" + printable(name) + "\"; nearest are " +
                listed(nearest_names(name, rule_names()), 3));
}

Report asked_for(const Options& o) {
    const Analysis analysis = analyze(open_run(o.run));
    if (o.kernel) return kernels(analysis, *o.kernel);
    if (o.finding) return finding(analysis, *o.finding);
    return build_report(analysis);
}

int run(const Options& o) {
    // Mistakes are said before the work, not after it.
    for (const std::string& output : o.outputs)
        if (output != "-") check_output_file(output);
    if (o.outputs.size() > 1 && !o.format.empty())
        throw Error("--format is for one output; the names of several say which each is: -o r.html -o r.md");
    if (o.kernel) Pattern{*o.kernel};
    const Report report = asked_for(o);
    for (const std::string& output : o.outputs)
        put_out(output, render(report, format_of(o, output), terminal(o, output), {o.id}));
    return static_cast<int>(Exit::success);
}

}  // namespace

Action define_report(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("run", options->run, "the run's folder, or a file that `attnscope import` knows")
        ->required();
    app.add_option("--format", options->format,
                   "text, md, html, json or comment (for a pull request; default: by the output's name, else "
                   "text)")
        ->check(CLI::IsMember({"text", "md", "html", "json", "comment"}));
    app.add_option("-o,--output", options->outputs,
                   "file to write, - is standard output (default); several: each by its name")
        ->allow_extra_args(false);
    app.add_option("--id", options->id, "of a comment: tells several on one pull request apart")
        ->capture_default_str();
    app.add_flag("--details", options->details, "text: everything, not only the first findings");
    CLI::Option* kernel = app.add_option("--kernel", options->kernel,
                                         "only the kernels whose name matches this regular expression: what "
                                         "launched each, its geometry, resources, "
                                         "occupancy, instructions, counters, bounds and findings");
    app.add_option("--finding", options->finding,
                   "only what this rule found, with its evidence; where it is silent, when it speaks")
        ->excludes(kernel);
    return [options] {
        if (options->outputs.empty()) options->outputs = {"-"};
        return run(*options);
    };
}

}  // namespace attnscope::cli
