// attnscope_cupti_host: CUPTI's host side in a process of its own, for the launcher and `attnscope metrics`.
// Prints one JSON object on stdout; on failure {"error": "sentence"} and exit code 2. Needs no GPU and, but
// for `devices`, no driver.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/error.h"
#include "commands.h"

namespace attnscope::cupti_host {
namespace {

/// Options are taken out; what is left are the command and its operands.
Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        std::string* value = word == "--cupti"          ? &arguments.cupti
                             : word == "--matching"     ? &arguments.matching
                             : word == "--metrics-file" ? &arguments.metrics_file
                             : word == "--availability" ? &arguments.availability
                             : word == "--config"       ? &arguments.config
                             : word == "--out"          ? &arguments.out
                                                        : nullptr;
        if (word == "--submetrics")
            arguments.submetrics = true;
        else if (value == nullptr && word.starts_with("--"))
            throw Error("unknown option " + std::string(word));
        else if (value == nullptr)
            arguments.words.emplace_back(word);
        else if (i + 1 < argc)
            *value = argv[++i];
        else
            throw Error(std::string(word) + " needs a value");
    }
    if (arguments.words.empty() || arguments.cupti.empty())
        throw Error(
            "usage: attnscope_cupti_host --cupti FILE version | devices | chips | "
            "metrics CHIP [--matching WORD] [--submetrics] | unknown CHIP|all NAME... [--metrics-file F] | "
            "plan CHIP --metrics-file F [--availability F] [--config OUT] | plans --metrics-file F | "
            "evaluate DATA --out FILE");
    return arguments;
}

}  // namespace
}  // namespace attnscope::cupti_host

int main(int argc, char** argv) {
    using namespace attnscope::cupti_host;
    // What a library prints must not stand in the answer; nor may our own collector be loaded here.
    const int answer = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    unsetenv("CUDA_INJECTION64_PATH");
    Json json;
    int code = 0;
    try {
        json = run_command(parse(argc, argv));
    } catch (const std::exception& e) {
        json = {{"error", e.what()}};
        code = 2;
    }
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    for (size_t done = 0; done < text.size();) {
        const ssize_t n = write(answer, text.data() + done, text.size() - done);
        if (n <= 0) return 2;
        done += static_cast<size_t>(n);
    }
    // Not through the libraries' destructors: CUPTI's may wait for threads that a missing driver never gave.
    _exit(code);
}
