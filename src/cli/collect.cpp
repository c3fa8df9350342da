// attnscope collect [-o DIR] [--device D] -- CMD...
#include <memory>

#include "attnscope/gpu.h"
#include "attnscope/launch.h"
#include "command.h"

namespace attnscope::cli {

Action define_collect(CLI::App& app) {
    const auto request = std::make_shared<CollectRequest>();
    app.add_option("-o,--output", request->output, "the run's folder (default: attnscope-run-<time>)");
    app.add_option("--device", request->device,
                   "auto, real, or virtual:NAME[xN] with NAME one of " + known_gpus())
        ->capture_default_str();
    app.add_option("--uncomputed", request->uncomputed,
                   "virtual GPU: what a read of a result that was never computed gives (0x01, float:1, "
                   "int64:3); default zeros");
    app.add_flag("--force", request->replace, "replace an earlier run in the folder");
    app.add_option("command", request->command, "the program and its arguments, after --")
        ->required()
        ->type_name("CMD...");
    app.positionals_at_end();
    return [request] { return collect(*request).exit_code; };
}

}  // namespace attnscope::cli
