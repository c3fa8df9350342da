#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "attnscope/analysis.h"
#include "attnscope/error.h"
#include "attnscope/render.h"
#include "attnscope/run.h"
#include "command.h"
#include "terminal.h"
#include "write_file.h"

namespace attnscope::cli {
namespace {

struct Options {
    std::string run, format, output = "-";
    bool details = false;
};

/// As asked for, else as the output's name says, else text.
std::string format_of(const Options& o) {
    if (!o.format.empty()) return o.format;
    const std::string extension = std::filesystem::path(o.output).extension().string();
    if (extension == ".md" || extension == ".html" || extension == ".json") return extension.substr(1);
    return "text";
}

TextOptions terminal(const Options& o) {
    TextOptions text = terminal_options(o.output == "-");
    text.details = o.details;
    return text;
}

int run(const Options& o) {
    if (o.output != "-") check_output_file(o.output);  // before the work, not after it
    const Report report = build_report(analyze(read_run(o.run)));
    const std::string format = format_of(o);
    const std::string bytes = format == "md"     ? render_markdown(report)
                              : format == "html" ? render_html(report)
                              : format == "json" ? render_json(report)
                                                 : render_text(report, terminal(o));
    if (o.output != "-") {
        write_file(o.output, bytes);
        return static_cast<int>(Exit::success);
    }
    std::cout << bytes << std::flush;
    if (!std::cout) throw Error("standard output cannot be written to: is the disk full?");
    return static_cast<int>(Exit::success);
}

}  // namespace

Action define_report(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("run", options->run, "the run's folder")->required();
    app.add_option("--format", options->format,
                   "text, md, html or json (default: by the output's name, else text)")
        ->check(CLI::IsMember({"text", "md", "html", "json"}));
    app.add_option("-o,--output", options->output, "file to write; - is standard output")
        ->capture_default_str();
    app.add_flag("--details", options->details, "text: everything, not only the first findings");
    return [options] { return run(*options); };
}

}  // namespace attnscope::cli
