// attnscope doctor [--for counters|records|prediction] [--format text|json] [--run PROGRAM]
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "attnscope/doctor.h"
#include "attnscope/error.h"
#include "command.h"
#include "output.h"
#include "terminal.h"

namespace attnscope::cli {
namespace {

struct Options {
    std::string wanted, format = "text";
    std::string program;
    std::vector<std::string> rest;
};

int run(const Options& o) {
    static const std::map<std::string, doctor::Use> kUses = {{"counters", doctor::Use::counters},
                                                             {"records", doctor::Use::records},
                                                             {"prediction", doctor::Use::prediction}};
    if (o.program.empty() && !o.rest.empty())
        throw Error("doctor: unexpected '" + o.rest.front() +
                    "'; name the program to collect from with --run");
    doctor::Request request;
    if (!o.wanted.empty()) request.wanted = kUses.at(o.wanted);
    if (!o.program.empty()) request.program = {o.program};
    const doctor::Diagnosis diagnosis = doctor::diagnose(request);
    std::cout << (o.format == "json" ? doctor::render_json(diagnosis)
                                     : doctor::render_text(diagnosis, terminal_options(true).width));
    flush_output();
    return static_cast<int>(diagnosis.usable_as_wanted() ? Exit::success : Exit::cannot_judge);
}

}  // namespace

Action define_doctor(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option(
           "--for", options->wanted,
           "what the machine shall be usable for: counters, records (kernel records of a real GPU) or "
           "prediction; default: counters where an NVIDIA device is present, else prediction. Exit code 3 "
           "when it is not")
        ->check(CLI::IsMember({"counters", "records", "prediction"}));
    app.add_option("--format", options->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    app.add_option("--run", options->program, "the program to collect from, looked at but not run")
        ->type_name("PROGRAM");
    app.add_option("rest", options->rest)->group("");  // the program's own arguments
    return [options] { return run(*options); };
}

}  // namespace attnscope::cli
