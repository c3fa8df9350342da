// attnscope attention: the main job. Collects the attention workload and writes the report beside the run.
#include <stdlib.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "attention/options.h"
#include "attnscope/analysis.h"
#include "attnscope/error.h"
#include "attnscope/gpu.h"
#include "attnscope/launch.h"
#include "attnscope/render.h"
#include "command.h"
#include "counter_options.h"
#include "terminal.h"
#include "why.h"
#include "write_file.h"

namespace fs = std::filesystem;

namespace attnscope::cli {
namespace {

struct Options {
    AttentionProblem problem;
    CollectRequest request;
    std::string output = "attnscope-out", python, format = "text";
    bool why = false;
};

/// <prefix>/bin/attnscope -> <prefix>
fs::path prefix() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) throw Error("cannot read /proc/self/exe: is /proc mounted?", Exit::internal);
    return self.parent_path().parent_path();
}

std::vector<std::string> workload(const Options& o) {
    const fs::path program =
        o.python.empty() ? prefix() / "bin/attention_workload" : prefix() / "share/attnscope/attention.py";
    if (!fs::exists(program))
        throw Error(
            program.string() +
                " is missing: build it with CMake (examples/demo.sh does), which needs LibTorch 2.11, or " +
                "use the Python workload with --python python3",
            Exit::not_started);
    std::vector<std::string> command;
    if (!o.python.empty()) command.push_back(o.python);
    command.push_back(program.string());
    for (std::string& argument : to_arguments(o.problem)) command.push_back(std::move(argument));
    return command;
}

void write_reports(const Report& report, const fs::path& folder) {
    write_file((folder / "report.md").string(), render_markdown(report));
    write_file((folder / "report.html").string(), render_html(report));
    write_file((folder / "report.json").string(), render_json(report));
}

/// Only the question which backend LibTorch chooses: nothing is computed and nothing stays behind.
int why(Options& o) {
    o.problem.choice_only = true;
    complete(o.problem);
    std::string folder = (fs::temp_directory_path() / "attnscope-why-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr)
        throw Error("cannot make a folder in " + fs::temp_directory_path().string(), Exit::internal);
    struct Remove {
        std::string path;
        ~Remove() {
            std::error_code ignored;
            fs::remove_all(path, ignored);
        }
    } const remove{folder};
    CollectRequest& request = o.request;
    request.command = workload(o);
    request.output = folder + "/run";
    request.counters = "none";
    request.timing = "same";
    request.quiet = true;
    const CollectResult collected = collect(request);
    if (collected.process_files == 0) return collected.exit_code;
    const nlohmann::json answer = why_json(read_run(collected.folder));
    std::cout << (o.format == "json" ? answer.dump(2) + '\n' : why_text(answer, terminal_options(true).width))
              << std::flush;
    return collected.exit_code;
}

int run(Options& o) {
    if (o.why) return why(o);
    complete(o.problem);
    CollectRequest& request = o.request;
    request.command = workload(o);
    request.output = (fs::path(o.output) / "run").string();
    request.output_once = true;
    request.replace = true;  // the same command again is the same experiment again
    request.quiet = true;
    const CollectResult collected = collect(request);
    if (collected.process_files == 0) {
        std::cerr
            << "attnscope: no report: the workload ended before it used CUDA; its own words are above\n";
        return collected.exit_code;
    }
    const Report report = build_report(analyze(read_run(collected.folder)));
    write_reports(report, o.output);
    std::cout << '\n'
              << render_text(report, terminal_options(true)) << "\nThe whole report: " << o.output
              << "/report.html, " << o.output << "/report.md, " << o.output
              << "/report.json; the run: " << o.output << "/run\n"
              << std::flush;
    return collected.exit_code;
}

}  // namespace

Action define_attention(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("-o,--output", options->output, "folder for the run and the reports")
        ->capture_default_str();
    app.add_option("--device", options->request.device,
                   "auto, real, or virtual:NAME[xN] with NAME one of " + known_gpus())
        ->capture_default_str();
    app.add_option("--python", options->python,
                   "run the Python workload with this interpreter's torch instead of the C++ one");
    app.add_option("--uncomputed", options->request.uncomputed,
                   "virtual GPU: what a read of a result that was never computed gives");
    app.add_flag("--why", options->why,
                 "only ask LibTorch which backend it chooses, and why not the others; computes nothing");
    app.add_option("--format", options->format, "of --why: text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    options->request.counters = "auto";
    options->request.timing = "separate";
    declare_counters(app, options->request, "core on a real GPU, none on a virtual one");
    declare(app, options->problem);
    return [options, &app] {
        check_counters(app, options->request);
        return run(*options);
    };
}

}  // namespace attnscope::cli
