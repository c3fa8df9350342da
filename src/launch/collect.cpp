#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "attnscope/launch.h"
#include "clocks.h"
#include "counter_setup.h"
#include "counter_values.h"
#include "kernel_code.h"
#include "program.h"
#include "progress.h"
#include "run_folder.h"
#include "say.h"
#include "spawn.h"
#include "surroundings.h"

namespace attnscope {
namespace {

using launch::say;

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

void say_ground(const GroundChoice& ground, const std::string& device) {
    if (!ground.is_virtual) return say("real GPU " + listed(ground.device_names));
    say("virtual GPU " + listed(ground.device_names) + ": nothing is measured" +
        (device == "auto" ? " (this machine has no NVIDIA GPU; choose another with --device virtual:NAME)"
                          : ""));
}

/// NVML of a real GPU. A virtual run holds no clocks of a GPU that it does not use; ATTNSCOPE_NVML is for
/// tests.
std::string nvml_file(const GroundChoice& ground) {
    if (const char* file = std::getenv("ATTNSCOPE_NVML")) return file;
    return ground.is_virtual ? "" : "libnvidia-ml.so.1";
}

/// One request, from the checked question to the run.
class Launcher {
  public:
    Launcher(const CollectRequest& request, const GroundChoice& ground, std::string program,
             const launch::Libraries& libraries, launch::CounterSetup& counters)
        : request_(request),
          ground_(ground),
          program_(std::move(program)),
          libraries_(libraries),
          counters_(counters),
          tool_(launch::helper_program(request.libraries)),
          folder_(request, ground, counters) {}

    CollectResult run() {
        say_ground(ground_, request_.device);
        for (const std::string& line : counters_.lines) say(line);
        const bool twice = counters_.on && request_.timing == "separate";
        if (twice)
            say("the program runs twice: first for counters, then undisturbed, for time");
        else if (counters_.on && (!ground_.is_virtual || counters_.fixture))
            say_no_time();
        const off_t input = lseek(0, 0, SEEK_CUR);
        launch::ClockSampler clocks(folder_.path() + "/clocks.jsonl", nvml_file(ground_));
        const launch::Ended first = counters_.on ? run_with_counters(twice) : run_once(false, false);
        if (twice && worth_again(first)) {
            if (input >= 0) lseek(0, input, SEEK_SET);  // a file: the second run reads the same
            say("second run: undisturbed, for time");
            run_again();
        }
        for (Diagnostic& d : clocks.stop()) launch::add_diagnostic(counters_.diagnostics, std::move(d));
        finish();
        return {folder_.result().exit_code, folder_.path(), ground_.is_virtual, folder_.process_files()};
    }

  private:
    void say_no_time() const {
        say(std::string(counters_.range == "kernel"
                            ? "kernels run one at a time under counters, which is not the program's time"
                            : "a run with counters holds no times of its kernels") +
            ": --timing separate runs the program a second time, undisturbed, for that");
    }

    launch::Ended run_with_counters(bool twice) {
        launch::ConfigServer server(folder_.path() + "/counters", launch::config_maker(counters_, tool_));
        const launch::Ended ended = run_once(true, twice && request_.output_once);
        server.close();
        for (const Diagnostic& d : server.diagnostics()) launch::add_diagnostic(counters_.diagnostics, d);
        return ended;
    }

    launch::Ended run_once(bool with_counters, bool drop_output) {
        folder_.begin(with_counters ? "counters" : "activity");
        folder_.write(counters_.diagnostics);
        std::fflush(nullptr);
        const auto environment = launch::program_environment(
            request_, ground_, libraries_, folder_.path(),
            with_counters ? counters_.environment() : std::vector<std::pair<std::string, std::string>>());
        const launch::Ended ended = watched(with_counters, [&] {
            return launch::run_program(program_, request_.command, environment, drop_output);
        });
        folder_.ended(ended);
        return ended;
    }

    /// Only where the program is one of ours: a stranger's output stays as it is.
    launch::Ended watched(bool with_counters, const std::function<launch::Ended()>& run_program) {
        if (!request_.quiet) return run_program();
        size_t passes = 0;
        for (const launch::ChipPlan& chip : counters_.chips) passes = std::max(passes, chip.passes);
        const launch::Progress progress(folder_.path(), first_kernels_, with_counters ? passes : 0);
        const launch::Ended ended = run_program();
        first_kernels_ = progress.kernels();
        return ended;
    }

    /// What the first run collected is kept, whatever becomes of the second.
    void run_again() {
        try {
            run_once(false, false);
        } catch (const Error& e) {
            say(e.what());
            folder_.ended({static_cast<int>(e.exit())});
        }
    }

    bool worth_again(const launch::Ended& first) const {
        const bool stopped = first.interrupted || first.signal == SIGINT || first.signal == SIGTERM ||
                             first.signal == SIGHUP || first.signal == SIGQUIT || first.signal == SIGKILL;
        if (stopped) {
            say("the program was stopped, so it is not run a second time: this run has no undisturbed time");
            return false;
        }
        if (folder_.process_files() == 0) return false;  // nothing to measure; said at the end
        if (first.exit_code != 0)
            say("the first run ended with exit code " + std::to_string(first.exit_code) +
                (first.signal != 0 ? " (signal " + std::to_string(first.signal) + ")" : ""));
        return true;
    }

    void finish() {
        // Before what follows: whatever becomes of that, the run has ended.
        std::string fault = folder_.write(counters_.diagnostics);
        if (fault.empty()) {
            for (Diagnostic& d : launch::write_kernel_code(folder_.path()))
                launch::add_diagnostic(counters_.diagnostics, std::move(d));
            fault = folder_.write(counters_.diagnostics);
        }
        if (counters_.on && fault.empty()) {
            const launch::Evaluation values = launch::evaluate_counters(folder_.path(), tool_);
            for (const Diagnostic& d : values.diagnostics) {
                say(d.message + "; try again with: " + d.remedy);
                launch::add_diagnostic(counters_.diagnostics, d);
            }
            fault = folder_.write(counters_.diagnostics);
        }
        struct stat info {};
        if (stat(folder_.path().c_str(), &info) != 0)
            say("the run's folder " + folder_.path() + " was removed while the program ran: there is no run");
        else if (!fault.empty())
            say("the run in " + folder_.path() + " is not whole: its run.json could not be written (" +
                fault + ")");
        else if (folder_.process_files() == 0)
            say("the program never initialised CUDA: the run in " + folder_.path() + " is empty");
        else if (!request_.quiet)
            say("run written to " + folder_.path() + "; read it with: attnscope report " + folder_.path());
    }

    const CollectRequest& request_;
    const GroundChoice& ground_;
    const std::string program_;
    const launch::Libraries& libraries_;
    launch::CounterSetup& counters_;
    const std::string tool_;
    launch::RunFolder folder_;
    std::optional<uint64_t>
        first_kernels_;  ///< what the program's run before launched, where somebody watches
};

}  // namespace

CollectResult collect(const CollectRequest& request) {
    if (request.command.empty())
        throw Error("no program was named: write it after --, as in attnscope collect -- python3 train.py");
    // Everything that can be refused is, before anything is written or said.
    const GroundChoice ground = choose_ground(request.device);
    std::string program = launch::find_program(request.command[0]);
    const launch::Libraries libraries = launch::find_libraries(request.libraries, ground.is_virtual);
    launch::check_injection_variables(libraries.injection);
    if (ground.is_virtual) launch::check_for_virtual(program);
    launch::CounterSetup counters = launch::set_up_counters(request, ground);
    return Launcher(request, ground, std::move(program), libraries, counters).run();
}

}  // namespace attnscope
