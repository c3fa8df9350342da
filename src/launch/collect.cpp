#include <cstdio>
#include <string>

#include "attnscope/launch.h"
#include "program.h"
#include "run_folder.h"
#include "spawn.h"
#include "surroundings.h"

namespace attnscope {
namespace {

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// stderr, so that the program's own output stays what it is.
void say(const std::string& line) {
    std::fprintf(stderr, "attnscope: %s\n", line.c_str());
}

void say_ground(const GroundChoice& ground, const std::string& device) {
    if (!ground.is_virtual) return say("real GPU " + listed(ground.device_names));
    say("virtual GPU " + listed(ground.device_names) + ": nothing is measured" +
        (device == "auto" ? " (this machine has no NVIDIA GPU; choose another with --device virtual:NAME)"
                          : ""));
}

}  // namespace

CollectResult collect(const CollectRequest& request) {
    if (request.command.empty())
        throw Error("no program was named: write it after --, as in attnscope collect -- python3 train.py");
    // Everything that can be refused is, before anything is written or said.
    const GroundChoice ground = choose_ground(request.device);
    const std::string program = launch::find_program(request.command[0]);
    const launch::Libraries libraries = launch::find_libraries(request.libraries, ground.is_virtual);
    launch::check_injection_variables(libraries.injection);
    if (ground.is_virtual) launch::check_for_virtual(program);

    launch::RunFolder folder(request, ground);
    say_ground(ground, request.device);
    std::fflush(nullptr);
    const launch::Ended ended = launch::run_program(
        program, request.command, launch::program_environment(request, ground, libraries, folder.path()));
    folder.finish(ended);

    CollectResult result{ended.exit_code, folder.path(), ground.is_virtual, folder.process_files()};
    if (result.process_files == 0)
        say("the program never initialised CUDA: the run in " + result.folder + " is empty");
    else if (!request.quiet)
        say("run written to " + result.folder + "; read it with: attnscope report " + result.folder);
    return result;
}

}  // namespace attnscope
