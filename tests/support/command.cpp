#include "command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace attnscope::test {
namespace {

std::string build_folder() {
    const char* folder = std::getenv("ATTNSCOPE_BINARY_DIR");
    return std::filesystem::absolute(folder ? folder : ".").string();
}

/// Both pipes are drained together: a program that fills one while we read the other would hang.
void drain(std::array<int, 2> pipes, std::array<std::string*, 2> texts) {
    std::array<pollfd, 2> waiting{pollfd{pipes[0], POLLIN, 0}, pollfd{pipes[1], POLLIN, 0}};
    std::array<char, 65536> buffer;
    for (int open = 2; open > 0;) {
        poll(waiting.data(), waiting.size(), -1);
        for (size_t i = 0; i < waiting.size(); ++i) {
            if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
            const ssize_t got = read(waiting[i].fd, buffer.data(), buffer.size());
            if (got > 0) {
                texts[i]->append(buffer.data(), static_cast<size_t>(got));
            } else {
                close(waiting[i].fd);
                waiting[i].fd = -1;
                --open;
            }
        }
    }
}

[[noreturn]] void child(const std::vector<std::string>& command,
                        const std::map<std::string, std::string>& environment, const std::string& folder,
                        int out, int err) {
    if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    for (const auto& [name, value] : environment)
        value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
}

}  // namespace

Outcome run_program(const std::vector<std::string>& command,
                    const std::map<std::string, std::string>& environment, const std::string& folder) {
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    const pid_t pid = fork();
    if (pid == 0) child(command, environment, folder, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    Outcome outcome;
    drain({out[0], err[0]}, {&outcome.out, &outcome.err});
    int status = 0;
    waitpid(pid, &status, 0);
    outcome.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return outcome;
}

std::string binary(const std::string& name) {
    return build_folder() + "/bin/" + name;
}

Outcome attnscope(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment) {
    std::vector<std::string> command{binary("attnscope")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_program(command, environment);
}

Outcome typed(const std::string& arguments, const std::map<std::string, std::string>& environment,
              const std::string& folder) {
    // The shell is told the program's name as "$0": it needs no quotes whatever the folder is called.
    return run_program({"/bin/sh", "-c", "exec \"$0\" " + arguments, binary("attnscope")}, environment,
                       folder);
}

Scratch::Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attnscope-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp failed for " + pattern);
    path_ = pattern;
}

Scratch::~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace attnscope::test
