#pragma once
// A subcommand: one file, one line in the table of main.cpp.
#include <CLI/CLI.hpp>
#include <functional>

namespace attnscope::cli {

/// Declares the options on `app` and returns what to run once they are parsed; its result is the exit code.
using Action = std::function<int()>;

struct Command {
    const char* name;
    const char* summary;  ///< one line for `attnscope --help`
    const char* example;  ///< one command that runs as printed
    Action (*define)(CLI::App& app);
};

Action define_kernels(CLI::App& app);
Action define_metrics(CLI::App& app);
Action define_collect(CLI::App& app);
Action define_report(CLI::App& app);
Action define_attention(CLI::App& app);
Action define_compare(CLI::App& app);
Action define_doctor(CLI::App& app);
Action define_gate(CLI::App& app);
Action define_import(CLI::App& app);

}  // namespace attnscope::cli
